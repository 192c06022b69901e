/**
 * Scans the bytes of a JSON body: nesting depth, duplicate top-level keys, and the range of each top-level value. It reads only
 * the structure; the parser decides whether the text is valid JSON.
 */

export interface Scan {
  /** Top-level key → range of its value. Empty if the body is not an object. */
  members: Map<string, Span>;
  /** The first duplicate top-level key. */
  duplicate?: string;
  /** The nesting exceeds the limit; the scan stopped there. */
  tooDeep: boolean;
  /** There are too many top-level members; the scan stopped there. */
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

/** @param maxDepth maximum nesting of objects and arrays @param maxMembers maximum number of top-level members */
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

/** The ranges of an array's elements; none if the span is not an array. */
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

/** The index of the closing quote of the string that opens at `open`; the last byte if the string is not closed. */
export function stringEnd(bytes: Uint8Array, open: number): number {
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

/** Top-level member → JSON text of its new value, or `undefined` to remove the member. */
export type MemberEdits = ReadonlyMap<string, string | undefined>;

/**
 * A JSON object with some of its top-level members replaced, removed or added. All other bytes are unchanged, and nothing is
 * parsed or copied. New members come directly after the opening brace.
 * @param spanOf range of a member's value; `undefined` for a member that the body does not have
 * @returns the parts of the new body, in order
 */
export function editMembers(
  bytes: Uint8Array,
  edits: MemberEdits,
  spanOf: (name: string) => Span | undefined,
): Uint8Array[] {
  const cuts: Cut[] = [];
  const removed: Span[] = [];
  const added: string[] = [];
  for (const [name, text] of edits) {
    const span = spanOf(name);
    if (span && text !== undefined) cuts.push({ start: span.start, end: span.end, text });
    else if (span) removed.push({ start: keyStart(bytes, span.start), end: span.end });
    else if (text !== undefined) added.push(`${JSON.stringify(name)}:${text}`);
  }
  if (removed.length > 0)
    for (const { start, end } of withCommas(bytes, removed)) cuts.push({ start, end, text: "" });
  if (cuts.length > 1) cuts.sort((a, b) => a.start - b.start);
  const pieces = cut(bytes, cuts);
  return added.length === 0 ? pieces : behindBrace(pieces, added.join(","));
}

/** A byte range and the text that replaces it. */
interface Cut extends Span {
  text: string;
}

const encoder = new TextEncoder();

/** @param cuts in the order of the bytes */
function cut(bytes: Uint8Array, cuts: readonly Cut[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let from = 0;
  for (const { start, end, text } of cuts) {
    if (start > from) pieces.push(bytes.subarray(from, start));
    if (text !== "") pieces.push(encoder.encode(text));
    from = end;
  }
  pieces.push(bytes.subarray(from));
  return pieces;
}

/** Inserts members before the first one of an object. */
function behindBrace(pieces: readonly Uint8Array[], members: string): Uint8Array[] {
  const [first, ...rest] = pieces as [Uint8Array, ...Uint8Array[]];
  const brace = first.indexOf(OPEN_BRACE) + 1;
  const behind = [first.subarray(brace), ...rest];
  const next = behind.flatMap((piece) => piece.find((byte) => !isSpace(byte)) ?? [])[0];
  const text = next === CLOSE_BRACE ? members : `${members},`;
  return [first.subarray(0, brace), encoder.encode(text), ...behind];
}

/** The start of the key whose value begins at `value`. */
export function keyStart(bytes: Uint8Array, value: number): number {
  const close = bytes.lastIndexOf(QUOTE, bytes.lastIndexOf(COLON, value - 1));
  let open = bytes.lastIndexOf(QUOTE, close - 1);
  while (isEscaped(bytes, open)) open = bytes.lastIndexOf(QUOTE, open - 1);
  return open;
}

/**
 * The ranges of removed members with the comma after each. After the last member of an object there is no comma: it and the
 * removed members directly before it take the comma before them instead.
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

/** The index of the last byte before `at` that is not white space. */
function lastWord(bytes: Uint8Array, at: number): number {
  do at--;
  while (isSpace(bytes[at]!));
  return at;
}

/** A range of a body, in bytes. */
export interface Span {
  start: number;
  /** Exclusive. */
  end: number;
}

/** The range without white space at both ends. */
export function trimmed(bytes: Uint8Array, start: number, end: number): Span {
  while (start < end && isSpace(bytes[start]!)) start++;
  while (end > start && isSpace(bytes[end - 1]!)) end--;
  return { start, end };
}

/** Whether a byte is JSON white space (RFC 8259, section 2). */
export function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
