/** Paths of fields, turns and blocks in the client's request, for losses and errors. */
import type { Call } from "../../../core/call.ts";
import type { Turn } from "../../../core/chat.ts";
import { getOwn } from "../../../core/own.ts";

type Field =
  | "maxTokens"
  | "stop"
  | "effort"
  | "thinking"
  | "parallelToolCalls"
  | "answerFormat"
  | "serviceTier"
  | "topP";

/** Field names by client format; other formats use the names of this one. */
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
 * Returns the paths of the turns. In the messages format the system prompt is outside the list of messages; in this format
 * each tool result is a message of its own.
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

/** Returns the path of a block in the turn at `path`. */
export function blockPath(path: string, index: number): string {
  return path === "system" ? `system[${index}]` : `${path}.content[${index}]`;
}

/** Returns the path of a call's arguments. @param at path of its turn, index among the blocks, index among the calls */
export function inputPath(at: { path: string; index: number; call: number }, call: Call): string {
  return call.format === "messages"
    ? `${blockPath(at.path, at.index)}.input`
    : `${at.path}.tool_calls[${at.call}].function.arguments`;
}

/**
 * Returns the path of a tool result: a block of its message in the messages format, a message of its own in this one.
 */
export function resultPath(path: string, place: number, call: Call): string {
  if (call.format === "messages") return blockPath(path, place);
  const first = Number(/\d+/.exec(path)?.[0] ?? 0);
  return `messages[${first + place}]`;
}
