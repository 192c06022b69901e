/** Expressions of digits as tables: all beginnings of a number are judged in one pass, and no strings are made. */

/** A set of digits, a bit for each; a row, alternatives, or a repetition of others. */
type Expression =
  | { readonly digits: number }
  | { readonly row: readonly Expression[] }
  | { readonly either: readonly Expression[] }
  | { readonly of: Expression; readonly least: number; readonly most: number };

const ALL = 0x3ff;
/** Lengths are bits of integers. */
const LONGEST = 30;
/** Nothing goes on from it. */
const DEAD = 0;
const BEGIN = 1;
const UNKNOWN = -1;
/** The end of an expression. */
const END = 0;

/** Cells of the table are made when they are met first: numbers meet few of them. */
export class DigitTable {
  /** What is read next in a place of the expression, and the places behind it. */
  readonly #digits: number[] = [0];
  readonly #behind: (readonly number[])[] = [[]];
  /** States of the table: sets of places. */
  readonly #places: (readonly number[])[] = [];
  readonly #known = new Map<string, number>();
  /** By state and digit: the next state. */
  readonly #next: number[] = [];
  /** By state: 1 where the expression can end. */
  readonly #isWhole: number[] = [];
  /** A bit for each length, up to 30, that numbers can have. */
  readonly possible: number;

  /** @param pattern of digits, classes of them, groups, alternatives, `?`, `{2}` and `{2,3}` */
  constructor(pattern: string) {
    const first = this.#compile(new Reader(pattern).read(), [END]);
    this.#stateOf([]);
    this.#stateOf(first);
    this.possible = this.#lengthsFrom(first);
  }

  /** @returns a bit for each length, up to 30, that a number beginning at a place can have */
  lengths(digits: Uint8Array, from: number, to: number): number {
    let lengths = 0;
    let state = BEGIN;
    for (let at = from; at < to; at++) {
      const digit = digits[at]!;
      const known = this.#next[state * 10 + digit]!;
      state = known === UNKNOWN ? this.#step(state, digit) : known;
      if (state === DEAD) break;
      lengths |= this.#isWhole[state]! << (at + 1 - from);
    }
    return lengths;
  }

  #lengthsFrom(first: readonly number[]): number {
    let lengths = 0;
    let places = new Set(first);
    for (let length = 0; length <= LONGEST && places.size > 0; length++) {
      if (places.has(END)) lengths |= 1 << length;
      places = new Set([...places].flatMap((place) => this.#behind[place]!));
    }
    return lengths;
  }

  #step(state: number, digit: number): number {
    const places = new Set<number>();
    for (const place of this.#places[state]!)
      if ((this.#digits[place]! & (1 << digit)) !== 0)
        for (const behind of this.#behind[place]!) places.add(behind);
    const next = this.#stateOf([...places]);
    this.#next[state * 10 + digit] = next;
    return next;
  }

  #stateOf(places: readonly number[]): number {
    const sorted = [...new Set(places)].sort((one, other) => one - other);
    const key = sorted.join();
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const state = this.#places.push(sorted) - 1;
    this.#known.set(key, state);
    this.#isWhole.push(sorted[0] === END ? 1 : 0);
    for (let digit = 0; digit < 10; digit++) this.#next.push(UNKNOWN);
    return state;
  }

  /** @param behind places that follow @returns places with which the expression begins */
  #compile(expression: Expression, behind: readonly number[]): readonly number[] {
    if ("digits" in expression) {
      this.#behind.push(behind);
      return [this.#digits.push(expression.digits) - 1];
    }
    if ("row" in expression)
      return expression.row.reduceRight((next, one) => this.#compile(one, next), behind);
    if ("either" in expression) return expression.either.flatMap((one) => this.#compile(one, behind));
    let next = behind;
    for (let count = expression.most; count > 0; count--) {
      const begin = this.#compile(expression.of, next);
      next = count > expression.least ? [...begin, ...behind] : begin;
    }
    return next;
  }
}

/** Reads a pattern. */
class Reader {
  readonly #pattern: string;
  #at = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  read(): Expression {
    const either: Expression[] = [this.#row()];
    while (this.#takes("|")) either.push(this.#row());
    return { either };
  }

  #row(): Expression {
    const row: Expression[] = [];
    while (this.#at < this.#pattern.length && !/[|)]/.test(this.#pattern[this.#at]!))
      row.push(this.#repeated(this.#one()));
    return { row };
  }

  #one(): Expression {
    if (this.#takes("(?:")) {
      const inner = this.read();
      this.#at++;
      return inner;
    }
    if (this.#takes("\\d")) return { digits: ALL };
    const set = this.#match(/\[([\d-]+)\]|\d/y);
    if (!set) throw new Error(`cannot read ${this.#pattern} from ${this.#at} on`);
    const has = new RegExp(`^${set[0]}$`);
    let digits = 0;
    for (let digit = 0; digit < 10; digit++) if (has.test(`${digit}`)) digits |= 1 << digit;
    return { digits };
  }

  #repeated(of: Expression): Expression {
    if (this.#takes("?")) return { of, least: 0, most: 1 };
    const counts = this.#match(/\{(\d+)(?:,(\d+))?\}/y);
    return counts ? { of, least: Number(counts[1]), most: Number(counts[2] ?? counts[1]) } : of;
  }

  #takes(text: string): boolean {
    const isHere = this.#pattern.startsWith(text, this.#at);
    if (isHere) this.#at += text.length;
    return isHere;
  }

  /** @param expression with the flag `y` */
  #match(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.#at;
    const match = expression.exec(this.#pattern);
    if (match) this.#at = expression.lastIndex;
    return match;
  }
}
