/**
 * The table in which a worker keeps what is left of each share. It may lie in a file that is mapped into memory: the keeper
 * reads it after the worker has died, and takes back what the worker had neither held nor spent.
 */

/** Bytes of a cell: 8 for the amount (a float in the machine's byte order), 2 for the length of the name, the rest for the name. */
const CELL_BYTES = 256;
const NAME_AT = 10;
const FLOAT_BYTES = 8;

/** Size of the table of a worker. Bytes. */
export const TABLE_BYTES = 1024 * CELL_BYTES;

/** Where an amount is kept: `numbers[at]`. */
export interface Cell {
  readonly numbers: Float64Array;
  readonly at: number;
}

export class CellTable {
  readonly #bytes: Buffer;
  readonly #numbers: Float64Array;
  /** Cells that are not in use, as indexes. */
  readonly #vacant: number[] = [];

  /** @param bytes a multiple of {@link CELL_BYTES}, filled with zeros, at an address that is divisible by 8 */
  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#numbers = new Float64Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / FLOAT_BYTES);
    for (let index = bytes.byteLength / CELL_BYTES - 1; index >= 0; index--) this.#vacant.push(index);
  }

  /** A cell for an account, with the amount 0. Without room in the table the keeper cannot read the cell. */
  claim(account: string): Cell {
    const length = Buffer.byteLength(account);
    const index = length <= CELL_BYTES - NAME_AT ? this.#vacant.pop() : undefined;
    if (index === undefined) return { numbers: new Float64Array(1), at: 0 };
    const begin = index * CELL_BYTES;
    const at = begin / FLOAT_BYTES;
    this.#numbers[at] = 0;
    this.#bytes.write(account, begin + NAME_AT);
    // Last: a cell without a length does not count.
    this.#bytes.writeUInt16LE(length, begin + FLOAT_BYTES);
    return { numbers: this.#numbers, at };
  }

  /** Makes room for another account. */
  release({ numbers, at }: Cell): void {
    if (numbers !== this.#numbers) return;
    const begin = at * FLOAT_BYTES;
    this.#bytes.writeUInt16LE(0, begin + FLOAT_BYTES);
    this.#vacant.push(begin / CELL_BYTES);
  }
}

/** The amounts in a table by account. @param bytes as {@link CellTable} wrote them, perhaps in another process */
export function readCells(bytes: Uint8Array): Map<string, number> {
  const table = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const found = new Map<string, number>();
  for (let begin = 0; begin + CELL_BYTES <= bytes.byteLength; begin += CELL_BYTES) {
    const length = table.readUInt16LE(begin + FLOAT_BYTES);
    if (length === 0 || length > CELL_BYTES - NAME_AT) continue;
    const account = table.toString("utf8", begin + NAME_AT, begin + NAME_AT + length);
    found.set(account, view.getFloat64(begin, IS_LITTLE_ENDIAN));
  }
  return found;
}

const IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;
