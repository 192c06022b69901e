/** Paths of fields, turns and blocks in the client's request, for losses and errors. */
import type { Block, ChatRequest, Turn } from "../../../core/chat.ts";

type Field = "stop" | "thinking" | "effort" | "answerFormat" | "citations";

const MESSAGES: Record<Field, string> = {
  stop: "stop_sequences",
  thinking: "thinking",
  effort: "output_config.effort",
  answerFormat: "output_config.format",
  citations: "citations",
};

const CHAT: Record<Field, string> = {
  stop: "stop",
  thinking: "reasoning_effort",
  effort: "reasoning_effort",
  answerFormat: "response_format",
  citations: "citations",
};

/** Returns the name of a field in the client's request. Fields with the same name in all formats need no lookup. */
export function fieldPath(field: Field, sameFormat: boolean): string {
  return (sameFormat ? MESSAGES : CHAT)[field];
}

/**
 * Finds the paths of turns and blocks. A turn is a message, with two exceptions: in this format the system prompt is a field
 * of its own, and in chat-completions each tool result is a message of its own.
 */
export class TurnPaths {
  readonly #ownFormat: boolean;
  /** The index of each turn's first message; -1 for the system field. */
  readonly #first: number[] = [];
  /** Whether each turn consists of results that are messages of their own. */
  readonly #results: boolean[] = [];
  /** Cache of one turn's block positions, because callers ask for the blocks of a turn one after the other. */
  #cached: { turn: Turn; positions: number[] } | undefined;

  constructor(request: ChatRequest, sameFormat: boolean) {
    this.#ownFormat = sameFormat;
    let next = this.#ownFormat && request.turns[0]?.role === "system" ? -1 : 0;
    for (const turn of request.turns) {
      const isResults = this.#isResults(turn);
      this.#first.push(next);
      this.#results.push(isResults);
      next += isResults ? turn.blocks.length : 1;
    }
  }

  #isResults({ blocks }: Turn): boolean {
    return !this.#ownFormat && blocks.length > 0 && blocks.every(({ type }) => type === "tool-result");
  }

  turn(index: number): string {
    const first = this.#first[index]!;
    return first < 0 ? "system" : `messages[${first}]`;
  }

  /** Returns the path of a block. In chat-completions calls and content are separate lists. */
  block(turn: Turn, index: number, blockIndex: number): string {
    const path = this.turn(index);
    if (path === "system") return `system[${blockIndex}]`;
    if (this.#ownFormat) return `${path}.content[${blockIndex}]`;
    if (this.#results[index]) return `messages[${this.#first[index]! + blockIndex}]`;
    const list = listOf(turn.blocks[blockIndex]!);
    if (list === undefined) return path;
    if (this.#cached?.turn !== turn) this.#cached = { turn, positions: positionsOf(turn) };
    return `${path}.${list}[${this.#cached.positions[blockIndex]}]`;
  }
}

function positionsOf({ blocks }: Turn): number[] {
  const next = new Map<string | undefined, number>();
  return blocks.map((block) => {
    const list = listOf(block);
    const position = next.get(list) ?? 0;
    next.set(list, position + 1);
    return position;
  });
}

/** Returns the list of a chat-completions message that a block comes from; reasoning comes from several fields. */
function listOf({ type }: Block): string | undefined {
  if (type === "reasoning") return undefined;
  return type === "tool-call" ? "tool_calls" : "content";
}

/** Returns the path of the arguments of the tool call at `path`. */
export function inputPath(path: string, sameFormat: boolean): string {
  return `${path}.${sameFormat ? "input" : "function.arguments"}`;
}

type ToolMember = "strict" | "parameters" | "format";

/** Returns the path of a tool, or of a member of it. */
export function toolPath(
  request: ChatRequest,
  index: number,
  sameFormat: boolean,
  member?: ToolMember,
): string {
  if (sameFormat)
    return `tools[${index}]${member ? `.${member === "parameters" ? "input_schema" : member}` : ""}`;
  const list = request.style.legacyFunctions ? "functions" : "tools";
  const holder =
    list === "functions" ? "" : `.${request.tools[index]?.kind === "custom" ? "custom" : "function"}`;
  return `${list}[${index}]${member ? `${holder}.${member}` : ""}`;
}
