/** Where in the client's own request a thing stood that is not carried over, in the spelling of its format. */
import type { Call } from "../../../core/call.ts";
import type { Turn } from "../../../core/chat.ts";
import { getOwn } from "../../../core/own.ts";

/** What the encoder may have to name. */
type Field =
  | "maxTokens"
  | "stop"
  | "effort"
  | "thinking"
  | "parallelToolCalls"
  | "answerFormat"
  | "serviceTier"
  | "topP";

/** Spelling by client format; others say it as this format does. */
const SPELLINGS: Record<string, Record<Field, string>> = {
  messages: {
    maxTokens: "max_tokens",
    stop: "stop_sequences",
    effort: "output_config.effort",
    thinking: "thinking",
    parallelToolCalls: "tool_choice.disable_parallel_tool_use",
    answerFormat: "output_config.format",
    serviceTier: "service_tier",
    topP: "top_p",
  },
};

const OWN: Record<Field, string> = {
  maxTokens: "max_tokens",
  stop: "stop",
  effort: "reasoning_effort",
  thinking: "reasoning_effort",
  parallelToolCalls: "parallel_tool_calls",
  answerFormat: "response_format",
  serviceTier: "service_tier",
  topP: "top_p",
};

export function fieldPath(call: Call, field: Field): string {
  return (getOwn(SPELLINGS, call.format) ?? OWN)[field];
}

/**
 * Paths of the turns in the client's request. A client of the messages format has its system prompt outside the list, one
 * of this format has each tool result as a message of its own.
 */
export function turnPaths(turns: readonly Turn[], call: Call): string[] {
  let next = 0;
  return turns.map((turn, index) => {
    if (call.format === "messages" && index === 0 && turn.role === "system") return "system";
    const path = `messages[${next}]`;
    const results = turn.blocks.filter((block) => block.type === "tool-result").length;
    next += call.format === "messages" ? 1 : Math.max(1, results);
    return path;
  });
}

/** The path of a block in the turn at `path`. */
export function blockPath(path: string, index: number): string {
  return path === "system" ? `system[${index}]` : `${path}.content[${index}]`;
}

/** The path of the arguments of a call. @param at the path of its turn, its place among the blocks and among the calls */
export function inputPath(at: { path: string; index: number; call: number }, call: Call): string {
  return call.format === "messages"
    ? `${blockPath(at.path, at.index)}.input`
    : `${at.path}.tool_calls[${at.call}].function.arguments`;
}

/**
 * The path of the tool result at this place of the turn at `path`: a block of its message in the messages format, a message
 * of its own in this one.
 */
export function resultPath(path: string, place: number, call: Call): string {
  if (call.format === "messages") return blockPath(path, place);
  const first = Number(/\d+/.exec(path)?.[0] ?? 0);
  return `messages[${first + place}]`;
}
