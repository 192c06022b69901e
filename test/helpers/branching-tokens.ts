/** The count of the most tokens as one loop with a branch for each kind of character: what the tables must agree with. */
import { JOINTS, LETTERS } from "../../src/core/tokens/joints.ts";

const LETTER = 1;
const DIGIT = 2;
const SIGN = 3;
const BLANK = 4;

/** Kind of each ASCII character. */
const KINDS = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[A-Za-z]/.test(character)) return LETTER;
  if (/[0-9]/.test(character)) return DIGIT;
  return /\s/.test(character) ? BLANK : SIGN;
});

const NONE = 0;
const SPACE = 0x20;
const BIG_A = 0x41;
const SMALL_A = 0x61;
const SMALL_Z = 0x7a;
/** The bit in which a small letter differs from its capital. */
const SMALL = 0x20;

/** One token: the unit of all weights is its 64th. */
const ONE = 64;
/** Extra tokens for a letter in a word of capitals. */
const CAPITALS = 13;
/** Longer words have no token for all their letters: each further one costs at least this. */
const LONGEST_USUAL = 12;
const UNUSUALLY_LONG = 20;
/** A sign behind another one, and one of a row of the same sign. */
const NEXT_SIGN = 46;
const SAME_SIGN = 32;
/** One of a row of the same blank. */
const SAME_BLANK = 8;
/** A word directly behind a sign: many tokens consist of both. */
const WORD_AFTER_SIGN = 38;
/** A word that a capital begins behind a small letter, or any behind a digit. */
const WORD_WITHIN = 74;

/** First and last character of a script, and the tokens of each of its UTF-16 code units, where they are fewer than its bytes. */
const SCRIPTS: readonly (readonly [from: number, to: number, tokens: number])[] = [
  // Latin with marks.
  [0xc0, 0x17f, 1.125],
  [0x1ea0, 0x1ef9, 2.25],
  // Greek.
  [0x370, 0x3ff, 1.375],
  // Cyrillic: the letters of Russian, and those of other languages.
  [0x400, 0x4ff, 1.875],
  [0x410, 0x44f, 0.6875],
  // Hebrew.
  [0x590, 0x5ff, 1.4375],
  // Arabic, and its letters of other languages.
  [0x600, 0x64f, 1.0625],
  [0x650, 0x6ff, 1.875],
  // Devanagari, Bengali, Tamil, Malayalam, Thai, Khmer.
  [0x900, 0x97f, 1.5],
  [0x980, 0x9ff, 1.75],
  [0xb80, 0xbff, 1.9375],
  [0xd00, 0xd7f, 2.625],
  [0xe00, 0xe7f, 1.3125],
  [0x1780, 0x17ff, 2.375],
  // Punctuation and kana, Chinese, Korean, full-width forms.
  [0x2010, 0x2026, 1.5],
  [0x3000, 0x30ff, 1.375],
  [0x4e00, 0x9fff, 1.8125],
  [0xac00, 0xd7a3, 1.6875],
  [0xff00, 0xffef, 2],
];

/** 64ths of a token of each UTF-16 code unit. No tokenizer makes more of a character than it has bytes in UTF-8. */
const WEIGHTS = weights();
/** Scripts whose characters have the weight of their bytes have no tokens of their own. */
const NO_TOKENS = 2 * ONE;

function weights(): Uint8Array {
  const table = new Uint8Array(0x10000).fill(3 * ONE);
  table.fill(2 * ONE, 0, 0x800);
  // Two surrogates have four bytes.
  table.fill(2 * ONE, 0xd800, 0xe000);
  for (const [from, to, tokens] of SCRIPTS) table.fill(tokens * ONE, from, to + 1);
  return table;
}

/** Counts texts. One text may arrive in pieces: the sums are those of the whole text. */
export class BranchingTokens {
  /** 64ths. */
  #words = 0;
  #digits = 0;
  #signs = 0;
  #scripts = 0;
  /** Kind and code of the last character. */
  #kind = NONE;
  #last = -1;
  /** Of a letter: whether it was a capital, and the letter before it in the word, from 1; 0 if there is none. */
  #isCapital = false;
  #before = 0;
  /** How often the last character is in a row; of letters, how many the word has. */
  #row = 0;

  get words(): number {
    return this.#words / ONE;
  }
  get digits(): number {
    return this.#digits / ONE;
  }
  get signs(): number {
    return this.#signs / ONE;
  }
  get scripts(): number {
    return this.#scripts / ONE;
  }
  /** The next addition belongs to another text. */
  next(): void {
    this.#kind = NONE;
    this.#last = -1;
    this.#row = 0;
  }

  add(text: string): void {
    let words = 0;
    let digits = 0;
    let signs = 0;
    let scripts = 0;
    let kind = this.#kind;
    let last = this.#last;
    let isCapital = this.#isCapital;
    let before = this.#before;
    let row = this.#row;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      // Small letters within a word: most of most texts.
      if (kind === LETTER && code >= SMALL_A && code <= SMALL_Z) {
        let first = (last | SMALL) - SMALL_A;
        let second = code - SMALL_A;
        for (;;) {
          const joint = JOINTS[(before * LETTERS + first) * LETTERS + second]!;
          words += ++row > LONGEST_USUAL && joint < UNUSUALLY_LONG ? UNUSUALLY_LONG : joint;
          before = first + 1;
          first = second;
          if (at + 1 === text.length) break;
          second = text.charCodeAt(at + 1) - SMALL_A;
          if (second < 0 || second >= LETTERS) break;
          at++;
        }
        isCapital = false;
        last = first + SMALL_A;
        continue;
      }
      const now = code < 0x80 ? KINDS[code]! : NONE;
      if (now === LETTER && kind === LETTER) {
        if (isCapital) {
          const first = last - BIG_A;
          const joint = JOINTS[(before * LETTERS + first) * LETTERS + code - BIG_A]!;
          words += CAPITALS + (++row > LONGEST_USUAL && joint < UNUSUALLY_LONG ? UNUSUALLY_LONG : joint);
          before = first + 1;
        } else {
          words += WORD_WITHIN;
          before = 0;
          row = 1;
        }
        isCapital = true;
        last = code;
        continue;
      }
      // A single space belongs to the word or the sign behind it, but not to a number, and not to a script without tokens.
      const isSpaced = last === SPACE && row === 1;
      if (now === LETTER) {
        if (isSpaced) signs -= ONE;
        words += kind === SIGN ? WORD_AFTER_SIGN : kind === DIGIT ? WORD_WITHIN : ONE;
        before = 0;
        row = 1;
        isCapital = code < SMALL_A;
      } else if (now === DIGIT) digits += ONE;
      else if (now === NONE) {
        const weight = WEIGHTS[code]!;
        scripts += weight;
        if (isSpaced && weight < NO_TOKENS) signs -= ONE;
      } else {
        row = code === last ? row + 1 : 1;
        if (now === BLANK) signs += row > 1 ? SAME_BLANK : ONE;
        else {
          if (isSpaced) signs -= ONE;
          signs += kind !== SIGN ? ONE : row > 2 ? SAME_SIGN : NEXT_SIGN;
        }
      }
      kind = now;
      last = code;
    }
    this.#words += words;
    this.#digits += digits;
    this.#signs += signs;
    this.#scripts += scripts;
    this.#kind = kind;
    this.#last = last;
    this.#isCapital = isCapital;
    this.#before = before;
    this.#row = row;
  }
}
