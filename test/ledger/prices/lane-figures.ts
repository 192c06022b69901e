/** Answers of providers, made by hand, with what they cost. */
import type { Charge, PriceRule } from "../../../src/ledger/charge.ts";

/** A rule in which every bucket has a price of its own, so that no two mistakes cancel out. */
export const RULE: PriceRule = {
  ...{ ref: "0123456789ab", provider: "vendor", model: "some-model", source: "test" },
  ...{ input: 1_000_003, cacheRead: 100_019, cacheWrite: 1_250_021, cacheWrite1h: 2_000_029 },
  ...{ output: 5_000_047, reasoning: 7_000_051, audioIn: 11_000_077, audioOut: 13_000_081 },
  ...{ imageIn: 17_000_093, imageOut: 19_000_111, per: { search: 10_000_000 } },
  served: { priority: { input: 2_000_007, cacheRead: 200_017, output: 10_000_037 } },
  regions: { us: 1.1, "*": 1.3 },
};

/** Counts that an answer ends with, by format, and what they cost by {@link RULE}. Nano-dollars. */
export interface Counted {
  what: string;
  format: string;
  /** Members of the JSON answer beside its content. */
  answer: Record<string, unknown>;
  /** The same in a stream: the data of its events. */
  events: readonly Record<string, unknown>[];
  cost: number;
  state?: Charge["state"];
}

const chat = (what: string, counts: Record<string, unknown>, cost: number, more: object = {}): Counted => ({
  what,
  format: "chat-completions",
  answer: {
    id: "c1",
    choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
    ...counts,
  },
  events: [
    { id: "c1", choices: [{ index: 0, delta: { role: "assistant", content: "Hi" } }] },
    { id: "c1", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
    { id: "c1", choices: [], ...counts },
  ],
  cost,
  ...more,
});

const message = (what: string, usage: Record<string, unknown>, cost: number, more: object = {}): Counted => ({
  what,
  format: "messages",
  answer: {
    ...{ id: "m1", type: "message", role: "assistant", content: [{ type: "text", text: "Hi" }] },
    stop_reason: "end_turn",
    usage,
  },
  events: [
    {
      type: "message_start",
      message: {
        id: "m1",
        type: "message",
        role: "assistant",
        content: [],
        usage: { ...usage, output_tokens: 1 },
      },
    },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi" } },
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: "end_turn" },
      usage: {
        output_tokens: usage.output_tokens,
        output_tokens_details: usage.output_tokens_details ?? null,
        iterations: usage.iterations ?? null,
      },
    },
    { type: "message_stop" },
  ],
  cost,
  ...more,
});

const response = (
  what: string,
  counts: Record<string, unknown>,
  cost: number,
  more: object = {},
): Counted => {
  const item = {
    type: "message",
    id: "i1",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: "Hi", annotations: [] }],
  };
  const { output = [], ...rest } = counts as { output?: unknown[] };
  const answer = { id: "r1", object: "response", status: "completed", output: [...output, item], ...rest };
  return {
    ...{ what, format: "responses", answer, cost },
    events: [
      { type: "response.created", response: { ...answer, status: "in_progress", output: [], usage: null } },
      { type: "response.completed", response: answer },
    ],
    ...more,
  };
};

const google = (
  what: string,
  usageMetadata: Record<string, unknown>,
  cost: number,
  candidate: object = {},
): Counted => {
  const candidates = [
    { content: { role: "model", parts: [{ text: "Hi" }] }, finishReason: "STOP", ...candidate },
  ];
  const answer = { candidates, usageMetadata };
  return { what, format: "gemini", answer, events: [answer], cost };
};

const search = (type: string) => ({
  type: "web_search_call",
  id: `ws_${type}`,
  status: "completed",
  action: { type },
});

/** Each figure is the sum of tokens times the price of their bucket in {@link RULE}, in pico-dollars, rounded once. */
export const COUNTED: readonly Counted[] = [
  chat(
    "cached tokens are part of the prompt, and are billed once",
    { usage: { prompt_tokens: 1000, completion_tokens: 10, prompt_tokens_details: { cached_tokens: 600 } } },
    nano(400 * 1_000_003 + 600 * 100_019 + 10 * 5_000_047),
  ),
  chat(
    "cached tokens beside the totals",
    { usage: { prompt_tokens: 1000, completion_tokens: 10, prompt_cache_hit_tokens: 600 } },
    nano(400 * 1_000_003 + 600 * 100_019 + 10 * 5_000_047),
  ),
  chat(
    "reasoning, audio and images",
    {
      usage: {
        prompt_tokens: 100,
        completion_tokens: 90,
        prompt_tokens_details: { audio_tokens: 30, image_tokens: 20 },
        completion_tokens_details: { reasoning_tokens: 40, audio_tokens: 10 },
      },
    },
    nano(
      50 * 1_000_003 + 30 * 11_000_077 + 20 * 17_000_093 + 40 * 5_000_047 + 40 * 7_000_051 + 10 * 13_000_081,
    ),
  ),
  chat(
    "the service tier that served the request",
    { usage: { prompt_tokens: 100, completion_tokens: 10 }, service_tier: "priority" },
    nano(100 * 2_000_007 + 10 * 10_000_037),
  ),
  chat(
    "the service tier inside of the counts",
    { usage: { prompt_tokens: 100, completion_tokens: 10, service_tier: "priority" } },
    nano(100 * 2_000_007 + 10 * 10_000_037),
  ),
  chat(
    "the provider's own cost",
    { usage: { prompt_tokens: 9, completion_tokens: 1, cost: 0.00123 } },
    1_230_000,
    {
      state: "reported",
    },
  ),
  chat("a cost of zero", { usage: { prompt_tokens: 9, completion_tokens: 1, cost: 0 } }, 0, {
    state: "reported",
  }),
  chat(
    "a fee of zero with a key of the customer's own at the vendor",
    {
      usage: {
        ...{ prompt_tokens: 9, completion_tokens: 1, cost: 0, is_byok: true },
        cost_details: { upstream_inference_cost: 0.0003253 },
      },
    },
    325_300,
    { state: "reported" },
  ),
  chat(
    "a cost in parts",
    { usage: { prompt_tokens: 9, completion_tokens: 1, cost: { total_cost: 0.0051 } } },
    5_100_000,
    { state: "reported" },
  ),
  chat(
    "a cost in ticks",
    { usage: { prompt_tokens: 9, completion_tokens: 1, cost_in_usd_ticks: 1641500 } },
    164_150,
    {
      state: "reported",
    },
  ),
  chat(
    "searches",
    { usage: { prompt_tokens: 9, completion_tokens: 1, num_search_queries: 2 } },
    nano(9 * 1_000_003 + 5_000_047) + 20_000_000,
  ),
  chat("zeros that the provider counted", { usage: { prompt_tokens: 0, completion_tokens: 0 } }, 0),
  chat("no counts", {}, 0, { state: "assumed" }),
  message(
    "cache reads, and writes of five minutes and an hour",
    {
      ...{
        input_tokens: 10,
        cache_read_input_tokens: 2000,
        cache_creation_input_tokens: 500,
        output_tokens: 20,
      },
      cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 400 },
    },
    nano(10 * 1_000_003 + 2000 * 100_019 + 100 * 1_250_021 + 400 * 2_000_029 + 20 * 5_000_047),
  ),
  message(
    "searches, the region and reasoning",
    {
      ...{ input_tokens: 100, output_tokens: 20, service_tier: "standard", inference_geo: "us" },
      ...{ output_tokens_details: { thinking_tokens: 5 }, server_tool_use: { web_search_requests: 3 } },
    },
    // Each price times 1.1, rounded to pico-dollars.
    nano(100 * 1_100_003 + 15 * 5_500_052 + 5 * 7_700_056) + 30_000_000,
  ),
  message(
    "an unknown region has no surcharge",
    { input_tokens: 100, output_tokens: 1, inference_geo: "not_available" },
    nano(100 * 1_000_003 + 5_000_047),
  ),
  message("the provider's own cost", { input_tokens: 32, output_tokens: 16, cost: 0.000112 }, 112_000, {
    state: "reported",
  }),
  message(
    "a summary of the conversation, which the totals leave out",
    {
      ...{ input_tokens: 682, output_tokens: 1320 },
      iterations: [
        { type: "compaction", input_tokens: 60_385, output_tokens: 592 },
        { type: "message", input_tokens: 682, output_tokens: 1320 },
      ],
    },
    nano(682 * 1_000_003 + 1320 * 5_000_047) + nano(60_385 * 1_000_003 + 592 * 5_000_047),
  ),
  message("zeros that the provider counted", { input_tokens: 0, output_tokens: 0 }, 0),
  response(
    "cached and written tokens are part of the input, and are billed once",
    {
      usage: {
        ...{ input_tokens: 1000, output_tokens: 30, output_tokens_details: { reasoning_tokens: 20 } },
        input_tokens_details: { cached_tokens: 600, cache_write_tokens: 100 },
      },
    },
    nano(300 * 1_000_003 + 600 * 100_019 + 100 * 1_250_021 + 10 * 5_000_047 + 20 * 7_000_051),
  ),
  response(
    "searches are charged, opened pages are not",
    {
      usage: { input_tokens: 9, output_tokens: 1 },
      output: [search("search"), search("open_page"), search("find_in_page")],
    },
    nano(9 * 1_000_003 + 5_000_047) + 10_000_000,
  ),
  response(
    "the service tier that served the request",
    { usage: { input_tokens: 100, output_tokens: 10 }, service_tier: "priority" },
    nano(100 * 2_000_007 + 10 * 10_000_037),
  ),
  google(
    "cached tokens are part of the prompt, tool prompts and thoughts are not part of the totals",
    {
      ...{ promptTokenCount: 1000, cachedContentTokenCount: 600, toolUsePromptTokenCount: 50 },
      ...{ candidatesTokenCount: 10, thoughtsTokenCount: 30 },
    },
    nano(450 * 1_000_003 + 600 * 100_019 + 10 * 5_000_047 + 30 * 7_000_051),
  ),
  google(
    "audio that was read from the cache costs as much as other cached tokens",
    {
      ...{ promptTokenCount: 1000, cachedContentTokenCount: 600, candidatesTokenCount: 1 },
      promptTokensDetails: [
        { modality: "AUDIO", tokenCount: 700 },
        { modality: "TEXT", tokenCount: 300 },
      ],
      cacheTokensDetails: [{ modality: "AUDIO", tokenCount: 600 }],
    },
    nano(300 * 1_000_003 + 100 * 11_000_077 + 600 * 100_019 + 5_000_047),
  ),
  google(
    "Google searches",
    { promptTokenCount: 9, candidatesTokenCount: 1 },
    nano(9 * 1_000_003 + 5_000_047) + 20_000_000,
    { groundingMetadata: { webSearchQueries: ["one", "two"] } },
  ),
];

function nano(pico: number): number {
  return Math.round(pico / 1000);
}
