/**
 * `bun run faults`: runs the suite against the compiled binary and prints every goal beside what was measured.
 * Exits with 1 when a goal does not hold, or has no row.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { buildBinary } from "./armour.ts";
import type { GoalRow } from "./goals.ts";
import { readGoals } from "./list.ts";

const ROOT = resolve(import.meta.dir, "../..");
/** The goals of this suite; the others are about ledgers and stores, which weir does not have. */
const WANTED = [1, 4, 5, 6, ...range(8, 34), ...range(43, 57), 72, 81];

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, at) => first + at);
}

buildBinary();
const folder = mkdtempSync(join(tmpdir(), "weir-goals-"));
const file = join(folder, "rows.jsonl");
await Bun.write(file, "");
const suite = Bun.spawn([process.execPath, "test", "test/faults", "--timeout", "600000"], {
  cwd: ROOT,
  env: { ...process.env, WEIR_GOALS: file },
  stdout: "ignore",
  stderr: "pipe",
});
const [output, code] = await Promise.all([new Response(suite.stderr).text(), suite.exited]);
const rows = readGoals<GoalRow>(file);
rmSync(folder, { recursive: true, force: true });

console.log("goal  holds  what | wanted | measured");
const verdictOf = ({ holds, inTime = true, short }: GoalRow) =>
  !holds ? "NO" : !inTime ? "late" : short ? "short" : "yes";
for (const row of rows) {
  const { goal, what, threshold, measured, short } = row;
  console.log(
    `${String(goal).padStart(4)}  ${verdictOf(row).padEnd(5)}  ${what} | ${threshold} | ${measured}${short ? ` (${short})` : ""}`,
  );
}
await Bun.write(join(ROOT, "dist/goals.json"), `${JSON.stringify(rows, null, 2)}\n`);

const missing = WANTED.filter((wanted) => !rows.some(({ goal }) => goal === wanted));
if (missing.length > 0) console.log(`\nNothing was measured for: ${missing.join(", ")}.`);
const broken = rows.filter(({ holds, inTime = true }) => !holds || !inTime);
console.log(
  `\n${rows.length} rows, ${broken.length} that do not hold, ${missing.length} goals without a row.`,
);
if (code !== 0)
  console.log(
    output
      .split("\n")
      .filter((line) => line.startsWith("(fail)") || /error:/.test(line))
      .join("\n"),
  );
process.exit(code === 0 && missing.length === 0 ? 0 : 1);
