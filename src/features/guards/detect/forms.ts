/**
 * Other forms of a text in which a value may hide: full-width characters (NFKC), escapes of JSON, URLs and HTML, base64. Each form
 * knows where its characters are in the text.
 */

import { matchesFrom } from "./detector.ts";

/** A text as detectors read it. */
export interface Form {
  readonly text: string;
  /** Position in the original text. @param at a position up to the length of the form */
  at(at: number): number;
  /** Where values may begin in it. */
  readonly from: number;
  /** A value in it is the whole run: characters of the form have no place of their own. */
  readonly run?: { readonly start: number; readonly end: number };
}

const BEYOND_ASCII = /[^\0-\x7f]/;
const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  commat: "@",
  period: ".",
  colon: ":",
  plus: "+",
};
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" };
const BASE64 = /(?<![A-Za-z0-9+/=_-])(?:[A-Za-z0-9+/]{64,}|[A-Za-z0-9_-]{64,})={0,2}(?![A-Za-z0-9+/=_-])/g;

/** The end of a text that goes on, from which on escapes may be incomplete or decode to a value. */
const ESCAPED_END = /(?<!\S)\S*[%&\\]\S*$/;
const LONGEST_ESCAPED = 512;

/** All forms of a text; the first is the text itself. @param from values begin there or later */
export function* formsOf(text: string, from: number): Iterable<Form> {
  yield* growing(text, from);
  for (const { 0: run, index } of matchesFrom(BASE64, text, from)) {
    const decoded = Buffer.from(run, "base64").toString("utf8");
    if (isReadable(decoded))
      yield { text: decoded, at: () => index, from: 0, run: { start: index, end: index + run.length } };
  }
}

/** The forms of a text that may go on: in compatible characters, and without escapes. */
export function* growing(text: string, from = 0): Iterable<Form> {
  const plain = compatible(text, from);
  yield plain;
  for (const { mark, pattern, read } of CODES)
    if (text.includes(mark)) {
      const decoded = decode(plain, pattern, read, from);
      if (decoded) yield decoded;
    }
}

/** Where the escapes at the end of a text begin, which goes on. */
export function escapedEnd(text: string): number {
  const from = Math.max(0, text.length - LONGEST_ESCAPED);
  const at = text.slice(from).search(ESCAPED_END);
  return at < 0 ? text.length : from + at;
}

interface Code {
  readonly mark: string;
  readonly pattern: RegExp;
  read(escape: string): string | undefined;
}

const CODES: readonly Code[] = [
  {
    mark: "\\",
    pattern: /\\(?:u[0-9A-Fa-f]{4}|["\\/bfnrt])/g,
    read: (escape) =>
      escape[1] === "u"
        ? String.fromCharCode(Number.parseInt(escape.slice(2), 16))
        : (ESCAPES[escape[1]!] ?? escape[1]),
  },
  {
    mark: "%",
    pattern: /(?:%[0-9A-Fa-f]{2})+/g,
    read(escape) {
      try {
        return decodeURIComponent(escape);
      } catch {
        return undefined;
      }
    },
  },
  {
    mark: "&",
    pattern: /&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[a-z]{2,8});/g,
    read(escape) {
      const name = escape.slice(1, -1);
      if (name[0] !== "#") return ENTITIES[name];
      const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
      return code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
    },
  },
];

/** The text in compatible characters (NFKC), character by character: combining marks stay where they are. */
function compatible(text: string, from: number): Form {
  if (!BEYOND_ASCII.test(text)) return { text, from, at: (at) => at };
  let norm = "";
  const places: number[] = [];
  let isSame = true;
  for (let at = 0; at < text.length;) {
    const code = text.codePointAt(at)!;
    const size = code > 0xffff ? 2 : 1;
    const piece = code < 0x80 ? text[at]! : String.fromCodePoint(code).normalize("NFKC");
    for (let unit = 0; unit < piece.length; unit++) places.push(piece.length === size ? at + unit : at);
    if (piece.length !== size || !text.startsWith(piece, at)) isSame = false;
    norm += piece;
    at += size;
  }
  places.push(text.length);
  return isSame ? { text, from, at: (at) => at } : placed(norm, places, from);
}

/** @returns undefined: there is nothing to decode */
function decode(plain: Form, pattern: RegExp, read: Code["read"], first: number): Form | undefined {
  let decoded = "";
  let from = 0;
  const places: number[] = [];
  const copy = (to: number) => {
    for (let at = from; at < to; at++) places.push(at);
    decoded += plain.text.slice(from, to);
  };
  for (const { 0: escape, index } of plain.text.matchAll(pattern)) {
    const text = read(escape);
    if (text === undefined) continue;
    copy(index);
    for (let unit = 0; unit < text.length; unit++) places.push(index);
    decoded += text;
    from = index + escape.length;
  }
  if (from === 0) return undefined;
  copy(plain.text.length);
  places.push(plain.text.length);
  return placed(
    decoded,
    places.map((at) => plain.at(at)),
    first,
  );
}

/** @param places positions of its characters in the original text, and that of its end */
function placed(text: string, places: readonly number[], from: number): Form {
  const first = from === 0 ? 0 : places.findIndex((at) => at >= from);
  return { text, at: (at) => places[at]!, from: first < 0 ? text.length : first };
}

/** Whether bytes were a text: no control characters, and valid UTF-8. */
function isReadable(text: string): boolean {
  return !/[\0-\x08\x0e-\x1f\x7f\ufffd]/.test(text);
}
