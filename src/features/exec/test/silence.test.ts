/** `weir exec` says so when its client has sent nothing. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../../../../test/helpers/command.ts";
import { TARGET } from "../../../../test/helpers/gateway.ts";
import { serve } from "../../../../test/helpers/serving.ts";

setDefaultTimeout(120_000);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-silence-"));
  writeFileSync(join(folder, "silent.ts"), "process.exit(3);");
  writeFileSync(
    join(folder, "asking.ts"),
    `const body = JSON.stringify({ model: "mock/chat", messages: [{ role: "user", content: "Hello" }] });
const headers = { authorization: "Bearer " + process.env["OPENAI_API_KEY"], "content-type": "application/json" };
console.log((await fetch(process.env["OPENAI_BASE_URL"] + "/chat/completions", { method: "POST", headers, body })).status);`,
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const exec = (script: string, cwd = folder) =>
  runCommand(["exec", "--", process.execPath, join(folder, script)], { cwd });

const SILENT =
  /weir: no request of \S+ reached weir, so it asked another address or none; start weir and write the base URL (\S+)\/v1 /;

test("a client that asks elsewhere is told so at its end, and keeps its exit code", async () => {
  const { code, err } = await exec("silent.ts");
  expect([code, SILENT.exec(err)?.[1]]).toEqual([3, "http://127.0.0.1:9347"]);
});

test("a client that asks gets no such sentence", async () => {
  const { out, err } = await exec("asking.ts");
  expect([out, SILENT.test(err)]).toEqual(["200\n", false]);
});

test("the same on a gateway that runs already, with keys and without", async () => {
  for (const config of ["{}", "keys: [{name: alice, key: alice-alice-alice}]"]) {
    const gateway = await serve({ config, workers: 1, binary: TARGET === "binary" });
    try {
      const silent = await exec("silent.ts", gateway.folder);
      expect([silent.code, SILENT.exec(silent.err)?.[1]]).toEqual([3, gateway.url]);
      const asking = await exec("asking.ts", gateway.folder);
      expect([asking.out, SILENT.test(asking.err)]).toEqual(["200\n", false]);
    } finally {
      await gateway.end();
    }
  }
});
