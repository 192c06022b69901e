/** Runs `weir drill` for tests, from source or as the binary. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../../../../test/helpers/command.ts";

/** The members of a result that tests read. */
export interface Result {
  fault: string;
  verdict: string;
  reason: string;
  requests: { faulty: boolean; at: number }[];
}

/** A program of the folder `clients`, as a command. */
export function clientCommand(name: string): string[] {
  return [process.execPath, join(import.meta.dir, "clients", `${name}.ts`)];
}

/** Runs `weir drill --json` in an empty folder. @returns the exit code and the results by the name of their fault */
export async function drilled(
  flags: readonly string[],
  command: readonly string[],
): Promise<{ code: number; err: string; results: Map<string, Result> }> {
  const cwd = mkdtempSync(join(tmpdir(), "weir-drill-test-"));
  try {
    const args = ["drill", ...flags, "--json", "--", ...command];
    const { code, out, err } = await runCommand(args, { cwd, env: { TMPDIR: cwd } });
    const results = out === "" ? [] : (JSON.parse(out) as Result[]);
    return { code, err, results: new Map(results.map((result) => [result.fault, result])) };
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}
