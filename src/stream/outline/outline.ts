/**
 * The outline of a JSON body: the same text with its long strings cut down to a `~`. A request of an agent is mostly text
 * that no rule speaks of, and parsing it costs several times what passing it on does. What holds for the outline holds for
 * the body: its structure, its numbers and its short strings are the same, and of the long ones it has been checked here
 * that they are strings.
 */
import { OUTLINE_WASM } from "./outline-wasm.ts";

export interface Outline {
  /** The shortened text. */
  text: string;
  /** Top-level key → where its value begins and ends (exclusive) in the body, in bytes. */
  members: Map<string, Span>;
}

export interface Span {
  start: number;
  end: number;
}

/** Strings of at most that many bytes stay whole. Must be longer than any word a rule compares with. */
export const LONGEST_KEPT = 32;

/** What is left of a longer one. */
export const CUT_SHORT = "~";

/** Larger bodies are not worth the memory, which is kept. Bytes. */
const LARGEST = 4 * 1024 * 1024;

interface Exports {
  memory: WebAssembly.Memory;
  entries: WebAssembly.Global;
  marks: WebAssembly.Global;
  outline(text: number, end: number, copy: number, table: number, mark: number, deepest: number): number;
}

/** Where the text goes: behind the table of what a byte is. */
const TEXT_AT = 256;
/** Zeroes behind the text, and room behind the copy. */
const SLACK = 64;
/** Outermost separators there is room for; a body with more is left to the parser (the same number stands in the module). */
const MOST_MARKS = 4096;

function instantiate(): Exports | undefined {
  try {
    const module = new WebAssembly.Module(Buffer.from(OUTLINE_WASM, "base64"));
    return new WebAssembly.Instance(module).exports as unknown as Exports;
  } catch {
    // A processor without the instructions: everything is parsed in full.
    return undefined;
  }
}

let instance: { exports: Exports | undefined } | undefined;

/**
 * @param maxDepth levels of objects and arrays allowed inside each other
 * @returns undefined for what a parser has to judge: a string that is none, too many levels, a top-level key that stands
 * twice, no object at all, a body too large for this
 */
export function outline(body: Uint8Array, maxDepth: number): Outline | undefined {
  if (body.length > LARGEST) return undefined;
  instance ??= { exports: instantiate() };
  return instance.exports && run(instance.exports, body, maxDepth);
}

function run(exports: Exports, body: Uint8Array, maxDepth: number): Outline | undefined {
  const { memory } = exports;
  const end = TEXT_AT + body.length;
  const copy = align(end + SLACK);
  const mark = align(copy + body.length + SLACK);
  const table = mark + MOST_MARKS * 4;
  // A long string takes 35 bytes at least, so a table of a quarter of the text has room for all.
  makeRoom(memory, table + (body.length >> 2) + SLACK);
  const bytes = new Uint8Array(memory.buffer);
  bytes.set(body, TEXT_AT);
  bytes.fill(0, end, copy);
  const length = exports.outline(TEXT_AT, end, copy, table, mark, maxDepth);
  const marks = Number(exports.marks.value);
  if (length < 0) return undefined;
  const text = Buffer.from(memory.buffer, copy, length);
  const shifts = new Int32Array(memory.buffer, table, Number(exports.entries.value) * 2);
  const members = readMembers(text, new Int32Array(memory.buffer, mark, marks), shifts);
  return members && { text: text.toString(), members };
}

function makeRoom(memory: WebAssembly.Memory, wanted: number): void {
  const missing = wanted - memory.buffer.byteLength;
  if (missing > 0) memory.grow(Math.ceil(missing / 65_536));
}

const COLON = 0x3a;
const OPEN_BRACE = 0x7b;

/** Keys and values between the outermost separators; of a text that is no JSON the parser will say so. */
function readMembers(text: Buffer, marks: Int32Array, shifts: Int32Array): Map<string, Span> | undefined {
  const members = new Map<string, Span>();
  const open = text.indexOf(OPEN_BRACE);
  for (let at = 0, begin = open + 1; at + 1 < marks.length; at += 2) {
    const colon = marks[at]!;
    const close = marks[at + 1]!;
    if (text[colon] !== COLON) return undefined;
    const key = readKey(text, begin, colon);
    if (key === undefined || members.has(key)) return undefined;
    members.set(key, spanInBody(text, colon + 1, close, shifts));
    begin = close + 1;
  }
  return open < 0 ? undefined : members;
}

function readKey(text: Buffer, start: number, end: number): string | undefined {
  const raw = text.toString("utf8", start, end).trim();
  if (!raw.includes("\\")) return raw.slice(1, -1);
  try {
    return JSON.parse(raw) as string;
  } catch {
    return undefined;
  }
}

/** A value without the spaces around it, as it stands in the body. */
function spanInBody(text: Buffer, from: number, to: number, shifts: Int32Array): Span {
  let start = from;
  let end = to;
  while (start < end && isSpace(text[start]!)) start++;
  while (end > start && isSpace(text[end - 1]!)) end--;
  return { start: start + shiftAt(shifts, start), end: end + shiftAt(shifts, end) };
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** By how much the body is ahead at a position: the last entry that is not behind it. */
function shiftAt(shifts: Int32Array, position: number): number {
  let low = 0;
  let high = shifts.length / 2;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (shifts[middle * 2]! <= position) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? 0 : shifts[low * 2 - 1]!;
}

function align(address: number): number {
  return (address + 15) & ~15;
}
