/** Ids of files of results, noted before the files are written: a runner that ends before its batch leaves no file behind. */
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createKeptId, keptIdIn } from "../../../core/kept-id.ts";

const NAME = "results";

/** @param folder of the batch @returns the ids that runners noted before. One that was cut off has no file, and is left out. */
export async function notedIds(folder: string): Promise<readonly string[]> {
  try {
    const text = await readFile(join(folder, NAME), "utf8");
    return text.split("\n").filter((line) => keptIdIn(line) === line);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw cause;
  }
}

/** A new id. Resolves when it is on the disk. @throws Error such as `ENOSPC` */
export async function noteId(folder: string): Promise<string> {
  const id = createKeptId();
  const file = await open(join(folder, NAME), "a", 0o600);
  try {
    // A note before may be cut off.
    await file.write(`\n${id}\n`);
    await file.datasync();
  } finally {
    await file.close();
  }
  return id;
}
