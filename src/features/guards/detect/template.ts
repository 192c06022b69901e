/** Values of a fixed length, by templates: `999-99-9999`. */
import { isAlnum, isDigit, isHex, isLetter, isWord } from "./classes.ts";
import type { Detector, Finding } from "./detector.ts";

/** `9` is a digit, `A` a letter, `H` a hexadecimal digit, `X` a letter or a digit; all else stands for itself. */
const CLASSES: Readonly<Record<string, (code: number) => boolean>> = {
  9: isDigit,
  A: isLetter,
  H: isHex,
  X: isAlnum,
};

export interface Templated {
  readonly name: string;
  readonly kind: string;
  readonly templates: readonly string[];
  /** @param value letters and digits alone, in upper case */
  check(value: string): boolean;
  /** Default: letters and digits alone, in upper case. */
  normal?(value: string): string;
}

export function templateDetector({ name, kind, templates, check, normal }: Templated): Detector {
  const made = new Templates(templates);
  return {
    name,
    kind,
    find(text, from = 0) {
      const found: Finding[] = [];
      for (let at = from; at < text.length; at++) {
        if (!made.mayBegin(text.charCodeAt(at)) || !beginsAt(text, at)) continue;
        const end = made.end(text, at, check);
        if (end === 0) continue;
        found.push({ start: at, end, kind });
        at = end - 1;
      }
      return found;
    },
    reach(text) {
      // What joins parts of longer numbers decides with what follows it.
      const rest = isJoint(text.charCodeAt(text.length - 1)) ? text.slice(0, -1) : text;
      for (let at = Math.max(0, rest.length - made.longest); at < rest.length; at++)
        if (beginsAt(text, at) && (made.goesOn(text, at) || made.goesOn(rest, at))) return at;
      return text.length;
    },
    normal: (value) => (normal ? normal(plain(value)) : plain(value)),
  };
}

/** Several templates, each of which is a bit. */
class Templates {
  readonly longest: number;
  readonly #all: number;
  /** By place and character: the templates that have it there. */
  readonly #masks: readonly Uint8Array[];
  /** By length: the templates that have it. */
  readonly #ends: Uint8Array;

  constructor(templates: readonly string[]) {
    this.longest = Math.max(...templates.map(({ length }) => length));
    this.#all = (1 << templates.length) - 1;
    const has = (char: string | undefined, code: number) =>
      char !== undefined && (CLASSES[char]?.(code) ?? char.charCodeAt(0) === code);
    this.#masks = Array.from({ length: this.longest }, (_, place) =>
      Uint8Array.from({ length: 128 }, (_, code) =>
        templates.reduce((mask, one, bit) => mask | (has(one[place], code) ? 1 << bit : 0), 0),
      ),
    );
    this.#ends = new Uint8Array(this.longest + 1);
    for (const [bit, { length }] of templates.entries()) this.#ends[length]! |= 1 << bit;
  }

  mayBegin(code: number): boolean {
    return code < 128 && this.#masks[0]![code] !== 0;
  }

  /** @returns 0: there is no value here */
  end(text: string, from: number, check: Templated["check"]): number {
    let alive = this.#all;
    for (let at = from; alive > 0;) {
      const code = text.charCodeAt(at);
      const mask = this.#masks[at - from];
      alive &= mask !== undefined && code < 128 ? mask[code]! : 0;
      at++;
      const isWhole = (alive & this.#ends[at - from]!) > 0;
      if (isWhole && endsAt(text, at) && check(plain(text.slice(from, at)))) return at;
    }
    return 0;
  }

  /** Whether the rest of a text is a beginning of a value, or one that may be a part of something else. */
  goesOn(text: string, from: number): boolean {
    let alive = this.#all;
    for (let at = from; at < text.length && alive > 0; at++) {
      const code = text.charCodeAt(at);
      const mask = this.#masks[at - from];
      alive &= mask !== undefined && code < 128 ? mask[code]! : 0;
    }
    return alive > 0;
  }
}

const plain = (value: string) => value.replace(/[^A-Za-z0-9]/g, "").toUpperCase();

/** Whether a value may begin here: a word or a number does, and does not go on from the left. */
function beginsAt(text: string, at: number): boolean {
  if (!isAlnum(text.charCodeAt(at))) return false;
  const before = text.charCodeAt(at - 1);
  return !isWord(before) && !(isJoint(before) && isAlnum(text.charCodeAt(at - 2)));
}

/** `.-:`: what joins the parts of longer numbers. */
const isJoint = (code: number) => code === 0x2d || code === 0x2e || code === 0x3a;

/** Whether a value can end here: no word and no longer number goes on. */
function endsAt(text: string, end: number): boolean {
  const behind = text.charCodeAt(end);
  return !isWord(behind) && !(isJoint(behind) && isAlnum(text.charCodeAt(end + 1)));
}
