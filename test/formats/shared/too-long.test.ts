/** A prompt that is too long, in the words that clients of each dialect match on. */
import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../../src/core/error.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { chatCompletionsFormat } from "../../../src/formats/chat-completions/index.ts";
import { messagesFormat } from "../../../src/formats/messages/index.ts";

const CLIENTS = { "chat-completions": chatCompletionsFormat.client, messages: messagesFormat.client };

function told(client: keyof typeof CLIENTS, message: string, code = "context_length_exceeded"): string {
  const error = new GatewayError("invalid-request", message, { code });
  const { body } = CLIENTS[client].codec.encodeError(error, "req_1");
  const [frame] = CLIENTS[client].codec.encodeStreamError(error, "req_1");
  const inBand = (JSON.parse(frame!.data) as JsonObject).error as JsonObject;
  const said = (body.error as JsonObject).message as string;
  expect(inBand.message).toBe(said);
  return said;
}

/** What vendors say, and the two numbers in it, where they are the prompt's length and the limit. */
const SENTENCES: [message: string, sent: number, allowed: number][] = [
  ["prompt is too long: 210000 tokens > 200000 maximum", 210000, 200000],
  ["input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease", 210000, 200000],
  [
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
    9000,
    8192,
  ],
  [
    "This endpoint's maximum context length is 163,840 tokens. However, you requested about 200,000 tokens.",
    200000,
    163840,
  ],
  ["request (2009 tokens) exceeds the available context size (512 tokens), try increasing it", 2009, 512],
  [
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    1200000,
    1048576,
  ],
  ["prompt token count of 150000 exceeds the limit of 128000", 150000, 128000],
  ["This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 537812, 131072],
  ["Your request exceeded model token limit: 262144 (requested: 300000)", 300000, 262144],
  [
    "Prompt contains 200000 tokens and 0 draft tokens, too large for model with 131072 maximum context length",
    200000,
    131072,
  ],
  ["`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens", 5000, 4096],
  ["The input (9000 tokens) is longer than the model's context length (8192 tokens).", 9000, 8192],
];

const WITHOUT_FIGURES = [
  "Input is too long for requested model.",
  "the request exceeds the available context size",
  "invalid params, context window exceeds limit (2013)",
  "Please reduce the length of the messages or completion.",
];

describe("OpenAI's sentence for a chat-completions client", () => {
  test.each(SENTENCES)("%s", (message, sent, allowed) => {
    expect(told("chat-completions", message)).toStartWith(
      `This model's maximum context length is ${allowed} tokens. However, your messages resulted in ${sent} tokens.`,
    );
  });

  test("one that is OpenAI's already stays", () => {
    const message =
      "This model's maximum context length is 128000 tokens. However, you requested 130000 tokens (129000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.";
    expect(told("chat-completions", message)).toBe(message);
  });

  test.each(WITHOUT_FIGURES)("without figures: %s", (message) => {
    const said = told("chat-completions", message);
    // LiteLLM, and aider with it, looks for this beginning.
    expect(said).toStartWith("This model's maximum context length is ");
    expect(said).toEndWith(message);
    expect(said.replace(message, "")).not.toMatch(/\d/);
  });
});

describe("Anthropic's sentence for a messages client", () => {
  test.each(SENTENCES.slice(2))("%s", (message, sent, allowed) => {
    expect(told("messages", message)).toStartWith(`prompt is too long: ${sent} tokens > ${allowed} maximum`);
  });

  test("one that is Anthropic's already stays", () => {
    for (const [message] of SENTENCES.slice(0, 2)) expect(told("messages", message)).toBe(message);
  });

  test.each(WITHOUT_FIGURES)("without figures: %s", (message) => {
    const said = told("messages", message);
    expect(said).toStartWith("prompt is too long");
    expect(said).toEndWith(message);
    expect(said.replace(message, "")).not.toMatch(/\d/);
  });
});

test("numbers that are not the two figures are not taken for them", () => {
  const message = "The maximum context length is 128000 tokens; 4000 tokens were requested for the answer.";
  expect(told("chat-completions", message)).toBe(
    `This model's maximum context length is exceeded: ${message}`,
  );
});

test("other errors keep their sentence", () => {
  for (const client of ["chat-completions", "messages"] as const)
    expect(told(client, "prompt is too long", "some_code")).toBe("prompt is too long");
});
