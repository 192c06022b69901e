/**
 * Where a valid body has its members, and the elements of the lists among them. Elements are grouped into blocks: a body that
 * repeats an earlier one and adds elements has the same blocks before them, so that what was found of a block is found by its hash.
 */
import type { JsonObject } from "../../core/json.ts";
import { type Span, trimmed } from "../scan.ts";

/** A top-level member: its name, and the range of its value. */
export interface Member extends Span {
  name: string;
}

/** A block of a list ends with the first element that makes it this long. Bytes. */
const BLOCK = 4096;
/** A shorter body has no layout: it costs little to read as a whole. Bytes. */
export const LEAST_LAID_OUT = 4096;

/** Replacement for a string in the outline. */
export const CUT_SHORT = "~";
const NUMBER = /^\d/;

const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;

/** Clients do not know it, so that they cannot write two blocks of one hash. The hashes are never kept or sent. */
const SECRET = crypto.getRandomValues(new Uint32Array(1))[0]!;

const layouts = new WeakMap<Uint8Array, Layout>();

/** @returns undefined for a body that is read as a whole: it is short, or its outline does not suffice */
export function layoutOf(bytes: Uint8Array): Layout | undefined {
  return layouts.get(bytes);
}

/** Offsets that the module found. */
export interface Offsets {
  /** Four for each member: the second is its colon in the body, the last its end in the body. */
  marks: Int32Array;
  /** The commas and the closing brackets of top-level lists. */
  ends: Int32Array;
  /** A string has a letter that is spelled as a `\u` escape. */
  hasEscapes: boolean;
}

/** Keeps the layout of a valid body as long as its bytes. */
export function keepLayout(bytes: Uint8Array, short: JsonObject, offsets: Offsets): void {
  layouts.set(bytes, new Layout(bytes, short, offsets));
}

class Layout {
  readonly bytes: Buffer;
  /** The body with long strings shortened. */
  readonly short: JsonObject;
  readonly #offsets: Offsets;
  /** By the start of the list. */
  readonly #blocks = new Map<number, readonly Block[]>();

  constructor(bytes: Uint8Array, short: JsonObject, offsets: Offsets) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.short = short;
    this.#offsets = offsets;
  }

  /** In the order of the body; no name is there twice. */
  get members(): Member[] {
    const { marks } = this.#offsets;
    const members: Member[] = [];
    const names = Object.keys(this.short);
    // A long name is shortened, and names that are numbers are in front of others.
    const areWhole = !names.some((name) => name === CUT_SHORT || NUMBER.test(name));
    let begin = this.bytes.indexOf(OPEN_BRACE) + 1;
    for (let at = 0; at + 3 < marks.length; at += 4) {
      const colon = marks[at + 1]!;
      const { start, end } = trimmed(this.bytes, colon + 1, marks[at + 3]!);
      const name = areWhole ? names[at >> 2]! : this.#nameIn(begin, colon);
      members.push({ name, start, end });
      begin = marks[at + 3]! + 1;
    }
    return members;
  }

  #nameIn(start: number, end: number): string {
    const text = this.bytes.toString("utf8", start, end);
    return text.includes("\\") ? (JSON.parse(text) as string) : text.trim().slice(1, -1);
  }

  /** Whether a string has a letter that is spelled as a `\u` escape. */
  get hasEscapes(): boolean {
    return this.#offsets.hasEscapes;
  }

  isList({ start }: Span): boolean {
    return this.bytes[start] === OPEN_BRACKET;
  }

  /** The elements of a top-level list, in blocks. */
  blocksOf(list: Span): readonly Block[] {
    let found = this.#blocks.get(list.start);
    if (!found) this.#blocks.set(list.start, (found = this.#group(list)));
    return found;
  }

  #group({ start, end }: Span): Block[] {
    const { ends } = this.#offsets;
    const blocks: Block[] = [];
    let first = indexAfter(ends, start);
    let from = start + 1;
    const bracket = end - 1;
    for (let at = first; at < ends.length && ends[at]! <= bracket; at++) {
      const to = ends[at]!;
      if (to - from < BLOCK && to < bracket) continue;
      const block = new Block(this.bytes, from, ends.subarray(first, at + 1));
      // A list without elements has a closing bracket all the same.
      if (first < at || block.elements.length > 0) blocks.push(block);
      first = at + 1;
      from = to + 1;
    }
    return blocks;
  }
}

export type { Layout };

/** Elements of a list with the commas between them. */
export class Block implements Span {
  readonly start: number;
  readonly end: number;
  /** Number of elements. */
  readonly count: number;
  readonly #bytes: Buffer;
  readonly #ends: Int32Array;
  #hash: bigint | undefined;

  /** @param ends of its elements */
  constructor(bytes: Buffer, start: number, ends: Int32Array) {
    this.#bytes = bytes;
    this.#ends = ends;
    this.start = start;
    this.end = ends.at(-1)!;
    this.count = ends.length;
  }

  /** Equal for equal bytes. */
  get hash(): bigint {
    return (this.#hash ??= hashOf(this.#bytes, this));
  }

  get elements(): Span[] {
    const elements: Span[] = [];
    let from = this.start;
    for (const end of this.#ends) {
      const element = trimmed(this.#bytes, from, end);
      if (element.end > element.start) elements.push(element);
      from = end + 1;
    }
    return elements;
  }
}

/** The hash of a part of a body. */
export function hashOf({ buffer, byteOffset }: Uint8Array, { start, end }: Span): bigint {
  return Bun.hash.xxHash3(new Uint8Array(buffer, byteOffset + start, end - start), SECRET as never);
}

/** The index of the first of sorted positions behind another one. */
function indexAfter(sorted: Int32Array, position: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! <= position) low = middle + 1;
    else high = middle;
  }
  return low;
}
