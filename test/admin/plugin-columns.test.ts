/** A column of a dropped plugin: from a call to the store, and from there to the admin API, `weir logs` and CSV. */
import { expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { callsCsv } from "../../src/cli/books/calls-csv.ts";
import { describeCall } from "../../src/cli/books/logs.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { CallEntry, Calls } from "../../src/operator/index.ts";
import { startWeir } from "../../src/run/weir.ts";
import { makeFolder } from "../helpers/gateway.ts";
import { ask, until } from "../helpers/serving.ts";

const PLUGIN = `import { defineColumn, definePlugin } from "weir";
const size = defineColumn({ name: "size", schema: { type: "integer" } });
const team = defineColumn({ name: "team", schema: { type: "string" } });
export default definePlugin({
  name: "counts",
  columns: [size, team],
  hooks: { admit(call) { size.set(call, 7); team.set(call, "red, blue"); } },
});`;

test("the store keeps the columns of plugins, and the admin API, weir logs and CSV show them", async () => {
  const folder = await makeFolder({ plugins: { "counts.js": PLUGIN } });
  const { config } = loadConfig({ flags: { "--port": "0" }, env: {}, cwd: folder });
  const weir = await startWeir({
    config,
    env: {},
    write: () => {},
    adminCredential: "credential-of-the-run",
  });
  try {
    await weir.books();
    const { admin } = weir;
    if (!admin || !("url" in admin)) throw new Error("the admin API is off");
    const headers = { authorization: "Bearer credential-of-the-run" };
    const read = async (path: string): Promise<unknown> =>
      (await fetch(`${admin.url}/admin/v1${path}`, { headers })).json();
    expect((await ask(weir.url, "mock/echo")).status).toBe(200);
    const page = async () => (await read("/calls?facts=true")) as Calls;
    expect(await until(async () => (await page()).calls.length === 1)).toBe(true);
    const { calls, columns } = await page();
    expect(columns).toContain("plugins");
    const call = (await read(`/calls/${calls[0]!.id}`)) as CallEntry & { plugins?: unknown };
    expect(call.plugins).toEqual({ "counts.size": 7, "counts.team": "red, blue" });
    const text = "counts.size 7, counts.team red, blue";
    expect(call.facts).toEqual([{ name: "plugins", label: "Plugins", text }]);
    expect(describeCall(call)).toMatch(/^plugins +counts\.size 7, counts\.team red, blue$/m);
    expect(callsCsv(await page())).toContain(`"${text}"`);
  } finally {
    await weir.stop();
    await rm(folder, { recursive: true });
  }
}, 60_000);
