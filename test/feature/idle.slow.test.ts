/** A gateway whose features are off evaluates their declarations and the modules that decide whether they are on, and nothing else. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../helpers/documents.ts";
import { environmentIn } from "../helpers/environment.ts";

const folder = mkdtempSync(join(tmpdir(), "weir-idle-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Starts a gateway, calls it, and prints the modules of features that were evaluated. */
const SCRIPT = `
import { loadConfig } from "${ROOT}/src/config/load.ts";
import { startWeir } from "${ROOT}/src/run/weir.ts";
import { OWN_COLUMNS, OWN_PLUGINS, SECTIONS, WORKERS } from "${ROOT}/test/helpers/features.ts";
const { config } = loadConfig({ flags: { "--port": "0" }, env: {}, cwd: "${folder}", sections: SECTIONS });
const own = { columns: OWN_COLUMNS, ownPlugins: OWN_PLUGINS, workers: WORKERS };
const weir = await startWeir({ config, env: {}, write: () => {}, ...own });
const body = JSON.stringify({ model: "mock/echo", messages: [{ role: "user", content: "hi" }] });
const headers = { "content-type": "application/json" };
const answer = await fetch(weir.url + "/v1/chat/completions", { method: "POST", headers, body });
if (answer.status !== 200) throw new Error(await answer.text());
await weir.stop();
console.log(JSON.stringify(Object.keys(require.cache).filter((path) => path.includes("/src/features/"))));
process.exit(0);
`;

/** Declarations, and what a part says of a config. */
const MAY =
  /\/(index|section|faults|columns|headers|metrics|key-options|declarations|errors|flags|worker|plugin)\.ts$/;

/** Capture on demand is on by default: workers hold its rules, so that the first one is in force at once. */
const HELD = /\/capture\/(run-rules|rules|tables)\.ts$/;

/** Batches are on by default: workers time the calls of clients, so that the first batch knows how fast providers usually are. */
const TIMED = /\/batches\/run\/traffic\.ts$/;

test("features that are off have no code in a gateway that serves", async () => {
  const file = join(folder, "idle.ts");
  writeFileSync(file, SCRIPT);
  const child = Bun.spawn([process.execPath, file], {
    ...{ cwd: ROOT, stdin: "ignore", stdout: "pipe", stderr: "pipe" },
    env: environmentIn(folder),
  });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(err);
  const evaluated = JSON.parse(out.trim().split("\n").at(-1)!) as string[];
  expect(evaluated.some((path) => path.endsWith("/paid-once/worker.ts"))).toBe(true);
  expect(evaluated.filter((path) => ![MAY, HELD, TIMED].some((known) => known.test(path)))).toEqual([]);
}, 60_000);
