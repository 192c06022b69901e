/**
 * A scan of the bytes of a JSON body: how deep it nests, whether it names a top-level key twice, and where the value of
 * each top-level key stands. It reads structure only; whether the text is JSON at all, the parser says.
 */

import type { Span } from "./span.ts";
import { isSpace, trimmed } from "./span.ts";

export interface Scan {
  /** Top-level key → where its value begins and ends (exclusive), in bytes. Empty when the body is not an object. */
  members: Map<string, { start: number; end: number }>;
  /** The first top-level key that stands twice. */
  duplicate?: string;
  /** The nesting passes the limit; nothing after that point was read. */
  tooDeep: boolean;
  /** There are more top-level members than allowed; nothing after that point was read. */
  tooMany: boolean;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** @param maxDepth levels of objects and arrays allowed inside each other @param maxMembers top-level members */
export function scanBody(bytes: Uint8Array, maxDepth: number, maxMembers = Infinity): Scan {
  const scan: Scan = { members: new Map(), tooDeep: false, tooMany: false };
  let depth = 0;
  let key: string | undefined;
  let keyAt = -1;
  let valueAt = -1;
  let isObject = false;
  let count = 0;

  const closeMember = (end: number) => {
    if (key === undefined || valueAt < 0) return;
    if (scan.members.has(key)) scan.duplicate ??= key;
    else scan.members.set(key, trimmed(bytes, valueAt, end));
    scan.tooMany = ++count > maxMembers;
    key = undefined;
    valueAt = -1;
  };

  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]) {
      case QUOTE: {
        const end = stringEnd(bytes, at);
        if (depth === 1 && isObject && valueAt < 0) {
          key = readKey(bytes, at, end);
          keyAt = at;
        }
        at = end;
        break;
      }
      case OPEN_BRACE:
      case OPEN_BRACKET:
        if (depth === 0) isObject = bytes[at] === OPEN_BRACE;
        if (++depth > maxDepth) {
          scan.tooDeep = true;
          return scan;
        }
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        if (depth === 1) closeMember(at);
        depth--;
        break;
      case COLON:
        if (depth === 1 && keyAt >= 0 && valueAt < 0) valueAt = at + 1;
        break;
      case COMMA:
        if (depth === 1) closeMember(at);
        if (scan.tooMany) return scan;
        break;
    }
  }
  return scan;
}

/** Where the elements of an array stand whose value fills the span; nothing when it is no array. */
export function* elementsOf(
  bytes: Uint8Array,
  { start, end }: { start: number; end: number },
): Generator<{ start: number; end: number }> {
  if (bytes[start] !== OPEN_BRACKET) return;
  let depth = 0;
  let from = start + 1;
  for (let at = start; at < end; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = stringEnd(bytes, at);
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth--;
    if ((byte === COMMA && depth === 1) || depth === 0) {
      const element = trimmed(bytes, from, at);
      if (element.end > element.start) yield element;
      from = at + 1;
    }
    if (depth === 0) return;
  }
}

/** The index of the closing quote of the string that opens at `open`; the last byte when it never closes. */
function stringEnd(bytes: Uint8Array, open: number): number {
  let end = bytes.indexOf(QUOTE, open + 1);
  while (end >= 0) {
    if (!isEscaped(bytes, end)) return end;
    end = bytes.indexOf(QUOTE, end + 1);
  }
  return bytes.length;
}

function isEscaped(bytes: Uint8Array, quote: number): boolean {
  let backslashes = 0;
  while (bytes[quote - 1 - backslashes] === BACKSLASH) backslashes++;
  return backslashes % 2 === 1;
}

function readKey(bytes: Uint8Array, open: number, end: number): string | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + open, Math.min(end + 1, bytes.length) - open);
  const raw = text.toString("utf8");
  if (!raw.includes("\\")) return raw.slice(1, -1);
  try {
    return JSON.parse(raw) as string;
  } catch {
    return undefined;
  }
}

/** Top-level member → the JSON text of its new value, or `undefined` for a member that is removed. */
export type MemberEdits = ReadonlyMap<string, string | undefined>;

/**
 * The body, a JSON object, with some of its top-level members replaced, removed or added. Every other byte stays as it
 * is: nothing is parsed or copied. A new member stands behind the opening brace.
 * @param spanOf where the value of a member stands; `undefined` for a member the body does not have
 * @returns the body in pieces, in order
 */
export function editMembers(
  bytes: Uint8Array,
  edits: MemberEdits,
  spanOf: (name: string) => Span | undefined,
): Uint8Array[] {
  const replaced: Cut[] = [];
  const removed: Span[] = [];
  const added: string[] = [];
  for (const [name, text] of edits) {
    const span = spanOf(name);
    if (span && text !== undefined) replaced.push({ ...span, text });
    else if (span) removed.push({ start: keyStart(bytes, span.start), end: span.end });
    else if (text !== undefined) added.push(`${JSON.stringify(name)}:${text}`);
  }
  const cuts = [...replaced, ...withCommas(bytes, removed).map((span) => ({ ...span, text: "" }))];
  const pieces = cut(bytes, cuts);
  return added.length === 0 ? pieces : behindBrace(pieces, added.join(","));
}

/** Bytes that give way to a text. */
interface Cut extends Span {
  text: string;
}

const encoder = new TextEncoder();

function cut(bytes: Uint8Array, cuts: readonly Cut[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let from = 0;
  for (const { start, end, text } of cuts.toSorted((a, b) => a.start - b.start)) {
    if (start > from) pieces.push(bytes.subarray(from, start));
    if (text !== "") pieces.push(encoder.encode(text));
    from = end;
  }
  pieces.push(bytes.subarray(from));
  return pieces;
}

/** The pieces of an object with members put in front of those it has. */
function behindBrace(pieces: readonly Uint8Array[], members: string): Uint8Array[] {
  const [first, ...rest] = pieces as [Uint8Array, ...Uint8Array[]];
  const brace = first.indexOf(OPEN_BRACE) + 1;
  const behind = [first.subarray(brace), ...rest];
  const next = behind.flatMap((piece) => piece.find((byte) => !isSpace(byte)) ?? [])[0];
  const text = next === CLOSE_BRACE ? members : `${members},`;
  return [first.subarray(0, brace), encoder.encode(text), ...behind];
}

/** Where the key of the member begins whose value stands at `value`. */
function keyStart(bytes: Uint8Array, value: number): number {
  const close = bytes.lastIndexOf(QUOTE, bytes.lastIndexOf(COLON, value - 1));
  let open = bytes.lastIndexOf(QUOTE, close - 1);
  while (isEscaped(bytes, open)) open = bytes.lastIndexOf(QUOTE, open - 1);
  return open;
}

/**
 * Members that are removed, each with the comma behind it. Behind the last member of an object there is none: it and the
 * removed members in front of it take the comma before them instead.
 */
function withCommas(bytes: Uint8Array, removed: readonly Span[]): Span[] {
  const spans = removed
    .toSorted((a, b) => a.start - b.start)
    .map(({ start, end }) => {
      const comma = nextWord(bytes, end);
      return bytes[comma] === COMMA ? { start, end: comma + 1 } : { start, end };
    });
  const last = spans.at(-1);
  if (!last || bytes[last.end - 1] === COMMA) return spans;
  let { start } = last;
  for (let at = spans.length - 1; at >= 0 && lastWord(bytes, start) < spans[at]!.end; at--)
    start = spans[at]!.start;
  const before = lastWord(bytes, start);
  return [
    ...spans.filter((span) => span.start < start),
    { start: bytes[before] === COMMA ? before : start, end: last.end },
  ];
}

function nextWord(bytes: Uint8Array, at: number): number {
  while (isSpace(bytes[at]!)) at++;
  return at;
}

/** The index of the last byte before `at` that is no space. */
function lastWord(bytes: Uint8Array, at: number): number {
  do at--;
  while (isSpace(bytes[at]!));
  return at;
}
