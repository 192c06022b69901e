/**
 * A scan of the bytes of a JSON body: how deep it nests, whether it names a top-level key twice, and where the value of
 * each top-level key stands. It reads structure only; whether the text is JSON at all, the parser says.
 */

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
    let backslashes = 0;
    while (bytes[end - 1 - backslashes] === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return end;
    end = bytes.indexOf(QUOTE, end + 1);
  }
  return bytes.length;
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

/** A part of the text without the spaces around it. */
export function trimmed(bytes: Uint8Array, start: number, end: number): { start: number; end: number } {
  while (start < end && isSpace(bytes[start]!)) start++;
  while (end > start && isSpace(bytes[end - 1]!)) end--;
  return { start, end };
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

const encoder = new TextEncoder();

/** The body with the bytes of one member's value replaced by `value` as JSON, in pieces: nothing is copied. */
export function spliceMember(
  bytes: Uint8Array,
  span: { start: number; end: number },
  value: string,
): Uint8Array[] {
  return [bytes.subarray(0, span.start), encoder.encode(JSON.stringify(value)), bytes.subarray(span.end)];
}
