/**
 * A file that a process maps into memory, with what is left of its shares. When the process dies, the system keeps what it
 * wrote last, and the keeper reads it. The file has a header of 64 bytes (a mark and the id of the system's boot), 4,096
 * numbers of 8 bytes, and the digest of the account of each (16 bytes).
 */
import { createHash, randomBytes } from "node:crypto";
import {
  accessSync,
  constants,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { type Cells, localCells, Slots } from "../../ledger/cells.ts";

const COUNT = 4_096;
const MARK = "weir cells 1";
const BOOT_AT = 16;
const HEADER = 64;
const DIGESTS_AT = HEADER + COUNT * 8;
const DIGEST_BYTES = 16;
const SIZE = DIGESTS_AT + COUNT * DIGEST_BYTES;
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
  name = `${process.pid}-${randomBytes(8).toString("hex")}`,
): Cells {
  if (folder === undefined) return localCells(COUNT);
  const file = join(folder, `${name}${ENDING}`);
  try {
    const bytes = new Uint8Array(SIZE);
    bytes.set(Buffer.from(MARK));
    bytes.set(Buffer.from(bootId()), BOOT_AT);
    // Every byte is written, because access to a hole of a mapped file fails when there is no room for it.
    writeFileSync(file, bytes, { mode: 0o600, flag: "wx" });
    return mapped(file);
  } catch {
    rmSync(file, { force: true });
    return localCells(COUNT);
  }
}

function mapped(file: string): Cells {
  const bytes = Bun.mmap(file, { shared: true });
  const values = new Float64Array(bytes.buffer, bytes.byteOffset + HEADER, COUNT);
  const slots = new Slots(COUNT);
  return {
    file,
    values,
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

/** What is left by account, for the accounts that the caller knows. */
export interface LeftCells {
  /** @returns undefined for an account without a cell */
  leftOf(account: string): number | undefined;
}

/** Reads a file of cells. @returns undefined if it is none, or if the system was started again since */
export function readCells(file: string): LeftCells | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch {
    return undefined;
  }
  const boot = bootId();
  if (bytes.byteLength !== SIZE || bytes.toString("utf8", 0, MARK.length) !== MARK) return undefined;
  if (bytes.toString("utf8", BOOT_AT, BOOT_AT + boot.length) !== boot) return undefined;
  const left = new Map<string, number>();
  for (let cell = 0; cell < COUNT; cell++) {
    const value = bytes.readDoubleLE(HEADER + cell * 8);
    const at = DIGESTS_AT + cell * DIGEST_BYTES;
    const name = bytes.toString("hex", at, at + DIGEST_BYTES);
    left.set(name, (left.get(name) ?? 0) + value);
  }
  return { leftOf: (account) => left.get(digestOf(account).toString("hex")) };
}

/** Removes a folder of cells, unless a process still has a file there. */
export function removeFolder(folder: string | undefined): void {
  try {
    if (folder !== undefined) rmdirSync(folder);
  } catch {
    // The next keeper of this store uses it.
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
  return createHash("sha256").update(text).digest().subarray(0, DIGEST_BYTES);
}

/** Changes with each start of the system. Empty where the system does not say. */
function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return "";
  }
}
