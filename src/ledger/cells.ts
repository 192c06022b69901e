/** Numbers of a process that the keeper can read after the process has died. */

/** What is left of the shares of one process, one number for each account. */
export interface Cells {
  /** Path of the file that other processes can read, for `hello`; absent: the numbers end with this process. */
  readonly file?: string;
  /** By number of the cell. */
  readonly values: Float64Array;
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
    values,
    reserve: () => slots.take(),
    release(cell) {
      values[cell] = 0;
      slots.give(cell);
    },
    close() {},
  };
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
