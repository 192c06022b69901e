/** A text of which parts are written in another way, with the places of its characters in the original. */
export class Rewritten {
  readonly #original: string;
  #units: Uint16Array<ArrayBuffer>;
  #bytes: Buffer;
  #length = 0;
  #copied = 0;
  /** Where the part that is being written begins, in the original and here. */
  #start = 0;
  #first = 0;
  /** Where a position in the text jumps: there, the original's, and whether the following ones have the same. */
  #places: Int32Array<ArrayBuffer> = new Int32Array(0);
  #count = 0;
  #text: string | undefined;

  constructor(original: string) {
    this.#original = original;
    this.#units = new Uint16Array(original.length + 64);
    this.#bytes = Buffer.from(this.#units.buffer);
  }

  /** The original from `start` to `end` is written as another text. In the order of the original. */
  put(start: number, end: number, written: string): void {
    this.begin(start);
    for (let at = 0; at < written.length; at++) this.unit(written.charCodeAt(at));
    this.end(end);
  }

  /** Takes over the original up to here: what is written until {@link end} stands there. */
  begin(start: number): void {
    this.#copy(start);
    this.#start = start;
    this.#first = this.#length;
  }
  unit(code: number): void {
    this.#units = roomFor(this.#units, this.#length + 1);
    this.#units[this.#length++] = code;
  }

  /** @param end of what it replaces in the original */
  end(end: number): void {
    const isSame = this.#length - this.#first === end - this.#start;
    if (!isSame) {
      this.#note(this.#first, this.#start, 0);
      this.#note(this.#length, end, 1);
    }
    this.#copied = end;
  }

  finish(): this {
    this.#copy(this.#original.length);
    this.#text = Buffer.from(this.#units.buffer, 0, this.#length * 2).toString("utf16le");
    return this;
  }

  get text(): string {
    return this.#text ?? this.#original;
  }

  /** Place in the original. All characters of a written part have that of its beginning, unless it has the same length. */
  at(at: number): number {
    let low = 0;
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#places[middle * 3]! <= at) low = middle + 1;
      else high = middle;
    }
    if (low === 0) return at;
    const found = (low - 1) * 3;
    return this.#places[found + 1]! + (at - this.#places[found]!) * this.#places[found + 2]!;
  }

  #copy(to: number): void {
    const from = this.#copied;
    this.#units = roomFor(this.#units, this.#length + to - from);
    if (to - from > SHORT) {
      if (this.#bytes.buffer !== this.#units.buffer) this.#bytes = Buffer.from(this.#units.buffer);
      this.#bytes.write(this.#original.slice(from, to), this.#length * 2, "utf16le");
      this.#length += to - from;
    } else for (let at = from; at < to; at++) this.#units[this.#length++] = this.#original.charCodeAt(at);
    this.#copied = to;
  }

  #note(at: number, original: number, step: number): void {
    // A part that follows on another one replaces what that one noted for its end.
    if (this.#count > 0 && this.#places[this.#count * 3 - 3] === at) this.#count--;
    this.#places = roomFor(this.#places, this.#count * 3 + 3);
    const place = this.#count++ * 3;
    this.#places[place] = at;
    this.#places[place + 1] = original;
    this.#places[place + 2] = step;
  }
}

/** Parts that are copied faster unit by unit. */
const SHORT = 48;

/** @returns the array, or a larger one with the same beginning */
function roomFor<Units extends Uint16Array<ArrayBuffer> | Int32Array<ArrayBuffer>>(
  units: Units,
  length: number,
): Units {
  if (length <= units.length) return units;
  const larger = new (units.constructor as new (length: number) => Units)(Math.max(64, length * 2));
  larger.set(units);
  return larger;
}
