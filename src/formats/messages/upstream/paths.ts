/** How the client that sent a request spells the fields a loss is about. */
import type { Call } from "../../../core/call.ts";
import type { ChatRequest, Turn } from "../../../core/chat.ts";

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

/** The name of a field in the client's request. Fields both formats spell alike need no lookup. */
export function fieldPath(field: Field, call: Call): string {
  return (call.format === "messages" ? MESSAGES : CHAT)[field];
}

/** Paths of turns and blocks in the client's request. */
export class TurnPaths {
  readonly #messages: boolean;
  /** In this format the system prompt is no message: the turns behind it count from 0. */
  readonly #offset: number;

  constructor(request: ChatRequest, call: Call) {
    this.#messages = call.format === "messages";
    this.#offset = this.#messages && request.turns[0]?.role === "system" ? 1 : 0;
  }

  turn(index: number): string {
    return index < this.#offset ? "system" : `messages[${index - this.#offset}]`;
  }

  /** The path of a block. In chat-completions calls and content are lists of their own. */
  block(turn: Turn, index: number, blockIndex: number): string {
    const path = this.turn(index);
    if (path === "system") return `system[${blockIndex}]`;
    const block = turn.blocks[blockIndex];
    if (this.#messages) return `${path}.content[${blockIndex}]`;
    if (block?.type === "tool-result" || block?.type === "reasoning") return path;
    const isCall = block?.type === "tool-call";
    const place = turn.blocks
      .slice(0, blockIndex)
      .filter((before) => (before.type === "tool-call") === isCall && before.type !== "reasoning").length;
    return `${path}.${isCall ? "tool_calls" : "content"}[${place}]`;
  }
}
