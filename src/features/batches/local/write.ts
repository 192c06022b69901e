/** Writes a file whole or not at all. */
import { createWriteStream } from "node:fs";
import { rename } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/** Readable by its owner alone, because it has texts of people. @throws Error of the system */
export async function writeTo(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  const part = `${path}.part`;
  await pipeline(Readable.from(bytes), createWriteStream(part, { mode: 0o600 }));
  await rename(part, path);
}
