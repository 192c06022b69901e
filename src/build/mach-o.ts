/**
 * Signs a macOS executable ad hoc. The build appends its script to the runtime's executable, whose signature then no longer
 * matches; macOS may end such a process at the first page that differs.
 * The layout follows Apple's `cs_blobs.h` and `mach-o/loader.h`.
 */
import { createHash } from "node:crypto";

const MACH_O_64 = 0xfeedfacf;
const LC_SEGMENT_64 = 0x19;
const LC_CODE_SIGNATURE = 0x1d;
const HEADER_BYTES = 32;

const SUPER_BLOB = 0xfade0cc0;
const CODE_DIRECTORY = 0xfade0c02;
/** The version with the bounds of the executable segment. */
const VERSION = 0x20400;
const AD_HOC = 0x2;
const SHA256 = 2;
const SHA256_BYTES = 32;
const PAGE_BITS = 12;
const PAGE = 1 << PAGE_BITS;
const MAIN_BINARY = 1n;
const SUPER_BLOB_BYTES = 20;
const DIRECTORY_BYTES = 88;

interface Layout {
  /** Offset of the signature's load command. */
  command: number;
  /** Offset of the signature. The bytes before it are signed. */
  signature: number;
  /** Offset of the load command of the last segment, which contains the signature. */
  linkEdit: number;
  linkEditOffset: bigint;
  /** Size of the code segment in bytes. */
  text: bigint;
}

/**
 * The executable with its signature replaced by an ad-hoc signature.
 * @param identifier the system's name of the program
 * @throws Error if the bytes are not a 64-bit Mach-O executable with a signature at its end
 */
export function signAdHoc(executable: Uint8Array, identifier: string): Uint8Array {
  const layout = readLayout(executable);
  const signed = layout.signature;
  const pages = Math.ceil(signed / PAGE);
  const name = new TextEncoder().encode(`${identifier}\0`);
  const directoryBytes = DIRECTORY_BYTES + name.length + pages * SHA256_BYTES;
  const total = Math.ceil((SUPER_BLOB_BYTES + directoryBytes) / 16) * 16;

  const bytes = new Uint8Array(signed + total);
  bytes.set(executable.subarray(0, signed));
  const view = new DataView(bytes.buffer);
  // The load commands are signed too, so they are written before the hashes are computed.
  view.setUint32(layout.command + 12, total, true);
  const linkEditBytes = BigInt(bytes.length) - layout.linkEditOffset;
  view.setBigUint64(layout.linkEdit + 48, linkEditBytes, true);
  view.setBigUint64(layout.linkEdit + 32, roundUp(linkEditBytes, BigInt(PAGE)), true);

  writeWords(view, signed, [SUPER_BLOB, SUPER_BLOB_BYTES + directoryBytes, 1, 0, SUPER_BLOB_BYTES]);
  const directory = signed + SUPER_BLOB_BYTES;
  const hashes = DIRECTORY_BYTES + name.length;
  writeWords(view, directory, [
    CODE_DIRECTORY,
    directoryBytes,
    VERSION,
    AD_HOC,
    hashes,
    DIRECTORY_BYTES,
    0,
    pages,
    signed,
  ]);
  bytes.set([SHA256_BYTES, SHA256, 0, PAGE_BITS], directory + 36);
  view.setBigUint64(directory + 72, layout.text);
  view.setBigUint64(directory + 80, MAIN_BINARY);
  bytes.set(name, directory + DIRECTORY_BYTES);
  for (let page = 0; page < pages; page++) {
    const content = bytes.subarray(page * PAGE, Math.min((page + 1) * PAGE, signed));
    bytes.set(createHash("sha256").update(content).digest(), directory + hashes + page * SHA256_BYTES);
  }
  return bytes;
}

function readLayout(executable: Uint8Array): Layout {
  const view = new DataView(executable.buffer, executable.byteOffset, executable.byteLength);
  if (view.byteLength < HEADER_BYTES || view.getUint32(0, true) !== MACH_O_64)
    throw new Error("this is not a 64-bit Mach-O executable");
  let command = 0;
  let linkEdit = 0;
  let text = 0n;
  for (let at = HEADER_BYTES, left = view.getUint32(16, true); left > 0; left--) {
    const kind = view.getUint32(at, true);
    if (kind === LC_CODE_SIGNATURE) command = at;
    if (kind === LC_SEGMENT_64) {
      const name = new TextDecoder().decode(executable.subarray(at + 8, at + 24)).replace(/\0+$/, "");
      if (name === "__LINKEDIT") linkEdit = at;
      if (name === "__TEXT") text = view.getBigUint64(at + 48, true);
    }
    at += view.getUint32(at + 4, true);
  }
  if (command === 0 || linkEdit === 0) throw new Error("the executable has no signature to replace");
  const signature = view.getUint32(command + 8, true);
  if (signature + view.getUint32(command + 12, true) !== executable.length)
    throw new Error("the signature is not at the end of the executable");
  return { command, signature, linkEdit, linkEditOffset: view.getBigUint64(linkEdit + 40, true), text };
}

function roundUp(value: bigint, unit: bigint): bigint {
  return ((value + unit - 1n) / unit) * unit;
}

function writeWords(view: DataView, at: number, words: readonly number[]): void {
  words.forEach((word, index) => view.setUint32(at + 4 * index, word));
}
