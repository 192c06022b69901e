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
  /** Top-level members, one that stands twice counted twice. */
  members: number;
  /** Where the value of a top-level member begins and ends (exclusive) in the body, in bytes. */
  spanOf(name: string): Span | undefined;
}

export interface Span {
  start: number;
  end: number;
}

/**
 * Strings of at most that many bytes stay whole, an escape counted as one. Must be longer than any word a rule compares
 * with, so that no spelling of such a word is ever cut.
 */
export const LONGEST_KEPT = 32;

/** What is left of a longer one. */
export const CUT_SHORT = "~";

/** Larger bodies are not worth the memory, which is kept. Bytes. */
const LARGEST = 4 * 1024 * 1024;

interface Exports {
  memory: WebAssembly.Memory;
  outline(text: number, end: number, copy: number, table: number, mark: number, deepest: number): number;
}

/** The table of what a byte is ends here, and two counts follow; in words of four bytes. */
const ENTRIES_AT = 256 >> 2;
const MARKS_AT = 260 >> 2;
/** Where the text goes. */
const TEXT_AT = 272;
/** Zeroes behind the text, and room behind the copy. */
const SLACK = 64;
/** Outermost separators there is room for; a body with more is left to the parser (the same number stands in the module). */
const MOST_MARKS = 4096;

/** The module with its memory in view. */
class Machine {
  readonly #exports: Exports;
  bytes!: Buffer;
  words!: Int32Array;

  constructor() {
    const module = new WebAssembly.Module(Buffer.from(OUTLINE_WASM, "base64"));
    this.#exports = new WebAssembly.Instance(module).exports as unknown as Exports;
    this.#look();
  }

  get outline(): Exports["outline"] {
    return this.#exports.outline;
  }

  makeRoom(wanted: number): void {
    const missing = wanted - this.bytes.length;
    if (missing <= 0) return;
    this.#exports.memory.grow(Math.ceil(missing / 65_536));
    this.#look();
  }

  /** Growing takes the old view away. */
  #look(): void {
    const { buffer } = this.#exports.memory;
    this.bytes = Buffer.from(buffer);
    this.words = new Int32Array(buffer);
  }
}

let machine: Machine | null | undefined;

/** Null on a processor without the instructions: there everything is parsed in full. */
function start(): Machine | null {
  try {
    return new Machine();
  } catch {
    return null;
  }
}

/**
 * @param maxDepth levels of objects and arrays allowed inside each other
 * @returns undefined for what a parser has to judge: a string that is none, too many levels, a body too large for this
 */
export function outline(body: Uint8Array, maxDepth: number): Outline | undefined {
  if (body.length > LARGEST) return undefined;
  machine ??= start();
  return machine ? run(machine, body, maxDepth) : undefined;
}

function run(machine: Machine, body: Uint8Array, maxDepth: number): Outline | undefined {
  const end = TEXT_AT + body.length;
  const copy = align(end + SLACK);
  const mark = align(copy + body.length + SLACK);
  const table = mark + MOST_MARKS * 4;
  // A long string takes 35 bytes at least, so a table of a quarter of the text has room for all.
  machine.makeRoom(table + (body.length >> 2) + SLACK);
  const { bytes, words } = machine;
  bytes.set(body, TEXT_AT);
  bytes.fill(0, end, copy);
  const length = machine.outline(TEXT_AT, end, copy, table, mark, maxDepth);
  if (length < 0) return undefined;
  const latin = bytes.toString("latin1", copy, copy + length);
  const marks = words.slice(mark >> 2, (mark >> 2) + words[MARKS_AT]!);
  const shifts = words.slice(table >> 2, (table >> 2) + words[ENTRIES_AT]! * 2);
  return {
    text: BEYOND_ASCII.test(latin) ? bytes.toString("utf8", copy, copy + length) : latin,
    members: marks.length >> 1,
    spanOf: (name) => findMember(name, latin, marks, shifts),
  };
}

const BEYOND_ASCII = /[\x80-\xff]/;

/**
 * Looks for a key as clients write it; one that is spelled with escapes is not found.
 * @param latin the bytes of the outline, one character each @param marks the colon and the end of each member in turn
 */
function findMember(name: string, latin: string, marks: Int32Array, shifts: Int32Array): Span | undefined {
  const wanted = `"${name}"`;
  let begin = latin.indexOf("{") + 1;
  for (let at = 0; at + 1 < marks.length; at += 2) {
    const key = margins(latin, begin, marks[at]!);
    if (key.end - key.start === wanted.length && latin.startsWith(wanted, key.start)) {
      const { start, end } = margins(latin, marks[at]! + 1, marks[at + 1]!);
      return { start: start + shiftAt(shifts, start), end: end + shiftAt(shifts, end) };
    }
    begin = marks[at + 1]! + 1;
  }
  return undefined;
}

/** A part of the text without the spaces around it. */
function margins(text: string, from: number, to: number): Span {
  let start = from;
  let end = to;
  while (start < end && isSpace(text.charCodeAt(start))) start++;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--;
  return { start, end };
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/** By how much the body is ahead at a position: the last entry that is not behind it. */
function shiftAt(shifts: Int32Array, position: number): number {
  let low = 0;
  let high = shifts.length >> 1;
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
