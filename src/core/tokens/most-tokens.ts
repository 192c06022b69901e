/**
 * The most tokens that a text can be for a provider: an upper bound, for what is held of a budget while nothing has been
 * counted. A text is read in one pass, by kinds of characters. The weights are a fit to o200k_base and cl100k_base, whichever
 * counts more. They are 64ths, so that sums are exact: they do not depend on the order of the texts.
 */
import { JOINTS } from "./joints.ts";
import { MOST_TOKENS_WASM } from "./most-tokens-wasm.ts";

/** Letters of ASCII; digits; punctuation and white space; all other characters. */
export const TEXT_KINDS = ["words", "digits", "signs", "scripts"] as const;
export type TextKind = (typeof TEXT_KINDS)[number];

/** Tokens of a text by its kinds of characters. */
export type TextTokens = Record<TextKind, number>;

/** Classes of characters. All that is not ASCII has the first one, as has the beginning of a text. */
const NONE = 0;
const SMALL = 1;
const CAPITAL = 2;
const DIGIT = 3;
const SPACE = 4;
/** White space other than a space. */
const BLANK = 5;
const SIGN = 6;

/** Class of each ASCII character. */
const CLASSES = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[a-z]/.test(character)) return SMALL;
  if (/[A-Z]/.test(character)) return CAPITAL;
  if (/[0-9]/.test(character)) return DIGIT;
  if (character === " ") return SPACE;
  return /\s/.test(character) ? BLANK : SIGN;
});

/** The letter of each ASCII character, a and A are 0; 0 for all others. */
const LETTER_OF = CLASSES.map((kind, code) =>
  kind === SMALL || kind === CAPITAL ? (code | 0x20) - 0x61 : 0,
);

/** One token: the unit of all weights is its 64th. */
const ONE = 64;
/** Extra tokens for a letter in a word of capitals. */
const CAPITALS = 13;
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
function weights(): Uint8Array {
  const table = new Uint8Array(0x10000).fill(3 * ONE);
  table.fill(2 * ONE, 0, 0x800);
  // Two surrogates have four bytes.
  table.fill(2 * ONE, 0xd800, 0xe000);
  for (const [from, to, tokens] of SCRIPTS) table.fill(tokens * ONE, from, to + 1);
  return table;
}

/** Bytes of a step: words, digits and signs, and all bits where a letter goes on with a word, else none. */
const STEP_BYTES = 16;

/**
 * What a character adds, by its class, the class of the character before it, and whether either of the two equals the one before.
 * Tables in place of branches: a processor cannot predict which kind of character follows.
 */
const STEPS = new Int32Array((256 * STEP_BYTES) / 4);

for (let before = NONE; before <= SIGN; before++)
  for (let kind = SMALL; kind <= SIGN; kind++)
    for (let repeats = 0; repeats < 4; repeats++)
      STEPS.set(stepOf(before, kind, repeats), ((before << 5) | (kind << 2) | repeats) * (STEP_BYTES / 4));

/** @param repeats 2 if the character before equals the one before it, plus 1 if this one equals the character before */
function stepOf(before: number, kind: number, repeats: number): number[] {
  // A single space belongs to the word or the sign behind it, but not to a number, and not to a script without tokens.
  const space = before === SPACE && repeats < 2 ? ONE : 0;
  switch (kind) {
    case SMALL:
    case CAPITAL: {
      const joins = before === CAPITAL || (before === SMALL && kind === SMALL);
      if (joins) return [kind === CAPITAL ? CAPITALS : 0, 0, 0, -1];
      const isWithin = before === SMALL || before === DIGIT;
      return [before === SIGN ? WORD_AFTER_SIGN : isWithin ? WORD_WITHIN : ONE, 0, -space, 0];
    }
    case DIGIT:
      return [0, ONE, 0, 0];
    case SIGN:
      return [0, 0, (before !== SIGN ? ONE : repeats === 3 ? SAME_SIGN : NEXT_SIGN) - space, 0];
    default:
      return [0, 0, (repeats & 1) === 1 ? SAME_BLANK : ONE, 0];
  }
}

/** Places in the memory of `most-tokens.wat`. Bytes. */
const LETTERS_AT = 128;
const SUMS_AT = 256;
const STEPS_AT = 1024;
const JOINTS_AT = 8192;
const WEIGHTS_AT = 0x10000;
const TEXT_AT = 0x20000;
/** Most characters that are counted at once. */
const MOST_CHARACTERS = 0x10000;
/** Up to this length a text is copied by a loop. Characters. */
const SHORT = 40;

/** The module `most-tokens.wat`, with the tables in its memory. */
class Machine {
  readonly count: (state: number, at: number, end: number) => number;
  readonly sums: Int32Array;
  readonly #text: Uint16Array;
  readonly #bytes: Buffer;

  constructor() {
    const module = new WebAssembly.Module(Buffer.from(MOST_TOKENS_WASM, "base64"));
    const { memory, count } = new WebAssembly.Instance(module).exports as unknown as {
      memory: WebAssembly.Memory;
      count: Machine["count"];
    };
    this.count = count;
    const bytes = new Uint8Array(memory.buffer);
    bytes.set(CLASSES);
    bytes.set(LETTER_OF, LETTERS_AT);
    bytes.set(new Uint8Array(STEPS.buffer), STEPS_AT);
    bytes.set(JOINTS, JOINTS_AT);
    bytes.set(weights(), WEIGHTS_AT);
    this.sums = new Int32Array(memory.buffer, SUMS_AT, 4);
    this.#text = new Uint16Array(memory.buffer, TEXT_AT, MOST_CHARACTERS);
    this.#bytes = Buffer.from(memory.buffer, TEXT_AT, MOST_CHARACTERS * 2);
  }

  /** Counts a text of at most {@link MOST_CHARACTERS}. @returns the state behind it */
  read(state: number, text: string): number {
    const { length } = text;
    if (length > SHORT) this.#bytes.write(text, "utf16le");
    else {
      const units = this.#text;
      for (let at = 0; at < length; at++) units[at] = text.charCodeAt(at);
    }
    return this.count(state, TEXT_AT, TEXT_AT + 2 * length);
  }
}

/** Made with the first text: most starts count none. */
let machine: Machine | undefined;

/** The state before a text: no class, and a character before that equals no code. The lowest 13 bits are the other parts. */
const BEGINNING = 0x10000 << 13;

/** Counts texts. One text may arrive in pieces: the sums are those of the whole text. */
export class MostTokens implements TextTokens {
  /** 64ths. */
  #words = 0;
  #digits = 0;
  #signs = 0;
  #scripts = 0;
  #state = BEGINNING;

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
  get total(): number {
    return (this.#words + this.#digits + this.#signs + this.#scripts) / ONE;
  }

  /** The next addition belongs to another text. */
  next(): void {
    this.#state = BEGINNING;
  }

  add(text: string): void {
    for (let at = 0; at < text.length; at += MOST_CHARACTERS)
      this.#add(text.length <= MOST_CHARACTERS ? text : text.slice(at, at + MOST_CHARACTERS));
  }

  /** Adds what was counted of another text. The next addition belongs to a text of its own. */
  addCounted(other: MostTokens): void {
    this.next();
    this.#words += other.#words;
    this.#digits += other.#digits;
    this.#signs += other.#signs;
    this.#scripts += other.#scripts;
  }

  #add(piece: string): void {
    machine ??= new Machine();
    this.#state = machine.read(this.#state, piece);
    const { sums } = machine;
    this.#words += sums[0]!;
    this.#digits += sums[1]!;
    this.#signs += sums[2]!;
    this.#scripts += sums[3]!;
  }
}

/** The most tokens of one text. */
export function mostTokens(text: string): number {
  const counted = new MostTokens();
  counted.add(text);
  return counted.total;
}
