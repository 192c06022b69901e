/**
 * Hashes the sections of a prompt, so that a later request shows where its prefix differs. It reads bytes, because the native
 * lane does not parse the body, and copies a section only if it has to leave something out.
 */
import type { SessionSource } from "../../core/format.ts";
import type { PromptPart, PromptSections } from "../../core/prompt-sections.ts";
import { hashSection, SECTION_BYTES } from "../../core/section-hash.ts";
import { Recent } from "../../core/recent.ts";
import { type Block, type Layout, layoutOf } from "../../stream/outline/layout.ts";
import { elementsIn } from "../../stream/outline/outline.ts";
import { elementsOf, isSpace, type Span } from "../../stream/scan.ts";

/** Where a request has its sections. */
export interface PromptMembers {
  /** Members that providers put before the conversation, in the order in which they cache them. */
  head: readonly string[];
  /** Member with the turns of the conversation. */
  turns: string;
}

/** Further sections are not compared. */
const MAX_SECTIONS = 512;
/** Blocks whose hashes are kept. A block has some kilobytes, and its hashes some hundred bytes. */
const MOST_BLOCKS = 4096;
/** Where a message says its role and how its content begins, and where it ends. Bytes. */
const EDGE = 96;
const OPEN_BRACKET = 0x5b;
/** Turns of these roles at the beginning of the conversation belong to the head. */
const HEAD_ROLE = /"role"\s*:\s*"(?:system|developer)"/;
/**
 * The beginning and the end of a message whose content is a list of texts. Clients write one text as a string, and as a list to
 * mark it: without these parts both are the same.
 */
const LIST_BEGINS = /("content"\s*:\s*)\[\s*\{\s*"type"\s*:\s*"text"\s*,\s*"text"\s*:\s*(?=")/;
const LIST_ENDS = /"(\s*\}\s*\])((?:\s*,\s*"role"\s*:\s*"\w*")?\s*\})$/;

/** Elements of a list that follow one another. */
interface Sections {
  hashes: Uint8Array;
  /** Number of those before the first that does not belong to the head. */
  leading: number;
}

/** The sections in blocks of lists, by the hash of the block: a conversation repeats its blocks with every turn. */
const known = new Recent<Sections>(MOST_BLOCKS);

/** @returns undefined for a request without turns */
export function sectionsOf(source: SessionSource, members: PromptMembers): PromptSections | undefined {
  const turns = source.spanOf(members.turns);
  if (!turns) return undefined;
  const hashes = new SectionHashes(source.bytes);
  const parts: PromptPart[] = [];
  for (const name of members.head) {
    const span = source.spanOf(name);
    if (span) hashes.addMember(name, span, parts);
  }
  const head = hashes.count;
  const headTurns = hashes.addMember(members.turns, turns, parts);
  return { parts, head: head + headTurns, hashes: hashes.all };
}

class SectionHashes {
  readonly #bytes: Buffer;
  readonly #layout: Layout | undefined;
  readonly #hashes = Buffer.allocUnsafe(MAX_SECTIONS * SECTION_BYTES);
  count = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#layout = layoutOf(bytes);
  }

  get all(): Uint8Array {
    return new Uint8Array(this.#hashes.subarray(0, this.count * SECTION_BYTES));
  }

  /**
   * @param parts gets the member, unless it is an empty list
   * @returns number of elements at the beginning that belong to the head by their role
   */
  addMember(name: string, span: Span, parts: PromptPart[]): number {
    const before = this.count;
    if (this.#bytes[span.start] !== OPEN_BRACKET) {
      if (before === MAX_SECTIONS) return 0;
      this.#add(hashesOf(this.#bytes, [span]));
      parts.push([name, 0]);
      return 0;
    }
    const headElements = this.#layout
      ? this.#addBlocks(this.#layout.blocksOf(span))
      : this.#addElements(span);
    const added = this.count - before;
    if (added > 0) parts.push([name, added]);
    return Math.min(headElements, added);
  }

  /** @returns number of elements at the beginning that belong to the head */
  #addBlocks(blocks: readonly Block[]): number {
    let head = 0;
    let isHead = true;
    for (const block of blocks) {
      if (this.count === MAX_SECTIONS) break;
      const sections = known.get(block.hash) ?? known.put(block.hash, this.#read(block.elements));
      this.#add(sections.hashes);
      if (isHead) head += sections.leading;
      isHead &&= sections.leading === block.count;
    }
    return head;
  }

  #addElements(span: Span): number {
    const elements = elementsIn(this.#bytes, span) ?? [...elementsOf(this.#bytes, span)];
    const { hashes, leading } = this.#read(elements.slice(0, MAX_SECTIONS - this.count));
    this.#add(hashes);
    return leading;
  }
  #add(hashes: Uint8Array): void {
    const added = hashes.subarray(0, (MAX_SECTIONS - this.count) * SECTION_BYTES);
    this.#hashes.set(added, this.count * SECTION_BYTES);
    this.count += added.length / SECTION_BYTES;
  }

  #read(elements: readonly Span[]): Sections {
    const other = elements.findIndex((element) => !HEAD_ROLE.test(beginningOf(this.#bytes, element)));
    return { hashes: hashesOf(this.#bytes, elements), leading: other < 0 ? elements.length : other };
  }
}

/** The hashes of sections that follow one another. */
function hashesOf(bytes: Buffer, sections: readonly Span[]): Uint8Array {
  const hashes = Buffer.alloc(sections.length * SECTION_BYTES);
  if (sections.length === 0) return hashes;
  const marks = cacheMarksIn(bytes, { start: sections[0]!.start, end: sections.at(-1)!.end });
  for (const [at, section] of sections.entries())
    hashes.writeBigUInt64BE(hashSection(canonical(bytes, section, marks)), at * SECTION_BYTES);
  return hashes;
}

/**
 * The bytes of a section without what clients change from turn to turn without a change of its content.
 * @param all the marks in a range around the section
 */
function canonical(bytes: Buffer, section: Span, all: readonly Span[]): Uint8Array {
  const marks = all.length === 0 ? all : spansIn(all, section);
  const whole = bytes.subarray(section.start, section.end);
  const text = marks.length === 0 ? whole : without(bytes, section, marks);
  const begins = LIST_BEGINS.exec(text.toString("latin1", 0, EDGE));
  const ends = begins && LIST_ENDS.exec(text.toString("latin1", Math.max(0, text.length - EDGE)));
  if (!begins || !ends) return text;
  const [opening, content] = begins;
  return Buffer.concat([
    text.subarray(0, begins.index + content!.length),
    text.subarray(begins.index + opening!.length, text.length - ends[1]!.length - ends[2]!.length),
    text.subarray(text.length - ends[2]!.length),
  ]);
}

function beginningOf(bytes: Buffer, { start, end }: Span): string {
  return bytes.toString("latin1", start, Math.min(end, start + EDGE));
}

/** The part of a range without some ranges in it. */
function without(bytes: Buffer, { start, end }: Span, cuts: readonly Span[]): Buffer {
  const kept: Buffer[] = [];
  let from = start;
  for (const cut of cuts) {
    kept.push(bytes.subarray(from, cut.start));
    from = cut.end;
  }
  return Buffer.concat([...kept, bytes.subarray(from, end)]);
}

/** Of the Messages format, and of OpenAI. Their values are objects without objects in them. */
const NAMES = ["cache_control", "prompt_cache_breakpoint"];

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * Finds the members by which a client marks what a provider shall cache.
 * @returns their ranges with the comma before each, or after the first member of an object; sorted
 */
function cacheMarksIn(whole: Buffer, { start, end }: Span): Span[] {
  const found: Span[] = [];
  // What is searched ends with the range; its offsets are those of the whole.
  const bytes = whole.subarray(0, end);
  for (const name of NAMES)
    for (let at = bytes.indexOf(name, start, "latin1"); at >= 0; at = bytes.indexOf(name, at + 1, "latin1")) {
      const mark = markAround(bytes, at, at + name.length);
      if (mark) found.push(mark);
    }
  return found.sort((a, b) => a.start - b.start);
}

/** @param start start of the name @param end behind it @returns undefined if it is not the name of a member with an object */
function markAround(bytes: Buffer, start: number, end: number): Span | undefined {
  // The quotes of a name within a string are escaped.
  if (bytes[start - 1] !== QUOTE || bytes[end] !== QUOTE) return undefined;
  const colon = behindSpace(bytes, end + 1);
  if (bytes[colon] !== COLON) return undefined;
  const open = behindSpace(bytes, colon + 1);
  const close = bytes[open] === OPEN_BRACE ? bytes.indexOf(CLOSE_BRACE, open) : -1;
  if (close < 0) return undefined;
  let before = start - 2;
  while (isSpace(bytes[before]!)) before--;
  if (bytes[before] === COMMA) return { start: before, end: close + 1 };
  const after = behindSpace(bytes, close + 1);
  return { start: start - 1, end: bytes[after] === COMMA ? after + 1 : close + 1 };
}

function behindSpace(bytes: Buffer, at: number): number {
  while (isSpace(bytes[at]!)) at++;
  return at;
}

/** @param spans sorted @returns those within a range */
function spansIn(spans: readonly Span[], { start, end }: Span): readonly Span[] {
  let from = 0;
  let to = spans.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (spans[middle]!.start < start) from = middle + 1;
    else to = middle;
  }
  while (to < spans.length && spans[to]!.end <= end) to++;
  return spans.slice(from, to);
}
