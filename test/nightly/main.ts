/**
 * `bun run nightly`: everything that takes too long for a push, one run after the other, and one table of what they found, in the
 * terminal and in `dist/nightly/nightly.md`. `--only NAME,NAME` chooses runs, `--list` shows them. Exits with 1 if one failed.
 */
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { runNightly, writeTable } from "./nightly.ts";
import { RUNS } from "./runs.ts";

const ROOT = resolve(import.meta.dir, "../..");

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: { only: { type: "string" }, list: { type: "boolean", default: false } },
});
const names = values.only?.split(",") ?? RUNS.map(({ name }) => name);
const unknown = names.filter((name) => !RUNS.some((run) => run.name === name));
if (unknown.length > 0) {
  console.error(`There is no run ${unknown.join(", ")}; --list shows them.`);
  process.exit(2);
}
const runs = RUNS.filter(({ name }) => names.includes(name));
if (values.list) {
  for (const { name, about } of runs) console.log(`${name.padEnd(12)}  ${about}`);
  process.exit(0);
}
const folder = join(ROOT, "dist/nightly");
const rows = await runNightly(runs, { root: ROOT, folder, say: (line) => console.log(line) });
console.log(`\n${writeTable(rows)}`);
const count = (verdict: string) => rows.filter((row) => row.verdict === verdict).length;
console.log(
  `${count("passed")} passed, ${count("FAILED")} failed, ${count("not run")} not run; logs in ${folder}`,
);
process.exit(count("FAILED") > 0 ? 1 : 0);
