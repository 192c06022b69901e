/** The goals of the suite without a measurement, for the table in README.md of this folder. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Goal } from "./goals.ts";

const ROOT = resolve(import.meta.dir, "../..");

/** A name that no test has: the files are loaded, which declares their goals, and nothing runs. */
const NO_TEST = "^no test has this name$";

/** @returns the goals in the order of their numbers @throws Error when the suite declares none */
export async function listGoals(): Promise<Goal[]> {
  const folder = mkdtempSync(join(tmpdir(), "weir-goals-"));
  const file = join(folder, "goals.jsonl");
  try {
    await Bun.write(file, "");
    const suite = Bun.spawn([process.execPath, "test", "test/faults", "-t", NO_TEST], {
      cwd: ROOT,
      // Thresholds are those of `bun run faults`.
      env: { ...process.env, WEIR_GOALS: "list", WEIR_GOAL_LIST: file },
      stdout: "ignore",
      stderr: "pipe",
    });
    const [output] = await Promise.all([new Response(suite.stderr).text(), suite.exited]);
    const goals = readGoals<Goal>(file);
    if (goals.length === 0) throw new Error(`The suite declares no goals:\n${output}`);
    return goals;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The rows of a file of JSON lines, in the order of their numbers. */
export function readGoals<Row extends Goal>(file: string): Row[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Row)
    .sort((a, b) => a.goal - b.goal || a.what.localeCompare(b.what));
}
