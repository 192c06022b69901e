/** A name that is given to a key of the config and to a key of the store. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TARGET } from "../helpers/gateway.ts";
import { serve, type Serving } from "../helpers/serving.ts";

setDefaultTimeout(60_000);

const FREE = "log: {format: json}\n";
const TWICE = `${FREE}keys:\n  - {name: bob, key: key-of-the-config-0001}\n  - name: alice\n    key: key-of-the-config-0002\n`;
const REFUSAL =
  /weir\.yaml:4: the name "alice" belongs to a key of the store \(key_\w+\) already; choose another one, or revoke that key/;

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

async function start(state: string, workers: number, config: string): Promise<Serving> {
  const serving = await serve({ config, workers, binary: TARGET === "binary", env: { WEIR_STATE: state } });
  cleanups.push(() => serving.end());
  return serving;
}

const statusOf = async ({ url }: Serving, key: string) =>
  (await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}`, connection: "close" } }))
    .status;

test.each([[1], [2]])(
  "refuses the reload and then the start with file and line, %d workers",
  async (workers) => {
    const state = mkdtempSync(join(tmpdir(), "weir-names-"));
    cleanups.push(() => rmSync(state, { recursive: true, force: true }));
    const weir = await start(state, workers, FREE);
    const { output } = weir.run("keys", "create", "alice", "--json");
    const { secret } = JSON.parse(output.slice(0, output.lastIndexOf("}") + 1)) as { secret: string };
    weir.configure(TWICE);
    const reload = weir.run("reload");
    expect(reload.code).toBe(1);
    expect(reload.output).toContain("the previous configuration is still active");
    expect(reload.output).toMatch(REFUSAL);
    // The running gateway goes on as it was.
    expect(await statusOf(weir, secret)).toBe(200);
    expect(await statusOf(weir, "key-of-the-config-0001")).toBe(401);
    weir.signal("SIGTERM");
    expect(await weir.exited).toBe(0);

    const refused = await start(state, workers, TWICE).catch((error: Error) => error.message);
    expect(refused).toMatch(REFUSAL);
    expect(refused).toContain("exit code 78");

    const renamed = await start(state, workers, TWICE.replace("name: alice", "name: carol"));
    expect(await statusOf(renamed, secret)).toBe(200);
    expect(await statusOf(renamed, "key-of-the-config-0002")).toBe(200);
    // A revoked key gives its name up.
    expect(renamed.run("keys", "revoke", "alice").code).toBe(0);
    renamed.configure(TWICE);
    expect(renamed.run("reload")).toMatchObject({ code: 0 });
    expect(await statusOf(renamed, secret)).toBe(401);
  },
);
