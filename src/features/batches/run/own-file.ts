/** Files that a batch reads: the batch has held them, so that clients cannot delete them meanwhile. */
import type { KeptFile, KeptFiles } from "../../../core/kept-files.ts";

/** @throws Error with a sentence if the file is gone */
export async function ownFile(files: KeptFiles, id: string): Promise<KeptFile> {
  // Who made the batch could see the file then, and may be gone now.
  const found = await files.find(id, undefined);
  if (!found) throw new Error("The input of the batch is gone.");
  return found;
}
