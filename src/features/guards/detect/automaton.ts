/**
 * Finds many words in one pass (Aho and Corasick, 1975), whatever their case. A cell of the table is made when it is met first:
 * texts meet few of them.
 */
import { byBlock } from "./classes.ts";

/** Cells of the table: 16 MiB. Of more states than it has room for, the others are computed each time. */
const MOST_CELLS = 4_194_304;

const MOST_ROW = 2 ** 31;

/** A character without its case, if that has the same length. */
const lowered = byBlock((char) => {
  const lower = char.toLowerCase();
  return lower.length === char.length ? lower.charCodeAt(0) : char.charCodeAt(0);
});

export class Automaton {
  readonly words: readonly string[];
  /** A number for each character of the words, by its code; 0: it is in none. */
  readonly #ascii = new Uint16Array(128);
  readonly #others = new Map<number, number>();
  #classes = 1;
  readonly #children: Map<number, number>[] = [new Map()];
  readonly #fails: number[] = [0];
  readonly #depths: number[] = [0];
  /** The words that end in a state. */
  readonly #ends: (readonly number[])[] = [[]];
  /** States by their rows of the table: those in which a word ends come last, so that a row tells it. */
  readonly #states: readonly number[];
  /** Where the row of each state begins. */
  readonly #rows: number[];
  /** The first row in which a word ends. */
  readonly #firstEnd: number;
  /** By row and class: the next row. -1: it is not known yet. */
  readonly #table: Int32Array;

  constructor(words: Iterable<string>) {
    this.words = [...words];
    for (const [number, word] of this.words.entries()) this.#add(word, number);
    this.#link();
    this.#table = new Int32Array(Math.min(MOST_CELLS, this.#ends.length * this.#classes)).fill(-1);
    const states = [...this.#ends.keys()];
    const isEnd = (state: number) => state > 0 && this.#ends[state]!.length > 0;
    const inner = states.filter((state) => !isEnd(state));
    this.#states = [...inner, ...states.filter(isEnd)];
    this.#firstEnd = inner.length * this.#classes;
    // No typed array of floats: rows are integers, and stay that in compiled code.
    this.#rows = states.map(() => 0);
    for (const [row, state] of this.#states.entries()) this.#rows[state] = row * this.#classes;
  }

  /** @param hit gets the number of a word and the position behind it, in the order of these */
  find(text: string, from: number, hit: (word: number, end: number) => void): void {
    const table = this.#table;
    const ascii = this.#ascii;
    const firstEnd = this.#firstEnd;
    let row = 0;
    for (let at = from; at < text.length; at++) {
      const code = text.charCodeAt(at);
      const one = code < 128 ? ascii[code]! : this.#beyondAscii(code);
      const known = table[row + one]!;
      row = known >= 0 ? known : this.#transition(row, one);
      if (row >= firstEnd) for (const word of this.#endsIn(row)) hit(word, at + 1);
    }
  }

  has(text: string): boolean {
    const table = this.#table;
    const ascii = this.#ascii;
    const firstEnd = this.#firstEnd;
    let row = 0;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      const one = code < 128 ? ascii[code]! : this.#beyondAscii(code);
      const known = table[row + one]!;
      row = known >= 0 ? known : this.#transition(row, one);
      if (row >= firstEnd) return true;
    }
    return false;
  }

  /** Length of the longest end of a text with which a word begins. */
  begun(text: string, from: number): number {
    let row = 0;
    for (let at = from; at < text.length; at++) {
      const code = text.charCodeAt(at);
      const one = code < 128 ? this.#ascii[code]! : this.#beyondAscii(code);
      const known = this.#table[row + one]!;
      row = known >= 0 ? known : this.#transition(row, one);
    }
    return this.#depths[this.#states[row / this.#classes]!]!;
  }

  #endsIn(row: number): readonly number[] {
    return this.#ends[this.#states[row / this.#classes]!]!;
  }

  #beyondAscii(code: number): number {
    return this.#others.size === 0 ? 0 : (this.#others.get(lowered(code)) ?? 0);
  }

  #add(word: string, number: number): void {
    let state = 0;
    for (let at = 0; at < word.length; at++) {
      const one = this.#classOf(lowered(word.charCodeAt(at)));
      let next = this.#children[state]!.get(one);
      if (next === undefined) {
        next = this.#children.push(new Map()) - 1;
        this.#children[state]!.set(one, next);
        this.#depths.push(at + 1);
        this.#ends.push([]);
      }
      state = next;
    }
    this.#ends[state] = [...this.#ends[state]!, number];
  }

  #classOf(code: number): number {
    const known = code < 128 ? this.#ascii[code]! : (this.#others.get(code) ?? 0);
    if (known > 0) return known;
    const one = this.#classes++;
    if (code >= 128) this.#others.set(code, one);
    else {
      this.#ascii[code] = one;
      if (code >= 97 && code < 123) this.#ascii[code - 32] = one;
    }
    return one;
  }

  /** For each state: the longest end of its word that is a beginning of another one. Breadth first: shorter ones are known. */
  #link(): void {
    const queue = [...this.#children[0]!.values()];
    for (const state of queue) this.#fails[state] = 0;
    for (let at = 0; at < queue.length; at++) {
      const state = queue[at]!;
      for (const [one, child] of this.#children[state]!) {
        queue.push(child);
        let fail = this.#fails[state]!;
        while (fail > 0 && !this.#children[fail]!.has(one)) fail = this.#fails[fail]!;
        this.#fails[child] = this.#children[fail]!.get(one) ?? 0;
      }
      const inherited = this.#ends[this.#fails[state]!]!;
      if (inherited.length > 0) this.#ends[state] = [...this.#ends[state]!, ...inherited];
    }
  }

  #transition(row: number, one: number): number {
    let from = this.#states[row / this.#classes]!;
    let next = this.#children[from]!.get(one);
    while (next === undefined && from > 0) {
      from = this.#fails[from]!;
      next = this.#children[from]!.get(one);
    }
    const found = this.#rows[next ?? 0]!;
    // Out of its bounds an array keeps nothing, and a larger row is no integer of 32 bits.
    if (row + one < this.#table.length && found < MOST_ROW) this.#table[row + one] = found;
    return found;
  }
}
