/**
 * Writes tar archives whose bytes depend on the files and one time alone. The layout is POSIX.1-1988 `ustar`
 * (https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html#tag_20_92_13_06).
 */
import type { PackedFile } from "./file.ts";
import { modeOf, sorted } from "./file.ts";

const BLOCK = 512;
/** The longest path that the header has room for without a prefix. */
const PATH_BYTES = 100;

/** @param seconds time of last change of each file, in seconds since 1970 */
export function tar(files: readonly PackedFile[], seconds: number): Uint8Array {
  const blocks = sorted(files).flatMap((file) => [header(file, seconds), ...contentOf(file)]);
  // Two empty blocks end an archive.
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]);
}

/** The content, filled up to whole blocks. */
function contentOf({ content = new Uint8Array() }: PackedFile): Uint8Array[] {
  return [content, Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)];
}

function header(file: PackedFile, seconds: number): Uint8Array {
  const isFolder = file.content === undefined;
  const path = isFolder ? `${file.path}/` : file.path;
  if (Buffer.byteLength(path) > PATH_BYTES)
    throw new Error(`${path} is longer than the ${PATH_BYTES} bytes that a tar header holds.`);
  const block = Buffer.alloc(BLOCK);
  const octal = (at: number, length: number, value: number) =>
    block.write(`${value.toString(8).padStart(length - 1, "0")}\0`, at);
  block.write(path, 0);
  octal(100, 8, modeOf(file));
  octal(108, 8, 0);
  octal(116, 8, 0);
  octal(124, 12, file.content?.length ?? 0);
  octal(136, 12, seconds);
  block.write(isFolder ? "5" : "0", 156);
  block.write("ustar\x0000", 257);
  // The checksum counts its own eight bytes as spaces.
  block.fill(" ", 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}
