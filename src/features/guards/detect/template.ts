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
  /** @param codes of the letters and digits alone, in upper case: as many as a template has */
  check(codes: Uint8Array): boolean;
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
      const { roles } = made;
      let before = from > 0 ? roleOf(roles, text.charCodeAt(from - 1)) : 0;
      for (let at = from; at < text.length; at++) {
        const role = roleOf(roles, text.charCodeAt(at));
        const isFirst = (before & PART) === 0 && (role & FIRST) !== 0;
        before = role;
        if (!isFirst || !beginsAt(text, at)) continue;
        const end = made.end(text, at, check);
        if (end === 0) continue;
        found.push({ start: at, end, kind });
        at = end - 1;
        before = PART;
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

/** Characters that templates know: those of ASCII. */
const CODES = 128;
/** What a character is for a detector, as bits: a value may begin with it, and a word has it. */
const FIRST = 1;
const PART = 2;
const roleOf = (roles: Uint8Array, code: number) => (code < CODES ? roles[code]! : 0);
/** Letters and digits in upper case; 0: another character. */
const UPPER = Uint8Array.from({ length: CODES }, (_, code) =>
  isAlnum(code) ? String.fromCharCode(code).toUpperCase().charCodeAt(0) : 0,
);
/** Letters and digits of the longest template. */
const MOST = 32;

const isIn = (char: string, code: number) => CLASSES[char]?.(code) ?? char.charCodeAt(0) === code;

/** Several templates, each of which is a bit. */
class Templates {
  readonly longest: number;
  readonly roles: Uint8Array;
  readonly #all: number;
  /** By place and character: the templates that have it there; behind the last place none has any. */
  readonly #masks: Uint8Array;
  /** By length: the templates that have it. */
  readonly #ends: Uint8Array;
  readonly #codes = new Uint8Array(MOST);

  constructor(templates: readonly string[]) {
    this.longest = Math.max(...templates.map(({ length }) => length));
    this.#all = (1 << templates.length) - 1;
    this.#masks = new Uint8Array((this.longest + 1) * CODES);
    for (const [bit, template] of templates.entries())
      for (let place = 0; place < template.length; place++)
        for (let code = 0; code < CODES; code++)
          if (isIn(template[place]!, code)) this.#masks[place * CODES + code]! |= 1 << bit;
    this.roles = Uint8Array.from(
      { length: CODES },
      (_, code) => (this.#masks[code] === 0 ? 0 : FIRST) | (isWord(code) ? PART : 0),
    );
    this.#ends = new Uint8Array(this.longest + 1);
    for (const [bit, { length }] of templates.entries()) this.#ends[length]! |= 1 << bit;
  }

  /** @returns 0: there is no value here */
  end(text: string, from: number, check: Templated["check"]): number {
    const masks = this.#masks;
    const ends = this.#ends;
    const codes = this.#codes;
    let alive = this.#all;
    let count = 0;
    for (let at = from; at < text.length; at++) {
      const code = text.charCodeAt(at);
      alive &= code < CODES ? masks[(at - from) * CODES + code]! : 0;
      if (alive === 0) return 0;
      const upper = UPPER[code]!;
      codes[count] = upper;
      if (upper > 0) count++;
      const end = at + 1;
      if ((alive & ends[end - from]!) > 0 && endsAt(text, end) && check(codes)) return end;
    }
    return 0;
  }

  /** Whether the rest of a text is a beginning of a value, or one that may be a part of something else. */
  goesOn(text: string, from: number): boolean {
    let alive = this.#all;
    for (let at = from; at < text.length && alive > 0; at++) {
      const code = text.charCodeAt(at);
      alive &= code < CODES && at - from < this.longest ? this.#masks[(at - from) * CODES + code]! : 0;
    }
    return alive > 0;
  }
}

const plain = (value: string) => value.replace(/[^A-Za-z0-9]/g, "").toUpperCase();

/** Whether a value may begin here: a word or a number does, and does not go on from the left. */
function beginsAt(text: string, at: number): boolean {
  if (!isAlnum(text.charCodeAt(at))) return false;
  if (at === 0) return true;
  const before = text.charCodeAt(at - 1);
  return !isWord(before) && !(at > 1 && isJoint(before) && isAlnum(text.charCodeAt(at - 2)));
}

/** `.-:`: what joins the parts of longer numbers. */
const isJoint = (code: number) => code === 0x2d || code === 0x2e || code === 0x3a;

/** Whether a value can end here: no word and no longer number goes on. */
function endsAt(text: string, end: number): boolean {
  if (end >= text.length) return true;
  const behind = text.charCodeAt(end);
  return !isWord(behind) && !(isJoint(behind) && end + 1 < text.length && isAlnum(text.charCodeAt(end + 1)));
}
