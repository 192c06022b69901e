/**
 * Writes zip archives whose bytes depend on the files and one time alone. The layout is PKWARE's APPNOTE
 * (https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT), sections 4.3.7, 4.3.12 and 4.3.16.
 */
import { crc32, deflateRawSync } from "node:zlib";
import type { PackedFile } from "./file.ts";
import { modeOf, sorted } from "./file.ts";

const LOCAL_HEADER = 0x04034b50;
const CENTRAL_HEADER = 0x02014b50;
const END = 0x06054b50;
const DEFLATE = 8;
/** Version 2.0 of the format: deflate and folders. */
const NEEDED = 20;
/** The upper byte says that the attributes are those of Unix. */
const MADE_BY = (3 << 8) | NEEDED;

/** @param seconds time of last change of each file, in seconds since 1970; zip knows no time before 1980 */
export function zip(files: readonly PackedFile[], seconds: number): Uint8Array {
  const local: Uint8Array[] = [];
  const central: Uint8Array[] = [];
  let offset = 0;
  for (const file of sorted(files).filter(({ content }) => content !== undefined)) {
    const content = file.content!;
    const name = Buffer.from(file.path);
    const packed = deflateRawSync(content, { level: 9 });
    const common = commonFields(content, packed.length, name.length, seconds);
    const head = Buffer.alloc(4);
    head.writeUInt32LE(LOCAL_HEADER);
    local.push(head, common, name, packed);
    central.push(centralHead(), common, centralTail(file, offset), name);
    offset += head.length + common.length + name.length + packed.length;
  }
  const directory = Buffer.concat(central);
  return Buffer.concat([...local, directory, end(local.length / 4, directory.length, offset)]);
}

/** The 26 bytes that are in both headers of a file. */
function commonFields(content: Uint8Array, packed: number, name: number, seconds: number): Buffer {
  const fields = Buffer.alloc(26);
  fields.writeUInt16LE(NEEDED, 0);
  fields.writeUInt16LE(DEFLATE, 4);
  fields.writeUInt32LE(dosTime(seconds), 6);
  fields.writeUInt32LE(crc32(content), 10);
  fields.writeUInt32LE(packed, 14);
  fields.writeUInt32LE(content.length, 18);
  fields.writeUInt16LE(name, 22);
  return fields;
}

function centralHead(): Buffer {
  const head = Buffer.alloc(6);
  head.writeUInt32LE(CENTRAL_HEADER);
  head.writeUInt16LE(MADE_BY, 4);
  return head;
}

/** Members that only the directory has: the rights of the file, and where its local header is. */
function centralTail(file: PackedFile, offset: number): Buffer {
  const REGULAR_FILE = 0o100000;
  const tail = Buffer.alloc(14);
  tail.writeUInt32LE(((REGULAR_FILE | modeOf(file)) << 16) >>> 0, 6);
  tail.writeUInt32LE(offset, 10);
  return tail;
}

function end(count: number, directoryBytes: number, directoryOffset: number): Buffer {
  const record = Buffer.alloc(22);
  record.writeUInt32LE(END);
  record.writeUInt16LE(count, 8);
  record.writeUInt16LE(count, 10);
  record.writeUInt32LE(directoryBytes, 12);
  record.writeUInt32LE(directoryOffset, 16);
  return record;
}

/** Date and time of MS-DOS in UTC: years since 1980, steps of two seconds. */
function dosTime(seconds: number): number {
  const at = new Date(Math.max(seconds, Date.UTC(1980, 0, 1) / 1000) * 1000);
  const date = ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate();
  const time = (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1);
  return ((date << 16) | time) >>> 0;
}
