/**
 * The meaning of a request, as lines of text: two requests with equal lines ask for the same answer, whatever their bytes, their
 * dialect and their order of members are. The lines are also what a diff of two requests shows.
 *
 * Not part of the meaning: whether the answer is streamed, ids of tool calls (they become numbers), marks for prompt caches,
 * ids of users and sessions, and the reasoning of earlier turns, which only its own provider can read.
 */
import { createHash } from "node:crypto";
import type { Block, ChatRequest, Source, Tool, Turn } from "../../core/chat.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { parseJson } from "../../core/json.ts";

export interface Meaning {
  model: string;
  /** Tools and conversation, which every dialect states. */
  lines: string[];
  /** Options by name, each as JSON text. A dialect may lack some of them, or require others. */
  options: Record<string, string>;
}

/** Replaces what may not be on a tape or changes with each run. */
export type Mask = (text: string) => string;

/** The meaning of a request for an answer. */
export function meaningOf(request: ChatRequest, mask: Mask): Meaning {
  const writer = new Script(mask);
  for (const tool of byName(request.tools)) writer.tool(tool);
  writer.turns(request.turns);
  return { model: mask(request.model), lines: writer.lines, options: optionsOf(request, mask) };
}

/**
 * The meaning of a request that is no conversation: its members, sorted.
 * @param body its members `model` and `stream` do not count
 */
export function meaningOfBody(body: JsonObject, model: string, mask: Mask): Meaning {
  const { model: _, stream: __, ...members } = body;
  const lines = Object.keys(members)
    .sort()
    .map((name) => `${name}: ${mask(shortened(sortedText(members[name])))}`);
  return { model: mask(model), lines, options: {} };
}

class Script {
  readonly lines: string[] = [];
  readonly #mask: Mask;
  /** The numbers of tool calls by their ids. */
  readonly #calls = new Map<string, number>();

  constructor(mask: Mask) {
    this.#mask = mask;
  }

  tool({ kind, name, description, parameters, grammar, value }: Tool): void {
    this.#add(0, `tool ${name}${kind === "function" ? "" : ` (${kind})`}`);
    if (description) this.#text(1, description);
    if (parameters) this.#add(1, sortedText(parameters));
    if (grammar) this.#text(1, `${grammar.syntax}: ${grammar.definition}`);
    if (kind === "foreign") this.#add(1, sortedText(value));
  }

  /** Turns of one role that follow each other are one: dialects cut them differently. */
  turns(turns: readonly Turn[]): void {
    let heading = "";
    let blocks: Block[] = [];
    const write = () => {
      const before = this.lines.length;
      this.#add(0, heading);
      const empty = this.lines.length;
      for (const block of this.#inOrder(blocks)) this.#block(1, block);
      // A turn without content means nothing.
      if (this.lines.length === empty) this.lines.length = before;
    };
    for (const turn of turns) {
      const next = turn.name === undefined ? turn.role : `${turn.role} (${turn.name})`;
      if (next !== heading && turn.blocks.some(counts)) {
        write();
        heading = next;
        blocks = [];
      }
      blocks.push(...turn.blocks);
    }
    write();
  }

  /** Results that follow each other, in the order of their calls: tools that run at once end in any order. */
  #inOrder(blocks: readonly Block[]): Block[] {
    const ordered: Block[] = [];
    let results: Extract<Block, { type: "tool-result" }>[] = [];
    const flush = () => {
      ordered.push(...results.sort((a, b) => this.#numberOf(a) - this.#numberOf(b)));
      results = [];
    };
    for (const block of blocks)
      if (block.type === "tool-result") results.push(block);
      else {
        flush();
        ordered.push(block);
      }
    flush();
    return ordered;
  }

  /** A result without the id of its call keeps its place. */
  #numberOf({ id }: { id: string }): number {
    return id === "" ? 0 : this.#number(id);
  }

  #block(depth: number, block: Block): void {
    switch (block.type) {
      case "text":
        // The client's own notes for one vendor change with each run.
        return counts(block) ? this.#text(depth, block.text) : undefined;
      case "refusal":
        this.#add(depth, "refusal");
        return this.#text(depth, block.text);
      case "reasoning":
        return undefined;
      case "image":
        return this.#add(depth, `image ${sourceText(block.source)}`);
      case "audio":
        return this.#add(depth, `audio ${block.format} ${digest(block.data)}`);
      case "document":
        return this.#document(depth, block);
      case "tool-call":
        return this.#add(depth, `call ${this.#number(block.id)}: ${block.name} ${inputText(block)}`);
      case "tool-result":
        this.#add(
          depth,
          `${block.error ? "failed " : ""}result of ${block.id === "" ? block.name : `call ${this.#number(block.id)}`}`,
        );
        for (const inner of block.blocks) this.#block(depth + 1, inner);
        return undefined;
      case "foreign":
        return this.#add(depth, `${block.format} ${shortened(sortedText(block.value))}`);
    }
  }

  #document(depth: number, { source, title }: Extract<Block, { type: "document" }>): void {
    const name = title === undefined ? "" : ` ${JSON.stringify(title)}`;
    if (source.type === "text") {
      this.#add(depth, `document${name}`);
      this.#text(depth + 1, source.text);
    } else if (source.type === "blocks") {
      this.#add(depth, `document${name}`);
      for (const block of source.blocks) this.#block(depth + 1, block);
    } else this.#add(depth, `document${name} ${sourceText(source)}`);
  }

  #number(id: string): number {
    let number = this.#calls.get(id);
    if (number === undefined) this.#calls.set(id, (number = this.#calls.size + 1));
    return number;
  }

  /** Text of the conversation: a bar tells it from the script's own words. */
  #text(depth: number, text: string): void {
    for (const line of this.#mask(text).split(/\r?\n/)) this.lines.push(`${indent(depth)}| ${line}`);
  }

  #add(depth: number, line: string): void {
    this.lines.push(indent(depth) + this.#mask(line).replaceAll("\n", " "));
  }
}

/** Whether a block leaves a line. */
const counts = (block: Block) =>
  block.type !== "reasoning" &&
  !(block.type === "text" && (block.onlyFor !== undefined || block.text === ""));

const indent = (depth: number) => "  ".repeat(depth);

const byName = (tools: readonly Tool[]) => tools.toSorted((a, b) => (a.name < b.name ? -1 : 1));

function inputText({ input, kind }: Extract<Block, { type: "tool-call" }>): string {
  const parsed = kind === "function" ? parseJson(input) : undefined;
  return parsed === undefined ? JSON.stringify(input) : sortedText(parsed);
}

function sourceText(source: Source): string {
  if (source.type === "url") return source.url;
  return source.type === "file" ? `file ${source.id}` : `${source.mediaType} ${digest(source.data)}`;
}

/** Stands for data that no reader of a tape can read. */
function digest(data: string): string {
  return `sha256:${createHash("sha256").update(data).digest("hex").slice(0, 16)} (${data.length} characters)`;
}

/** Base64 in the members of a body. */
const LONG_DATA = /[A-Za-z0-9+/_-]{512,}={0,2}/g;

/** The text with digests in place of long data. */
export const shortened = (text: string) => text.replace(LONG_DATA, digest);

/** JSON text with sorted members. */
export function sortedText(value: Json | undefined): string {
  return JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner !== "object" || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

/** The options that a request states. */
function optionsOf(request: ChatRequest, mask: Mask): Record<string, string> {
  const { toolChoice, parallelToolCalls, maxTokens, temperature, topP, topK, stop } = request;
  const { reasoning, answerFormat, verbosity } = request;
  const stated = {
    ...{ toolChoice, parallelToolCalls, maxTokens, temperature, topP, topK, reasoning, verbosity },
    answerFormat: answerFormat?.type === "text" ? undefined : answerFormat,
    stop: stop.length === 0 ? undefined : stop,
    ...ownOptions(request),
  };
  const options = Object.entries(stated).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, mask(sortedText(value as Json))] as const],
  );
  return Object.fromEntries(options.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Fields of the client's format alone, as far as they affect the answer. */
function ownOptions({ extra, ownFields = {} }: ChatRequest): Record<string, Json> {
  const options: Record<string, Json> = {};
  for (const [format, members] of Object.entries(extra))
    for (const [name, value] of Object.entries(members)) {
      const field = ownFields[format]?.[name];
      if (!field || value === undefined) continue;
      const counts = field.means !== undefined || field.refuse?.(value) || field.report?.(value);
      if (counts) options[field.means ?? name] = value;
    }
  return options;
}
