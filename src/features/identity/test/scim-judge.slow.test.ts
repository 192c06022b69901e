/** SCIM as scim2-tester judges it: `scim2-tester==0.5.2` in the `venv` of the folder that `WEIR_PROVIDERS` names. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { ScimGateway, TOKEN } from "./support/scim.ts";

setDefaultTimeout(120_000);

const VENV = join(process.env["WEIR_PROVIDERS"] ?? "/nowhere", "venv");
const isThere =
  existsSync(VENV) && [...new Glob("lib/python*/site-packages/scim2_tester/*.py").scanSync(VENV)].length > 0;

const JUDGE = `
import json, sys
from httpx2 import Client
from scim2_client.engines.httpx2 import SyncSCIMClient
from scim2_tester import check_server
client = Client(base_url=sys.argv[1] + "/scim/v2", headers={"Authorization": "Bearer " + sys.argv[2]})
print(json.dumps([[r.status.name, r.title, str(r.reason)] for r in check_server(SyncSCIMClient(client))]))
`;

test.skipIf(!isThere)("scim2-tester finds nothing to object to", async () => {
  const on = await ScimGateway.start(2);
  try {
    const ran = Bun.spawn([join(VENV, "bin/python"), "-c", JUDGE, on.admin, TOKEN], { stderr: "inherit" });
    const results = JSON.parse(await new Response(ran.stdout).text()) as [string, string, string][];
    const of = (status: string) => results.filter(([one]) => one === status);
    expect(of("SUCCESS").length).toBeGreaterThan(120);
    // weir does not search users and groups at once.
    expect(of("SKIPPED").map(([, title]) => title)).toEqual([
      "search_with_attributes",
      "search_with_attributes",
    ]);
    expect(results.length).toBe(of("SUCCESS").length + of("SKIPPED").length);
  } finally {
    await on.end();
  }
});
