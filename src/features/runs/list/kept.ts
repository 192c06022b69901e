/** Runs in the state folder, and those that were forked from one. */
import { statSync } from "node:fs";
import { readRun } from "../../../tapes/file.ts";
import { keptFile, keptIds } from "../../../tapes/kept.ts";
import { type Formats, type RunSummary, summaryOf } from "./summary.ts";

/** What was read, by the path of its tape: a tape changes while it is recorded. */
export type ReadRuns = Map<string, { readonly seen: string; readonly summary: RunSummary }>;

/**
 * Runs that can be read, the newest first; the others are told as sentences.
 * @param known what was read before; absent: nothing
 */
export function keptRuns(
  folder: string,
  { formats, version, tell, known = new Map() }: KeptOptions,
): RunSummary[] {
  return keptIds(folder)
    .flatMap((id) => {
      const path = keptFile(folder, id);
      try {
        const { mtimeMs, size } = statSync(path);
        const seen = `${mtimeMs} ${size}`;
        const read = known.get(path);
        if (read?.seen === seen) return [read.summary];
        const summary = { ...summaryOf(id, readRun(path, version), formats), at: Math.round(mtimeMs) };
        known.set(path, { seen, summary });
        return [summary];
      } catch (cause) {
        tell(cause instanceof Error ? cause.message : String(cause));
        return [];
      }
    })
    .sort((a, b) => (b.at ?? 0) - (a.at ?? 0));
}

export interface KeptOptions {
  readonly formats: Formats;
  /** Of this weir. */
  readonly version: string;
  tell(sentence: string): void;
  readonly known?: ReadRuns;
}

/** The run with those that were forked from it, and from these. */
export function withForks(run: RunSummary, kept: readonly RunSummary[]): RunSummary[] {
  const others = kept.filter((one) => one.run !== run.run);
  const forks = others.filter(({ fork }) => fork?.parent === run.run);
  return [run, ...forks.flatMap((one) => withForks(one, others))];
}

/** The run from which this one was forked at first, if that is kept. */
export function rootOf(run: RunSummary, kept: readonly RunSummary[]): RunSummary {
  const parent = run.fork && kept.find((one) => one.run === run.fork!.parent);
  return parent
    ? rootOf(
        parent,
        kept.filter((one) => one.run !== run.run),
      )
    : run;
}
