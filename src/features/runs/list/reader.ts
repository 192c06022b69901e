/** Reads the runs of a state folder again and again: only tapes that changed are read anew. */
import { VERSION } from "../../../process/version.ts";
import { builtInFormats } from "../../../run/formats.ts";
import { keptRuns, type ReadRuns, withForks } from "./kept.ts";
import type { RunSummary } from "./summary.ts";

/** @param tell takes a sentence about a tape that cannot be read */
export function readerOf(folder: string, tell: (sentence: string) => void): () => Promise<RunSummary[]> {
  const formats = new Map(builtInFormats({ systemTurns: "accept" }).map((format) => [format.id, format]));
  const known: ReadRuns = new Map();
  return async () => {
    const all = keptRuns(folder, { formats, version: VERSION, tell, known });
    const ids = new Set(all.map(({ run }) => run));
    return all.filter(({ fork }) => !fork || !ids.has(fork.parent)).flatMap((root) => withForks(root, all));
  };
}
