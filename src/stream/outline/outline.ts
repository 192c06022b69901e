/**
 * The outline of a JSON body: the same text without the parts that no rule reads. Most of an agent's request is such text, and
 * parsing it takes several times as long as forwarding it. Rules that hold for the outline hold for the body: structure,
 * numbers, names and every string that a rule could compare are the same. A `~` replaces a string whose syntax was checked; an
 * element is omitted from a top-level list only if the list keeps an equal one.
 */
import type { JsonObject } from "../../core/json.ts";
import { type Span, trimmed } from "../scan.ts";
import { keepLayout, LEAST_LAID_OUT } from "./layout.ts";
import { OUTLINE_WASM } from "./outline-wasm.ts";

export interface Outline {
  /** The shortened text. */
  text: string;
  /** Number of top-level members; a duplicate counts twice. */
  members: number;
  /** The range of a top-level member's value in the body, in bytes (end exclusive). */
  spanOf(name: string): Span | undefined;
  /** Keeps the layout of the body for `layoutOf`. @param short the parsed text; no member is there twice */
  keepLayout(short: JsonObject): void;
}

/**
 * Strings up to this length in bytes are kept (an escaped letter counts as one). Values inside members are kept only if they
 * consist of a to z and underscores. It must exceed the length of every word that a rule compares with, so that no spelling of
 * such a word is cut.
 */
export const LONGEST_KEPT = 32;

/** Replacement for other strings. */
export { CUT_SHORT } from "./layout.ts";

/** Larger bodies are parsed instead, because the module never frees memory. Bytes. */
const LARGEST = 4 * 1024 * 1024;

interface Exports {
  memory: WebAssembly.Memory;
  outline(text: number, end: number, copy: number, mark: number, deepest: number): number;
}

/** Indexes of the number of marks, and of the ends of elements, in the module's memory, in words of four bytes. */
const MARKS_AT = 256 >> 2;
const ENDS_AT = 260 >> 2;
/** Index of whether a string has a letter spelled as a \\u escape. */
const ESCAPES_AT = 328 >> 2;
/** Offset of the text in the module's memory. */
const TEXT_AT = 336;
/** Zero bytes after the text, and free space after the copy. */
const SLACK = 64;
/** Maximum number of top-level separators; the parser handles a body with more. The module has the same constant. */
const MOST_MARKS = 4096;
const MARK_BYTES = 8;
/** Maximum number of elements of top-level lists whose ends are known. The module has the same constant. */
const MOST_ENDS = 4096;
const END_BYTES = 4;
/** No limit of the nesting. */
const DEEPEST = 0x7fffffff;

/** The WebAssembly module and views of its memory. */
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

  /** Renews the views: growing the memory detaches the old ones. */
  #look(): void {
    const { buffer } = this.#exports.memory;
    this.bytes = Buffer.from(buffer);
    this.words = new Int32Array(buffer);
  }
}

const QUOTE = 0x22;

let machine: Machine | null | undefined;

/** Null on a processor without the required instructions: then every body is parsed. */
function start(): Machine | null {
  try {
    return new Machine();
  } catch {
    return null;
  }
}

/**
 * @param maxDepth maximum nesting of objects and arrays
 * @returns undefined for a body that the parser has to judge: an invalid string, too deep, too large
 */
export function outline(body: Uint8Array, maxDepth: number): Outline | undefined {
  const found = run(body, maxDepth);
  if (!found) return undefined;
  const { bytes, copy, length, marks, ends, hasEscapes } = found;
  const text = bytes.toString("utf8", copy, copy + length);
  // Marks are byte offsets.
  const latin = text.length === length ? text : bytes.toString("latin1", copy, copy + length);
  return {
    text,
    members: marks.length >> 2,
    spanOf: (name) => findMember(name, body, latin, marks),
    keepLayout: (short) => ends && keepLayout(body, short, { marks, ends, hasEscapes }),
  };
}

/**
 * The ranges of the elements of a JSON list, several times as fast as `elementsOf` of `scan.ts`.
 * @returns undefined for a list that `elementsOf` has to read: too many elements, too large
 */
export function elementsIn(bytes: Uint8Array, list: Span): Span[] | undefined {
  const text = bytes.subarray(list.start, list.end);
  const found = run(text, DEEPEST);
  if (!found) return undefined;
  const { marks } = found;
  const elements: Span[] = [];
  let from = list.start + 1;
  for (let at = 1; at < marks.length; at += 2) {
    const end = list.start + marks[at]!;
    const element = trimmed(bytes, from, end);
    if (element.end > element.start) elements.push(element);
    from = end + 1;
  }
  return elements;
}

/** The module's findings in a text. */
interface Run {
  /** The memory of the module, with the outline from `copy` on. The next run overwrites it. */
  bytes: Buffer;
  copy: number;
  length: number;
  /** Two offsets for each separator of the outermost level, and for its closing bracket: in the outline and in the text. */
  marks: Int32Array;
  /** The offset of each comma and closing bracket of the lists on the second level; undefined for too many, and of a short text. */
  ends: Int32Array | undefined;
  /** A string has a letter that is spelled as an escape. */
  hasEscapes: boolean;
}

function run(text: Uint8Array, maxDepth: number): Run | undefined {
  if (text.length > LARGEST) return undefined;
  machine ??= start();
  if (!machine) return undefined;
  const end = TEXT_AT + text.length;
  const copy = align(end + SLACK);
  const mark = align(copy + text.length + SLACK);
  const ends = mark + MOST_MARKS * MARK_BYTES;
  machine.makeRoom(ends + MOST_ENDS * END_BYTES);
  const { bytes, words } = machine;
  bytes.set(text, TEXT_AT);
  bytes.fill(0, end, copy);
  const length = machine.outline(TEXT_AT, end, copy, mark, maxDepth);
  if (length < 0) return undefined;
  const marks = words.slice(mark >> 2, (mark >> 2) + words[MARKS_AT]! * 2);
  const count = words[ENDS_AT]!;
  return {
    ...{ bytes, copy, length, marks, hasEscapes: words[ESCAPES_AT] !== 0 },
    ends:
      count > MOST_ENDS || text.length < LEAST_LAID_OUT
        ? undefined
        : words.slice(ends >> 2, (ends >> 2) + count),
  };
}

/**
 * Finds a key as clients write it; a key that contains escapes is not found.
 * @param latin the bytes of the outline as Latin-1
 * @param marks four offsets per member: its colon in the outline and in the body, its end in the outline and in the body
 */
function findMember(name: string, body: Uint8Array, latin: string, marks: Int32Array): Span | undefined {
  const wanted = `"${name}"`;
  let begin = latin.indexOf("{") + 1;
  for (let at = 0; at + 3 < marks.length; at += 4) {
    const colon = marks[at]!;
    if (isKey(latin, begin, colon, wanted)) return trimmed(body, marks[at + 1]! + 1, marks[at + 3]!);
    begin = marks[at + 2]! + 1;
  }
  return undefined;
}

/** Whether a part of a text is a key, with or without white space around it. */
function isKey(latin: string, start: number, end: number, wanted: string): boolean {
  const length = end - start;
  if (length < wanted.length) return false;
  if (latin.charCodeAt(start) === QUOTE && latin.charCodeAt(end - 1) === QUOTE)
    return length === wanted.length && latin.startsWith(wanted, start);
  return latin.slice(start, end).trim() === wanted;
}

function align(address: number): number {
  return (address + 15) & ~15;
}
