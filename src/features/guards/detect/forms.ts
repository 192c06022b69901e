/**
 * Other forms of a text in which a value may hide: full-width characters (NFKC), escapes of JSON, URLs and HTML, base64. Each form
 * knows where its characters are in the text. A text without any of them has no other form, and is read once.
 */
import { byBlock, isAlnum, runAtEnd } from "./classes.ts";
import { CODES } from "./codes.ts";
import { Rewritten } from "./rewritten.ts";

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

const BEYOND_ASCII = /[^\0-\x7f]/g;
const LEAST_BASE64 = 64;
const LONGEST_ESCAPED = 512;

/** All forms of a text; the first is the text itself. @param from values begin there or later */
export function* formsOf(text: string, from: number): Iterable<Form> {
  yield* growing(text, from);
  for (const run of base64Runs(text, from)) {
    const decoded = Buffer.from(text.slice(run.start, run.end), "base64").toString("utf8");
    if (isReadable(decoded)) yield { text: decoded, at: () => run.start, from: 0, run };
  }
}

/** The forms of a text that may go on: in compatible characters, and without escapes. */
export function* growing(text: string, from = 0): Iterable<Form> {
  const plain = compatible(text, from);
  yield plain;
  for (const code of CODES) {
    const decoded = plain.text.includes(code.mark) ? code.decode(plain.text) : undefined;
    if (decoded) yield formed(decoded, (at) => plain.at(decoded.at(at)), from);
  }
}

/** Where the escapes at the end of a text begin, which goes on. */
export function escapedEnd(text: string): number {
  let hasMark = false;
  const start = runAtEnd(text, LONGEST_ESCAPED, (code) => {
    hasMark ||= code === 0x25 || code === 0x26 || code === 0x5c;
    return code > 0x20 && code !== 0xa0;
  });
  return hasMark ? start : text.length;
}

/** Compatible characters (NFKC) in place of one; undefined: it is compatible. */
const compatibleOf = byBlock((char) => {
  const normal = char.normalize("NFKC");
  return normal === char ? undefined : normal;
});

/** Such characters stand side by side, or far apart. @returns the end of the text: there is none */
function nextBeyondAscii(text: string, from: number): number {
  if (text.charCodeAt(from) > 0x7f || text.charCodeAt(from + 1) > 0x7f)
    return text.charCodeAt(from) > 0x7f ? from : from + 1;
  BEYOND_ASCII.lastIndex = from;
  return BEYOND_ASCII.test(text) ? BEYOND_ASCII.lastIndex - 1 : text.length;
}

/** The text in compatible characters, character by character: combining marks stay where they are. */
function compatible(text: string, from: number): Form {
  // Characters of ASCII have one byte: they are counted faster than one of the others is searched.
  if (Buffer.byteLength(text) === text.length) return { text, from, at: (at) => at };
  let changed: Rewritten | undefined;
  for (let at = nextBeyondAscii(text, 0); at < text.length; at = nextBeyondAscii(text, at)) {
    const code = text.codePointAt(at)!;
    const end = at + (code > 0xffff ? 2 : 1);
    const normal = compatibleOf(code);
    if (normal !== undefined) (changed ??= new Rewritten(text)).put(at, end, normal);
    at = end;
  }
  const done = changed?.finish();
  return done ? formed(done, (at) => done.at(at), from) : { text, from, at: (at) => at };
}

function formed({ text }: Rewritten, at: Form["at"], from: number): Form {
  let first = 0;
  if (from > 0) while (first < text.length && at(first) < from) first++;
  return { text, at, from: first };
}

/** Runs of base64, of either alphabet, that are long enough for a text: most characters of a text are skipped. */
function* base64Runs(text: string, from: number): Iterable<{ start: number; end: number }> {
  for (let start = from; start + LEAST_BASE64 <= text.length;) {
    let back = start + LEAST_BASE64 - 1;
    while (back >= start && isBase64(text.charCodeAt(back))) back--;
    if (back >= start) {
      start = back + 1;
      continue;
    }
    let end = start + LEAST_BASE64;
    while (isBase64(text.charCodeAt(end))) end++;
    yield { start, end };
    start = end;
  }
}

function isBase64(code: number): boolean {
  return isAlnum(code) || code === 0x2b || code === 0x2f || code === 0x2d || code === 0x5f || code === 0x3d;
}

/** Whether bytes were a text: no control characters, and valid UTF-8. */
function isReadable(text: string): boolean {
  return !/[\0-\x08\x0e-\x1f\x7f\ufffd]/.test(text);
}
