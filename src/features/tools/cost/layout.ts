/**
 * Where the tools of a request are: the sizes of their definitions and of their results, in the order in which providers read and
 * cache a prompt. It holds names and sizes, and no text.
 */
import type { Block, ChatRequest, Tool } from "../../../core/chat.ts";

/** The definition of a tool in a request. */
export interface ToolSize {
  readonly name: string;
  /** Bytes. */
  readonly bytes: number;
  /** The vendor runs it, or only one format knows it: weir does not see its calls. */
  readonly isHosted?: true;
}

/** A result of a tool in the conversation. Bytes from the beginning of the prompt. */
export interface ResultSpan {
  readonly tool: string;
  readonly from: number;
  readonly to: number;
}

export interface Layout {
  /** In the order of the request; they are the beginning of the prompt. */
  readonly tools: readonly ToolSize[];
  /** In order. */
  readonly results: readonly ResultSpan[];
  /** Tools that the conversation has calls of. */
  readonly called: ReadonlySet<string>;
  /** Results of the newest turn that say that the tool failed, by tool. */
  readonly errors: ReadonlyMap<string, number>;
  /** Size of the prompt. Bytes. */
  readonly bytes: number;
  /** The provider knows more of the prompt than the request says. */
  readonly isPart?: boolean;
}

/** Most definitions that a call notes, and most tools with results; the others are in the rest. */
const MOST_TOOLS = 2_000;
/** Longest name that a call notes. Characters. */
const LONGEST = 128;

/** A name as it is noted: clients choose it. */
export const notedName = (name: string): string => name.slice(0, LONGEST);

/** What an image counts, whatever its size: no vendor counts its base64. Bytes. */
const IMAGE_BYTES = 6_000;
/** Bytes of base64 of a document or a sound that count as one. */
const MEDIA_BYTES = 5;

/** The sizes of a request. @param all the sizes of its definitions, if they are known */
export function layoutOf(request: ChatRequest, all: readonly ToolSize[] = sizesOf(request.tools)): Layout {
  const names = new Map<string, string>();
  const results: ResultSpan[] = [];
  const called = new Set<string>();
  const errors = new Map<string, number>();
  const last = request.turns.findLastIndex(({ role }) => role === "assistant");
  const tools = all.length > MOST_TOOLS ? all.slice(0, MOST_TOOLS) : all;
  let at = all.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const [index, { blocks }] of request.turns.entries())
    for (const block of blocks) {
      const from = at;
      at += bytesOf(block);
      if (block.type === "tool-call") {
        const name = notedName(block.name);
        names.set(block.id, name);
        if (called.size < MOST_TOOLS) called.add(name);
      } else if (block.type === "tool-result") {
        const tool = names.get(block.id) ?? (block.name === undefined ? undefined : notedName(block.name));
        if (tool === undefined) continue;
        if (called.size < MOST_TOOLS) called.add(tool);
        if (!called.has(tool)) continue;
        results.push({ tool, from, to: at });
        if (index > last && block.error) errors.set(tool, (errors.get(tool) ?? 0) + 1);
      }
    }
  return { tools, results, called, errors, bytes: at };
}

/** The sizes of definitions. */
export function sizesOf(tools: readonly Tool[]): ToolSize[] {
  return tools.map(({ kind, name, description = "", parameters, grammar, value }) => {
    const rest = [parameters, grammar, kind === "foreign" ? value : undefined];
    const bytes = rest.reduce(
      (sum, part) => sum + (part === undefined ? 0 : textBytes(JSON.stringify(part))),
      textBytes(name) + textBytes(description),
    );
    return { name: notedName(name), bytes, ...(kind === "foreign" && { isHosted: true as const }) };
  });
}

function bytesOf(block: Block): number {
  switch (block.type) {
    case "text":
    case "reasoning":
    case "refusal":
      return textBytes(block.text);
    case "tool-call":
      return textBytes(block.name) + textBytes(block.input);
    case "tool-result":
      return allBytes(block.blocks);
    case "image":
      return IMAGE_BYTES;
    case "audio":
      return mediaBytes(block.data);
    case "document":
      return textBytes(`${block.title ?? ""}${block.context ?? ""}`) + documentBytes(block.source);
    case "foreign":
      return block.text === undefined ? textBytes(JSON.stringify(block.value)) : textBytes(block.text);
  }
}

function documentBytes(source: Extract<Block, { type: "document" }>["source"]): number {
  if (source.type === "text") return textBytes(source.text);
  if (source.type === "blocks") return allBytes(source.blocks);
  return source.type === "base64" ? mediaBytes(source.data) : IMAGE_BYTES;
}

const allBytes = (blocks: readonly Block[]) => blocks.reduce((sum, block) => sum + bytesOf(block), 0);
const mediaBytes = (data: string) => Math.ceil(data.length / MEDIA_BYTES);
const textBytes = (text: string) => Buffer.byteLength(text);
