/**
 * Hashes the sections of a prompt, so that a later request shows where its prefix differs. It reads bytes, because the native
 * lane does not parse the body.
 */
import type { SessionSource } from "../../core/format.ts";
import { isObject, parseJson } from "../../core/json.ts";
import type { PromptPart, PromptSections } from "../../core/prompt-sections.ts";
import { hashSection, SECTION_BYTES } from "../../core/section-hash.ts";
import { elementsOf } from "../../stream/scan.ts";
import type { Span } from "../../stream/span.ts";
import { CACHE_MARK } from "./session.ts";

/** Where a request has its sections. */
export interface PromptMembers {
  /** Members that providers put before the conversation, in the order in which they cache them. */
  head: readonly string[];
  /** Member with the turns of the conversation. */
  turns: string;
}

/** Further sections are not compared. */
const MAX_SECTIONS = 512;
/** Where a message says its role and how its content begins. Bytes. */
const EDGE = 96;
const MARK = "cache_control";
const OPEN_BRACKET = 0x5b;
/** Turns of these roles at the beginning of the conversation belong to the head. */
const HEAD_ROLE = /"role"\s*:\s*"(?:system|developer)"/;
/** A message whose content may be one text: clients write that as a string, or as a list with one block to mark it. */
const TEXT_CONTENT = /"content"\s*:\s*(?:"|\[\s*\{\s*"type"\s*:\s*"text")/;

/** @returns undefined for a request without turns */
export function sectionsOf(source: SessionSource, members: PromptMembers): PromptSections | undefined {
  const bytes = Buffer.from(source.bytes.buffer, source.bytes.byteOffset, source.bytes.byteLength);
  const turns = source.spanOf(members.turns);
  if (!turns) return undefined;
  const hashes = new SectionHashes(bytes);
  const parts: PromptPart[] = [];
  for (const name of members.head) {
    const span = source.spanOf(name);
    if (span) hashes.addMember(name, span, parts);
  }
  const head = hashes.count;
  hashes.addMember(members.turns, turns, parts);
  return { parts, head: head + hashes.leadingHead, hashes: hashes.all };
}

class SectionHashes {
  readonly #bytes: Buffer;
  readonly #hashes = Buffer.allocUnsafe(MAX_SECTIONS * SECTION_BYTES);
  /** The next mark of the body at or behind the last section. */
  #mark = -1;
  count = 0;
  /** Number of sections at the beginning of the last member that belong to the head by their role. */
  leadingHead = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get all(): Uint8Array {
    return new Uint8Array(this.#hashes.subarray(0, this.count * SECTION_BYTES));
  }

  /** @param parts gets the member, unless it is an empty list */
  addMember(name: string, span: Span, parts: PromptPart[]): void {
    this.leadingHead = 0;
    this.#mark = this.#bytes.indexOf(MARK, span.start, "latin1");
    let elements = 0;
    let isHead = true;
    for (const element of elementsOf(this.#bytes, span)) {
      if (this.count >= MAX_SECTIONS) break;
      isHead &&= HEAD_ROLE.test(
        this.#bytes.toString("latin1", element.start, Math.min(element.end, element.start + EDGE)),
      );
      if (isHead) this.leadingHead++;
      this.#add(element);
      elements++;
    }
    const isList = this.#bytes[span.start] === OPEN_BRACKET;
    const isOne = !isList && this.count < MAX_SECTIONS;
    if (isOne) this.#add(span);
    if (isOne || elements > 0) parts.push([name, elements]);
  }

  #add({ start, end }: Span): void {
    const hash = hashSection(this.#canonical(start, end));
    this.#hashes.writeBigUInt64BE(hash, this.count * SECTION_BYTES);
    this.count++;
  }

  /** The bytes of a section without what clients change from turn to turn without a change of its content. */
  #canonical(start: number, end: number): Buffer | string {
    const bytes = this.#bytes;
    while (this.#mark >= 0 && this.#mark < start) this.#mark = bytes.indexOf(MARK, start, "latin1");
    const isMarked = this.#mark >= 0 && this.#mark < end;
    const beginning = bytes.toString("latin1", start, Math.min(end, start + EDGE));
    const mayBeText = TEXT_CONTENT.test(beginning);
    if (!isMarked && !mayBeText) return bytes.subarray(start, end);
    const text = bytes.toString("utf8", start, end).replace(CACHE_MARK, "");
    return (mayBeText && oneText(text)) || text;
  }
}

/** @returns role and text of a message whose content is one text */
function oneText(message: string): string | undefined {
  const parsed = parseJson(message);
  if (!isObject(parsed)) return undefined;
  const { content, ...rest } = parsed;
  if (typeof content === "string") return `${JSON.stringify(rest)}${content}`;
  const [block, second] = Array.isArray(content) ? content : [];
  if (second !== undefined || !isObject(block) || typeof block["text"] !== "string") return undefined;
  for (const name in block) if (name !== "type" && name !== "text") return undefined;
  return `${JSON.stringify(rest)}${block["text"]}`;
}
