/**
 * A file that a process maps into memory, with what is left of its shares, and the batches that are not stored. When the process
 * dies, the system keeps what it wrote last, and the keeper reads it. The file has a header of 128 bytes (a mark, the id of the
 * system's boot, and the life of the process), 4,096 numbers of 8 bytes, the digest of the account of each (16 bytes), and for
 * workers 16 regions of 64 KB.
 */
import {
  accessSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmdirSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { basename, join } from "node:path";
import { type Cells, localCells, readRegion, Slots } from "../../ledger/cells.ts";
import { readEntries, readFormerEntries } from "../../ledger/packed.ts";
import { RECORD_FORMAT, type RecordBatch } from "../../ledger/record.ts";

const COUNT = 4_096;
const KIND = "weir cells";
/** At most 16 bytes. The second number is that of the records. */
const MARK = `${KIND} 2.${RECORD_FORMAT}`;
/** Of the version before, whose batches are JSON: its workers may have died before an upgrade. */
const FORMER_MARK = `${KIND} 2.1`;
const BOOT_AT = 16;
const LIFE_AT = 64;
const LIFE_BYTES = 36;
const HEADER = 128;
const DIGESTS_AT = HEADER + COUNT * 8;
const DIGEST_BYTES = 16;
const REGIONS_AT = DIGESTS_AT + COUNT * DIGEST_BYTES;
const REGIONS = 16;
const REGION_BYTES = 64 * 1024;
const ENDING = ".cells";
/** Name of the keeper's own cells. */
export const KEEPER_CELLS = "keeper";

export function isKeeperFile(file: string): boolean {
  return basename(file) === `${KEEPER_CELLS}${ENDING}`;
}

/**
 * The folder of the cells of one store, created if it is absent.
 * @param store path or URL of the store @param folders where it may be, the preferred one first
 * @returns undefined where no folder can be written to
 */
export function cellsFolder(store: string, folders: readonly string[]): string | undefined {
  const name = `weir-cells-${digestOf(store).toString("hex")}`;
  for (const parent of folders) {
    const folder = join(parent, name);
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
      return folder;
    } catch {
      // The next folder may be writable.
    }
  }
  return undefined;
}

/** Cells in a new file of a folder, whose name begins with the id of this process; in memory where no file can be mapped. */
export function createCells(
  folder: string | undefined,
  name = `${process.pid}-${crypto.getRandomValues(new Uint8Array(8)).toHex()}`,
): Cells {
  if (folder === undefined) return localCells(COUNT);
  const file = join(folder, `${name}${ENDING}`);
  const life = crypto.randomUUID();
  const regions = name === KEEPER_CELLS ? 0 : REGIONS;
  try {
    const bytes = Buffer.alloc(REGIONS_AT + regions * REGION_BYTES);
    bytes.write(MARK);
    bytes.write(bootId(), BOOT_AT);
    bytes.write(life, LIFE_AT);
    // Every byte is written, because access to a hole of a mapped file fails when there is no room for it.
    writeFileSync(file, bytes, { mode: 0o600, flag: "wx" });
    return mapped(file, life, regions);
  } catch {
    rmSync(file, { force: true });
    return localCells(COUNT);
  }
}

function mapped(file: string, life: string, regions: number): Cells {
  const bytes = Bun.mmap(file, { shared: true });
  const values = new Float64Array(bytes.buffer, bytes.byteOffset + HEADER, COUNT);
  const slots = new Slots(COUNT);
  const regionAt = (_: unknown, index: number) =>
    Buffer.from(bytes.buffer, bytes.byteOffset + REGIONS_AT + index * REGION_BYTES, REGION_BYTES);
  return {
    life,
    file,
    values,
    regions: Array.from({ length: regions }, regionAt),
    reserve(account) {
      const cell = slots.take();
      if (cell !== undefined) bytes.set(digestOf(account), DIGESTS_AT + cell * DIGEST_BYTES);
      return cell;
    },
    release(cell) {
      values[cell] = 0;
      slots.give(cell);
    },
    close: () => rmSync(file, { force: true }),
  };
}

/** The amounts that a process has left. */
export interface LeftCells {
  life: string;
  /** @returns undefined for an account without a cell */
  leftOf(account: string): number | undefined;
  /** The batches that may not be stored, in order, as long as the file is there. What was spent is in their records. */
  batches(): Omit<RecordBatch, "spends">[];
}

/** Reads a file of cells. @returns undefined if it is none, or if the system was started again since */
export function readCells(file: string): LeftCells | undefined {
  const bytes = readBytes(file, 0, REGIONS_AT);
  if (!bytes) return undefined;
  const boot = bootId();
  const mark = markOf(bytes);
  if (bytes.byteLength < REGIONS_AT || !isReadable(mark)) return undefined;
  const read = mark === MARK ? readEntries : readFormerEntries;
  if (bytes.toString("utf8", BOOT_AT, BOOT_AT + boot.length) !== boot) return undefined;
  const left = new Map<string, number>();
  for (let cell = 0; cell < COUNT; cell++) {
    const value = bytes.readDoubleLE(HEADER + cell * 8);
    const at = DIGESTS_AT + cell * DIGEST_BYTES;
    const name = bytes.toString("hex", at, at + DIGEST_BYTES);
    left.set(name, (left.get(name) ?? 0) + value);
  }
  return {
    life: bytes.toString("latin1", LIFE_AT, LIFE_AT + LIFE_BYTES),
    leftOf: (account) => left.get(digestOf(account).toString("hex")),
    batches: () => readBatches(readBytes(file, REGIONS_AT, REGIONS * REGION_BYTES) ?? Buffer.alloc(0), read),
  };
}

/** Whether another version of weir wrote the file. */
export function isForeign(file: string): boolean {
  const mark = markOf(readBytes(file, 0, BOOT_AT) ?? Buffer.alloc(0));
  return mark.startsWith(KIND) && !isReadable(mark);
}

function isReadable(mark: string): boolean {
  return mark === MARK || mark === FORMER_MARK;
}

function markOf(bytes: Buffer): string {
  return bytes.toString("latin1", 0, BOOT_AT).replace(/\0+$/, "");
}

/** @returns undefined if the file cannot be read */
function readBytes(file: string, start: number, length: number): Buffer | undefined {
  let handle: number | undefined;
  try {
    handle = openSync(file, "r");
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(handle, bytes, 0, length, start));
  } catch {
    return undefined;
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

function readBatches(regions: Buffer, read: typeof readEntries): Omit<RecordBatch, "spends">[] {
  const batches: Omit<RecordBatch, "spends">[] = [];
  for (let at = 0; at + REGION_BYTES <= regions.length; at += REGION_BYTES) {
    const found = readRegion(regions.subarray(at, at + REGION_BYTES));
    if (!found) continue;
    try {
      batches.push({ seq: found.seq, ...read(found.entries) });
    } catch {
      // Another program has written to the file. What the calls cost is assumed.
    }
  }
  return batches.sort((one, other) => one.seq - other.seq);
}

/** Removes a folder of cells, unless a process still has a file there. */
export function removeFolder(folder: string | undefined): void {
  try {
    if (folder !== undefined) rmdirSync(folder);
  } catch {
    // The next keeper of this store uses it.
  }
}

/**
 * Sets all numbers of a dead process to 0, before its keeper takes them over: a keeper that ends before the next commit leaves the
 * file to the next one, which must not take them over again.
 */
export function emptyCells(file: string | undefined): void {
  if (file === undefined) return;
  let handle: number | undefined;
  try {
    handle = openSync(file, "r+");
    writeSync(handle, new Uint8Array(COUNT * 8), 0, COUNT * 8, HEADER);
  } catch {
    removeCells(file);
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

/** Removes a file of cells that was read. */
export function removeCells(file: string | undefined): void {
  if (file !== undefined) rmSync(file, { force: true });
}

/** The files that processes left in a folder. */
export function cellFiles(folder: string | undefined): string[] {
  if (folder === undefined) return [];
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(ENDING))
      .map((name) => join(folder, name));
  } catch {
    return [];
  }
}

function digestOf(text: string): Buffer {
  return new Bun.CryptoHasher("sha256").update(text).digest().subarray(0, DIGEST_BYTES);
}

/** Changes with each start of the system. Empty where the system does not say. */
function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return "";
  }
}
