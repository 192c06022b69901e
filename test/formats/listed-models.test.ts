/** What hosts' own lists of models tell: entries in the shapes of several hosts, and recorded lists. */
import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../src/core/json.ts";
import { parseJson } from "../../src/core/json.ts";
import type { ModelFacts } from "../../src/core/model-facts.ts";
import { chatCompletionsFormat } from "../../src/formats/chat-completions/index.ts";
import { geminiFormat } from "../../src/formats/gemini/index.ts";
import { messagesFormat } from "../../src/formats/messages/index.ts";
import { NO_RECORDINGS, haveRecordings, recordings } from "../helpers/recordings.ts";

const read = {
  chat: chatCompletionsFormat.upstream!.address.models?.factsIn!,
  messages: messagesFormat.upstream.address.models?.factsIn!,
  gemini: geminiFormat.upstream!.address.models?.factsIn!,
};

describe("an entry of a list that chat-completions hosts write", () => {
  const CASES: readonly (readonly [what: string, entry: JsonObject, facts: ModelFacts | undefined])[] = [
    [
      "of names only says nothing",
      { id: "a", object: "model", created: 1_700_000_000, owned_by: "b" },
      undefined,
    ],
    [
      "of vLLM has the length that the server was started with",
      { max_model_len: 4096 },
      { contextWindow: 4096 },
    ],
    [
      "of llama.cpp has the length in use, not that of the training",
      { meta: { n_ctx: 4096, n_ctx_train: 40_960 } },
      { contextWindow: 4096 },
    ],
    [
      "of Groq has its limits",
      { context_window: 131_072, max_completion_tokens: 32_768 },
      { contextWindow: 131_072, maxOutput: 32_768 },
    ],
    [
      "of Together has dollars a million tokens",
      {
        ...{ display_name: "Acme", context_length: 8192 },
        pricing: { hourly: 0, input: 0.5, output: 1.5, base: 0, finetune: 0 },
      },
      { name: "Acme", contextWindow: 8192, prices: { input: 5e-7, output: 1.5e-6 } },
    ],
    [
      "of Perplexity names the unit of its prices",
      { pricing: { input: 5, output: 25, cache_read: 0.5, unit: "usd_per_1m_tokens" } },
      { prices: { input: 5e-6, output: 2.5e-5, cacheRead: 5e-7 } },
    ],
    ["with prices of an unknown unit says nothing of them", { pricing: { input: 5, output: 25 } }, undefined],
    [
      "of Mistral has abilities and the day on which the model ends",
      {
        ...{ name: "acme-2505", max_context_length: 131_072, deprecation: "2026-08-31T12:00:00Z" },
        capabilities: { function_calling: true, reasoning: false, vision: true, audio: false },
      },
      {
        ...{ name: "acme-2505", contextWindow: 131_072, deprecatedOn: "2026-08-31" },
        ...{ input: ["text", "image"], abilities: { tools: true, reasoning: false } },
      },
    ],
    [
      "of GitHub Copilot has its members in groups",
      {
        name: "Acme",
        capabilities: {
          limits: { max_context_window_tokens: 264_000, max_output_tokens: 64_000 },
          supports: { tool_calls: true, parallel_tool_calls: true, structured_outputs: true, vision: true },
        },
      },
      {
        ...{ name: "Acme", contextWindow: 264_000, maxOutput: 64_000, input: ["text", "image"] },
        abilities: { tools: true, parallelTools: true, jsonSchema: true },
      },
    ],
    [
      "of OpenRouter names all that the model takes",
      { supported_parameters: ["tools", "temperature"], pricing: { prompt: "0", completion: "0" } },
      {
        abilities: {
          ...{ tools: true, sampling: true, parallelTools: false, forcedTools: false },
          ...{ jsonSchema: false, jsonObject: false, reasoning: false },
        },
        options: ["temperature", "tools"],
        prices: { input: 0, output: 0 },
      },
    ],
    [
      "with members of other kinds says nothing of them",
      {
        context_length: "8k",
        max_model_len: 0,
        name: 5,
        pricing: [],
        supported_parameters: "tools",
        deprecation: 5,
      },
      undefined,
    ],
  ];
  for (const [what, entry, facts] of CASES)
    test(what, () => {
      expect(read.chat(entry)).toEqual(facts!);
    });
});

test("an entry of Anthropic's list has limits, capabilities and dates", () => {
  const is = (supported: boolean) => ({ supported });
  const capabilities = {
    ...{ image_input: is(true), pdf_input: is(false), structured_outputs: is(true) },
    thinking: { ...is(true), types: {} },
  };
  const entry = {
    ...{
      id: "a",
      display_name: "Acme 1",
      created_at: "2026-02-01T00:00:00Z",
      retires_at: "2027-02-01T00:00:00Z",
    },
    ...{ max_input_tokens: 1000, max_tokens: 100, capabilities },
  };
  expect(read.messages(entry)).toEqual({
    ...{ name: "Acme 1", contextWindow: 1000, maxOutput: 100, input: ["text", "image"] },
    abilities: { jsonSchema: true, reasoning: true },
    ...{ created: 1_769_904_000, deprecatedOn: "2027-02-01" },
  });
  const unknown = {
    created_at: "1970-01-01T00:00:00Z",
    max_input_tokens: null,
    capabilities: null,
    retires_at: null,
  };
  expect(read.messages(unknown)).toBeUndefined();
});

test("an entry of Google's list has limits", () => {
  const entry = { displayName: "Acme", inputTokenLimit: 1000, outputTokenLimit: 100, thinking: true };
  expect(read.gemini(entry)).toEqual({
    ...{ name: "Acme", contextWindow: 1000, maxOutput: 100, abilities: { reasoning: true } },
  });
});

if (!haveRecordings) console.log(NO_RECORDINGS);

/** The members that each recorded list must yield for most of its entries. */
const RECORDED: readonly (readonly [
  vendor: string,
  format: keyof typeof read,
  members: (keyof ModelFacts)[],
])[] = [
  ["anthropic", "messages", ["name", "contextWindow", "maxOutput", "input", "abilities"]],
  ["copilot", "chat", ["name", "contextWindow", "abilities"]],
  ["gemini", "gemini", ["name", "contextWindow", "maxOutput"]],
  ["mistral", "chat", ["name", "contextWindow", "input", "abilities"]],
  ["perplexity", "chat", ["prices"]],
  ["llamacpp", "chat", ["contextWindow"]],
];

for (const [vendor, format, members] of RECORDED)
  for (const { id, response } of recordings({ api: "models", vendors: [vendor] })) {
    const body = parseJson(response.body ?? "") as JsonObject | undefined;
    const entries = (body?.["data"] ?? body?.["models"]) as JsonObject[] | undefined;
    if (response.status !== 200 || !Array.isArray(entries)) continue;
    test(`the recorded list of ${vendor} (${id}) tells ${members.join(", ")}`, () => {
      const facts = entries.map((entry) => read[format](entry) ?? {});
      for (const member of members)
        expect(facts.filter((one) => one[member] !== undefined).length * 2).toBeGreaterThan(entries.length);
    });
  }
