/** The results of a batch as its journals have them, whichever runner wrote them. */
import { type FileHandle, open } from "node:fs/promises";
import type { LineTable, Place } from "./line-table.ts";
import { pathOf, readAt } from "./recover.ts";

export interface ResultsQuery {
  /** `all` has results and errors among each other. */
  readonly of: "out" | "err" | "all";
  readonly order: "completion" | "input";
}

export interface ResultLine {
  /** The number of the line in the input, from 1. */
  readonly line: number;
  readonly to: "out" | "err";
  /** With its line break. */
  readonly bytes: Uint8Array;
}

/** Bytes that are read at once, where results follow each other in a file; a longer result is read alone. */
const RUN_BYTES = 256 * 1024;

/** @throws Error if a file of results has lost bytes */
export async function* resultsIn(
  folder: string,
  lines: LineTable,
  query: ResultsQuery,
): AsyncGenerator<ResultLine, void> {
  const files = new Map<string, FileHandle>();
  const fileOf = async ({ to, fence }: Place) => {
    const path = pathOf(folder, to, fence);
    const file = files.get(path) ?? (await open(path));
    files.set(path, file);
    return file;
  };
  try {
    for (const run of runsOf(lines, query)) {
      const first = run[0]!;
      const last = run.at(-1)!;
      const bytes = await readAt(await fileOf(first), first.offset, last.offset + last.length - first.offset);
      for (const { line, to, offset, length } of run) {
        const start = offset - first.offset;
        if (start + length > bytes.length)
          throw new Error(`The result of line ${line} is not in the folder ${folder}.`);
        yield { line, to, bytes: bytes.subarray(start, start + length) };
      }
    }
  } finally {
    for (const file of files.values()) await file.close();
  }
}

/** Results in their order, joined where one follows the other in its file. */
function* runsOf(lines: LineTable, { of, order }: ResultsQuery): Generator<Place[], void> {
  let run: Place[] = [];
  for (const place of lines.places(order)) {
    if (of !== "all" && place.to !== of) continue;
    const first = run[0];
    const last = run.at(-1);
    const isNext =
      first?.to === place.to &&
      first.fence === place.fence &&
      last!.offset + last!.length === place.offset &&
      place.offset + place.length - first.offset <= RUN_BYTES;
    if (!isNext && last) {
      yield run;
      run = [];
    }
    run.push(place);
  }
  if (run.length > 0) yield run;
}
