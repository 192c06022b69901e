/** Writes the files of results when all lines have ended. */
import type { KeptFile, KeptFiles } from "../../../core/kept-files.ts";
import type { Batch } from "../batch.ts";
import type { Journal } from "../journal/journal.ts";
import type { Owner } from "../owner.ts";
import { notedIds, noteId } from "./result-ids.ts";
import type { LineSeal } from "./seal.ts";

const LF = Uint8Array.of(0x0a);
const PURPOSE = "batch_output";

/**
 * Files that a runner before wrote are deleted: the batch would not name them.
 * @param folder of the batch
 * @returns the ids of the files; a kind of results without lines has none
 */
export async function writeResults(
  journal: Journal,
  seal: LineSeal,
  files: KeptFiles,
  { batch, owner, folder }: { batch: Batch; owner: Owner; folder: string },
): Promise<Partial<Pick<Batch, "outputFile" | "errorFile">>> {
  const { path, key, person } = owner;
  const { id, expiresAt } = batch;
  for (const before of await notedIds(folder)) await files.remove(before);
  const write = async (name: string, kind: "out" | "err"): Promise<KeptFile> => {
    const noted = await noteId(folder);
    return files.write(
      {
        ...{ path, name: `batch_${id}_${name}.jsonl`, purpose: PURPOSE, mime: "application/jsonl" },
        ...(key !== undefined && { key }),
        ...(person !== undefined && { person }),
        ...(expiresAt !== undefined && { expiresAt }),
      },
      opened(journal, seal, kind),
      noted,
    );
  };
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
