/** Writes the files of results when all lines have ended. */
import type { KeptFile, KeptFiles } from "../../../core/kept-files.ts";
import type { Batch } from "../batch.ts";
import type { Journal } from "../journal/journal.ts";
import type { Owner } from "../owner.ts";
import type { LineSeal } from "./seal.ts";

const LF = Uint8Array.of(0x0a);
const PURPOSE = "batch_output";

/** @returns the ids of the files; a kind of results without lines has none */
export async function writeResults(
  journal: Journal,
  seal: LineSeal,
  files: KeptFiles,
  { batch, owner }: { batch: Batch; owner: Owner },
): Promise<Partial<Pick<Batch, "outputFile" | "errorFile">>> {
  const { path, key, person } = owner;
  const { id, expiresAt } = batch;
  const write = (name: string, kind: "out" | "err"): Promise<KeptFile> =>
    files.write(
      {
        ...{ path, name: `batch_${id}_${name}.jsonl`, purpose: PURPOSE, mime: "application/jsonl" },
        ...(key !== undefined && { key }),
        ...(person !== undefined && { person }),
        ...(expiresAt !== undefined && { expiresAt }),
      },
      opened(journal, seal, kind),
    );
  const { out, err } = countsOf(journal);
  return {
    ...(out > 0 && { outputFile: (await write("output", "out")).id }),
    ...(err > 0 && { errorFile: (await write("error", "err")).id }),
  };
}

function countsOf({ lines }: Pick<Journal, "lines">): { out: number; err: number } {
  const counts = { out: 0, err: 0 };
  for (const { to } of lines.places("completion")) counts[to]++;
  return counts;
}

/** In the order of the input: so the results can be joined with it for clients that want that. */
async function* opened(journal: Journal, seal: LineSeal, kind: "out" | "err"): AsyncGenerator<Uint8Array> {
  for await (const { line, bytes } of journal.results({ of: kind, order: "input" })) {
    yield seal.open(bytes, line);
    yield LF;
  }
}
