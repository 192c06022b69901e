/**
 * What a release changes for calls: `bun run rehearsal OLD NEW --out FILE` asks two binaries what they would do with the calls of
 * `outlines.jsonl`, or those of `--outlines FILE`, and writes a table for the notes of the release.
 *
 * A binary without the command is said so in the file; what fails otherwise ends with 1.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { parseOutlines } from "../keep/files.ts";
import { askBuild } from "../run/other-build.ts";
import { Rehearsal } from "../run/rehearsal.ts";
import { manyCalls } from "./calls.ts";
import { releaseReport } from "./report.ts";

/** Calls of a rehearsal, unless `--calls` says otherwise. */
const CALLS = "10000";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    out: { type: "string" },
    outlines: { type: "string", default: join(import.meta.dir, "outlines.jsonl") },
    calls: { type: "string", default: CALLS },
  },
});

/** `weir --version`, or undefined where the build has no `weir rehearse`. */
function versionOf(binary: string, cwd: string): string | undefined {
  const run = (...args: string[]) =>
    Bun.spawnSync([binary, ...args], { cwd, env: environment(cwd), stderr: "ignore" });
  if (run("rehearse", "--help").exitCode !== 0) return undefined;
  return run("--version").stdout.toString().trim();
}

/** No config and no credentials of this machine: what differs is the builds. */
function environment(cwd: string): Record<string, string> {
  return { PATH: process.env["PATH"] ?? "", HOME: cwd, WEIR_STATE: "memory" };
}

async function compare(old: string, next: string, cwd: string): Promise<string> {
  const { outlines, damaged } = parseOutlines(readFileSync(values.outlines, "utf8"));
  if (damaged > 0 || outlines.length === 0)
    throw new Error(`${values.outlines}: ${damaged} lines are damaged`);
  const [before, after] = [versionOf(old, cwd), versionOf(next, cwd)];
  if (after === undefined) throw new Error(`${next} does not know weir rehearse`);
  if (before === undefined)
    return "## What changes for calls\n\nThe release before has no `weir rehearse`, so it cannot be compared.\n";
  const calls = [...manyCalls(outlines, Number(values.calls))];
  const used = [...new Set(calls.flatMap(({ by }) => by ?? []))];
  const [olds, news] = [old, next].map((path) =>
    askBuild({ path, config: undefined, cwd, env: environment(cwd), used }, calls),
  );
  const rehearsal = new Rehearsal();
  for (const outline of calls) {
    const [one, other] = [await olds!.next(), await news!.next()];
    if (one.done || other.done) throw new Error("a build answered fewer outlines than it got");
    rehearsal.add(outline, one.value, other.value);
  }
  // What a build said at its end, if it failed.
  await Promise.all([olds!.next(), news!.next()]);
  return releaseReport(rehearsal.result, before, after);
}

const [old, next] = positionals;
const cwd = mkdtempSync(join(tmpdir(), "weir-rehearsal-"));
try {
  if (old === undefined || next === undefined)
    throw new Error("bun run rehearsal OLD NEW [--out FILE] [--outlines FILE] [--calls N]");
  const text = await compare(resolve(old), resolve(next), cwd);
  if (values.out === undefined) console.log(text);
  else writeFileSync(values.out, text);
} catch (cause) {
  console.error(cause instanceof Error ? cause.message : cause);
  process.exitCode = 1;
} finally {
  rmSync(cwd, { recursive: true, force: true });
}
