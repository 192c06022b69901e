/** Requests of clients of Ollama's API for the tables of what the formats carry. */
import type { JsonObject } from "../../src/core/json.ts";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const tool = { type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } };
const user = { role: "user", content: "u" };
const called = { role: "assistant", content: "", tool_calls: [{ function: { name: "f", arguments: {} } }] };
const options = (members: JsonObject): JsonObject => ({ options: members });

/** A name for the row, and the members it adds to the plainest chat. */
export const OLLAMA: readonly (readonly [name: string, members: JsonObject])[] = [
  ["`messages`, system anywhere", { messages: [user, { role: "system", content: "s" }, user] }],
  ["`temperature` up to 1, `num_predict`", options({ temperature: 0.5, num_predict: 100 })],
  ["`top_k`", options({ top_k: 40 })],
  ["`stop`", options({ stop: ["END"] })],
  ["`seed`", options({ seed: 7 })],
  ["`presence_penalty`, `frequency_penalty`", options({ presence_penalty: 1, frequency_penalty: 1 })],
  ["`min_p`, `repeat_penalty`", options({ min_p: 0.1, repeat_penalty: 1.1 })],
  ["`think`: true", { think: true }],
  ["`think`: false", { think: false }],
  ["`think`: high", { think: "high" }],
  ["`format`: json", { format: "json" }],
  ["`format`: a JSON schema", { format: { type: "object", properties: {} } }],
  ["`images`", { messages: [{ ...user, images: [PNG] }] }],
  ["`tools`", { tools: [tool] }],
  [
    "calls and results without ids",
    { tools: [tool], messages: [user, called, { role: "tool", content: "r" }] },
  ],
  [
    "`thinking` of an earlier turn",
    { messages: [user, { role: "assistant", content: "a", thinking: "t" }, user] },
  ],
  ["`logprobs`", { logprobs: true }],
];

/** The same for a prompt. */
export const OLLAMA_GENERATE: readonly (readonly [name: string, members: JsonObject])[] = [
  ["`system`, `images`", { system: "s", images: [PNG] }],
  ["`template`, `raw`", { template: "{{ .Prompt }}", raw: true }],
  ["`suffix`", { suffix: "s" }],
  ["`context`", { context: [1, 2] }],
];
