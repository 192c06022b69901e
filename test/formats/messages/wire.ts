/** Events of a Messages stream, as the vendor sends them. */
import type { JsonObject } from "../../../src/core/json.ts";

export const start = (usage: JsonObject = { input_tokens: 9, output_tokens: 1 }): JsonObject => ({
  type: "message_start",
  message: { id: "msg_1", type: "message", role: "assistant", model: "claude-x", content: [], usage },
});

export const open = (index: number, content_block: JsonObject): JsonObject => ({
  type: "content_block_start",
  index,
  content_block,
});

export const grow = (index: number, delta: JsonObject): JsonObject => ({
  type: "content_block_delta",
  index,
  delta,
});

export const close = (index: number): JsonObject => ({ type: "content_block_stop", index });

export const end = (
  stop_reason = "end_turn",
  more: JsonObject = {},
  usage: JsonObject = { output_tokens: 16 },
): JsonObject[] => [
  { type: "message_delta", delta: { stop_reason, stop_sequence: null, ...more }, usage },
  { type: "message_stop" },
];

export const says = (index: number, ...pieces: string[]): JsonObject[] => [
  open(index, { type: "text", text: "" }),
  ...pieces.map((text) => grow(index, { type: "text_delta", text })),
  close(index),
];

export const thinks = (index: number, signature: string, ...pieces: string[]): JsonObject[] => [
  open(index, { type: "thinking", thinking: "", signature: "" }),
  ...pieces.map((thinking) => grow(index, { type: "thinking_delta", thinking })),
  grow(index, { type: "signature_delta", signature }),
  close(index),
];

export const calls = (index: number, name: string, ...pieces: string[]): JsonObject[] => [
  open(index, { type: "tool_use", id: `t${index}`, name, input: {} }),
  ...pieces.map((partial_json) => grow(index, { type: "input_json_delta", partial_json })),
  close(index),
];
