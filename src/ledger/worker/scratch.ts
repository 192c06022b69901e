/** Memory in which entries of a batch are written before they are copied to where they stay. */
import { ENTRY_WORDS, TEXT_BITS, TEXT_SHIFT } from "../layout.ts";

const FIRST_BYTES = 8 * 1024;
const LATIN = 0xff;
const WORD = 4;

/** The two words of a number of 8 bytes, for places that are no multiples of 8. */
const number = new Float64Array(1);
const halves = new Int32Array(number.buffer);

export class Scratch {
  words = new Int32Array(FIRST_BYTES / WORD);
  numbers = new Float64Array(this.words.buffer);
  #bytes = new Uint8Array(this.words.buffer);

  /** Makes room for an entry. Its content stays. */
  reserve(bytes: number): void {
    if (bytes <= this.#bytes.length) return;
    const grown = new Uint8Array(2 ** Math.ceil(Math.log2(bytes)));
    grown.set(this.#bytes);
    this.#bytes = grown;
    this.words = new Int32Array(grown.buffer);
    this.numbers = new Float64Array(grown.buffer);
  }

  /** Writes a text. @param at a multiple of 4 @param bits of {@link TEXT_BITS} @returns where the next content begins */
  text(text: string, at: number, bits = 0): number {
    const { length } = text;
    this.reserve(at + WORD + 2 * length + 2 * WORD);
    const bytes = this.#bytes;
    const start = at + WORD;
    for (let index = 0; index < length; index++) {
      const unit = text.charCodeAt(index);
      if (unit > LATIN) return this.#wide(text, at, bits);
      bytes[start + index] = unit;
    }
    this.words[at >> 2] = (length << TEXT_SHIFT) | bits;
    return (start + length + 3) & ~3;
  }

  #wide(text: string, at: number, bits: number): number {
    const { length } = text;
    const start = at + WORD;
    for (let index = 0; index < length; index++) {
      const unit = text.charCodeAt(index);
      this.#bytes[start + 2 * index] = unit & LATIN;
      this.#bytes[start + 2 * index + 1] = unit >> 8;
    }
    this.words[at >> 2] = (length << TEXT_SHIFT) | bits | TEXT_BITS.wide;
    return (start + 2 * length + 3) & ~3;
  }

  /** Writes a number of 8 bytes. @param at a multiple of 4 @returns where the next content begins */
  number(value: number, at: number): number {
    number[0] = value;
    this.words[at >> 2] = halves[0]!;
    this.words[(at >> 2) + 1] = halves[1]!;
    return at + 2 * WORD;
  }

  /** Writes the head of an entry. @param end of its content @returns its length in words */
  close(kind: number, end: number): number {
    const length = (end + 7) & ~7;
    this.words[0] = length;
    this.words[1] = kind;
    return length >> 2;
  }

  /** Writes an entry that is one text. @returns its length in words */
  textEntry(kind: number, text: string): number {
    return this.close(kind, this.text(text, ENTRY_WORDS * WORD));
  }
}
