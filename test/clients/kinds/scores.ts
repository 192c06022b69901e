/**
 * A host of completions whose tokens are bytes. How likely a byte is follows from the one before it, so that an evaluator gets the same
 * figures wherever it asks, and the likeliest byte is always known.
 */
import type { JsonObject } from "../../../src/core/json.ts";
import { type Handler, json, sse } from "../../helpers/upstream.ts";

const likely = (before: number) => (before * 7 + 3) % 256;

/** The log probability of a byte behind another: that of the likeliest one is the largest. */
const logProbability = (before: number, byte: number) =>
  byte === likely(before) ? -0.125 : -1 - ((before * 31 + byte * 17) % 64) / 8;

function scored(prompt: readonly number[], asked: JsonObject) {
  const most = (asked["max_tokens"] ?? 16) as number;
  const bytes = [...prompt];
  for (let count = 0; count < most; count++) bytes.push(likely(bytes.at(-1) ?? 0));
  const shown = asked["echo"] === true ? bytes : bytes.slice(prompt.length);
  const from = bytes.length - shown.length;
  const before = (at: number) => bytes[from + at - 1];
  const logprobs = {
    tokens: shown.map((byte) => String.fromCharCode(byte)),
    token_logprobs: shown.map((byte, at) =>
      before(at) === undefined ? null : logProbability(before(at)!, byte),
    ),
    top_logprobs: shown.map((_byte, at) =>
      before(at) === undefined ? null : { [String.fromCharCode(likely(before(at)!))]: -0.125 },
    ),
    text_offset: shown.map((_byte, at) => at),
  };
  const text = Buffer.from(shown).toString("latin1");
  return { text, logprobs: asked["logprobs"] == null ? null : logprobs, finish_reason: "length" };
}

const bytesOf = (prompt: unknown): number[] =>
  typeof prompt === "string" ? [...Buffer.from(prompt)] : (prompt as number[]);

/** A prompt, or a list of them. */
function promptsOf(prompt: unknown): number[][] {
  const isOne = typeof prompt === "string" || (Array.isArray(prompt) && typeof prompt[0] === "number");
  return (isOne ? [prompt] : (prompt as unknown[])).map(bytesOf);
}

/** What was written in the middle: both sides, as the host got them. */
const middle = (body: JsonObject) => JSON.stringify([body["prompt"], body["suffix"] ?? null]);

export const scoreTexts: Handler = ({ body: bytes, path, method }) => {
  if (method === "GET") return json({ data: [] });
  const body = JSON.parse(bytes.toString()) as JsonObject;
  const isChat = path === "/fim";
  const prompts = isChat ? [] : promptsOf(body["prompt"]);
  const read = prompts.reduce((sum, { length }) => sum + length, 0) || 1;
  const usage = { prompt_tokens: read, completion_tokens: 4, total_tokens: read + 4 };
  const head = {
    id: "cmpl-1",
    object: isChat ? "chat.completion" : "text_completion",
    created: 1,
    model: "m",
  };
  const isMiddle = isChat || body["suffix"] != null;
  if (body["stream"] !== true) {
    const message = { role: "assistant", content: middle(body) };
    const texts = isMiddle
      ? [
          isChat
            ? { message, finish_reason: "stop" }
            : { text: middle(body), logprobs: null, finish_reason: "stop" },
        ]
      : prompts.map((prompt) => scored(prompt, body));
    return json({ ...head, choices: texts.map((text, index) => ({ index, ...text })), usage });
  }
  const text = isMiddle ? middle(body) : scored(prompts[0]!, body).text;
  const piece = (part: string, finish: string | null) =>
    isChat
      ? { index: 0, delta: { content: part }, finish_reason: finish }
      : { index: 0, text: part, logprobs: null, finish_reason: finish };
  const pieces = [...(text.match(/[^]{1,3}/g) ?? []).map((part) => piece(part, null)), piece("", "stop")];
  const chunk = (choices: object[], more: object = {}) =>
    `data: ${JSON.stringify({ ...head, choices, ...more })}\n\n`;
  const counts = isChat ? [] : [chunk([], { usage })];
  return sse([...pieces.map((one) => chunk([one])), ...counts, "data: [DONE]\n\n"]);
};
