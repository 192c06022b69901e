/** Memory of a process that the keeper can read after the process has died: numbers, and the batches that are not stored. */

/** The amounts left of the shares of one process, one number for each account, and regions for batches of records. */
export interface Cells {
  /** Random; names this run of the process. */
  readonly life: string;
  /** Path of the file that other processes can read, for `hello`; absent: the numbers end with this process. */
  readonly file?: string;
  /** By number of the cell. */
  readonly values: Float64Array;
  /** Each holds the entries of one batch, see {@link openRegion}. */
  readonly regions: readonly Buffer[];
  /** Reserves a cell, whose value is 0. @returns its number; undefined when all cells are reserved */
  reserve(account: string): number | undefined;
  /** Gives a cell back and sets it to 0. */
  release(cell: number): void;
  close(): void;
}

/** Cells that end with this process. */
export function localCells(count: number): Cells {
  const values = new Float64Array(count);
  const slots = new Slots(count);
  return {
    life: crypto.randomUUID(),
    values,
    regions: [],
    reserve: () => slots.take(),
    release(cell) {
      values[cell] = 0;
      slots.give(cell);
    },
    close() {},
  };
}

/** A region begins with the number of its batch and the end of its entries; 0 is the number of no batch. 4 bytes each. */
export const REGION_HEADER = 8;
const USED_AT = 4;

/** Begins a batch in a region. */
export function openRegion(region: Buffer, seq: number): void {
  // Between the two writes the region is empty.
  region.writeUInt32LE(REGION_HEADER, USED_AT);
  region.writeUInt32LE(seq, 0);
}

/** Sets the end of what has been written. */
export function setUsed(region: Buffer, end: number): void {
  region.writeUInt32LE(end, USED_AT);
}

/** @returns undefined if no batch is in the region */
export function readRegion(region: Buffer): { seq: number; entries: Uint8Array } | undefined {
  const seq = region.readUInt32LE(0);
  const end = region.readUInt32LE(USED_AT);
  if (seq === 0 || end <= REGION_HEADER || end > region.length) return undefined;
  return { seq, entries: region.subarray(REGION_HEADER, end) };
}

/** Numbers from 0, each given to one user at a time. */
export class Slots {
  readonly #count: number;
  readonly #free: number[] = [];
  #used = 0;

  constructor(count: number) {
    this.#count = count;
  }

  take(): number | undefined {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    return this.#used < this.#count ? this.#used++ : undefined;
  }

  give(slot: number): void {
    this.#free.push(slot);
  }
}
