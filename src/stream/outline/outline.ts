/**
 * The outline of a JSON body: the same text without what no rule speaks of. A request of an agent is mostly such text, and
 * parsing it costs several times what passing it on does. What holds for the outline holds for the body: its structure, its
 * numbers, its names and whatever may be a word of some rule are the same; of each `~` it has been checked here that a
 * string stood there, and of each element that is left out of a top-level list that the list has its equal.
 */
import type { Span } from "../span.ts";
import { trimmed } from "../span.ts";
import { OUTLINE_WASM } from "./outline-wasm.ts";

export interface Outline {
  /** What is left of the text. */
  text: string;
  /** Top-level members, one that stands twice counted twice. */
  members: number;
  /** Where the value of a top-level member begins and ends (exclusive) in the body, in bytes. */
  spanOf(name: string): Span | undefined;
}

/**
 * Strings of at most that many bytes stay whole, a letter spelled in digits counted as one; values inside of members only
 * when they are made of the letters a to z and underscores. Must be longer than any word a rule compares with, so that no
 * spelling of such a word is ever cut.
 */
export const LONGEST_KEPT = 32;

/** What is left of others. */
export const CUT_SHORT = "~";

/** Larger bodies are not worth the memory, which is kept. Bytes. */
const LARGEST = 4 * 1024 * 1024;

interface Exports {
  memory: WebAssembly.Memory;
  outline(text: number, end: number, copy: number, mark: number, deepest: number): number;
}

/** Where the module leaves the number of marks, in words of four bytes. */
const MARKS_AT = 256 >> 2;
/** Where the text goes, behind what the module keeps for itself. */
const TEXT_AT = 336;
/** Zeroes behind the text, and room behind the copy. */
const SLACK = 64;
/** Outermost separators there is room for; a body with more is left to the parser (the same number stands in the module). */
const MOST_MARKS = 4096;
const MARK_BYTES = 8;

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
  machine.makeRoom(mark + MOST_MARKS * MARK_BYTES);
  const { bytes, words } = machine;
  bytes.set(body, TEXT_AT);
  bytes.fill(0, end, copy);
  const length = machine.outline(TEXT_AT, end, copy, mark, maxDepth);
  if (length < 0) return undefined;
  const text = bytes.toString("utf8", copy, copy + length);
  // Marks count bytes.
  const latin = text.length === length ? text : bytes.toString("latin1", copy, copy + length);
  const marks = words.slice(mark >> 2, (mark >> 2) + words[MARKS_AT]! * 2);
  return { text, members: marks.length >> 2, spanOf: (name) => findMember(name, body, latin, marks) };
}

/**
 * Looks for a key as clients write it; one that is spelled with escapes is not found.
 * @param latin the bytes of the outline, one character each
 * @param marks of each member in turn: its colon in the outline and in the body, its end in the outline and in the body
 */
function findMember(name: string, body: Uint8Array, latin: string, marks: Int32Array): Span | undefined {
  const wanted = `"${name}"`;
  let begin = latin.indexOf("{") + 1;
  for (let at = 0; at + 3 < marks.length; at += 4) {
    const colon = marks[at]!;
    const key = latin.slice(begin, colon);
    if (key === wanted || key.trim() === wanted) return trimmed(body, marks[at + 1]! + 1, marks[at + 3]!);
    begin = marks[at + 2]! + 1;
  }
  return undefined;
}

function align(address: number): number {
  return (address + 15) & ~15;
}
