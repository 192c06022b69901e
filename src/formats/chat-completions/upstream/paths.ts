/** Paths of fields, turns and blocks in the client's request, for losses and errors. */
import type { Turn } from "../../../core/chat.ts";

type Field =
  | "maxTokens"
  | "stop"
  | "effort"
  | "thinking"
  | "parallelToolCalls"
  | "answerFormat"
  | "serviceTier"
  | "topP";

const OTHER: Record<Field, string> = {
  maxTokens: "max_tokens",
  stop: "stop_sequences",
  effort: "output_config.effort",
  thinking: "thinking",
  parallelToolCalls: "tool_choice.disable_parallel_tool_use",
  answerFormat: "output_config.format",
  serviceTier: "service_tier",
  topP: "top_p",
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

export function fieldPath(sameFormat: boolean, field: Field): string {
  return (sameFormat ? OWN : OTHER)[field];
}

/**
 * Returns the paths of the turns. In the messages format the system prompt is outside the list of messages; in this format
 * each tool result is a message of its own.
 */
export function turnPaths(turns: readonly Turn[], sameFormat: boolean): string[] {
  let next = 0;
  return turns.map((turn, index) => {
    if (!sameFormat && index === 0 && turn.role === "system") return "system";
    const path = `messages[${next}]`;
    const results = turn.blocks.filter((block) => block.type === "tool-result").length;
    next += sameFormat ? Math.max(1, results) : 1;
    return path;
  });
}

/** Returns the path of a block in the turn at `path`. */
export function blockPath(path: string, index: number): string {
  return path === "system" ? `system[${index}]` : `${path}.content[${index}]`;
}

/** Returns the path of a call's arguments. @param at path of its turn, index among the blocks, index among the calls */
export function inputPath(at: { path: string; index: number; call: number }, sameFormat: boolean): string {
  return sameFormat
    ? `${at.path}.tool_calls[${at.call}].function.arguments`
    : `${blockPath(at.path, at.index)}.input`;
}

/**
 * Returns the path of a tool result: a block of its message in the messages format, a message of its own in this one.
 */
export function resultPath(path: string, place: number, sameFormat: boolean): string {
  if (!sameFormat) return blockPath(path, place);
  const first = Number(/\d+/.exec(path)?.[0] ?? 0);
  return `messages[${first + place}]`;
}
