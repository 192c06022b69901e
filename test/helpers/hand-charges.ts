/**
 * Charges that were computed by hand: what a provider counts, what the operator pays for it, and the sum. Another endpoint adds rows
 * here, with a member of `ASKED` in the test, or with `book` as long as nothing serves it.
 */
import type { Usage } from "../../src/core/events.ts";
import type { JsonObject } from "../../src/core/json.ts";
import type { ChargeState } from "../../src/ledger/charge.ts";
import type { PriceSetting } from "../../src/ledger/prices/settings.ts";

/** Through which call a charge goes; `book`: none, through the price book alone. */
export type Through =
  | "cohere"
  | "jina"
  | "voyage"
  | "tei"
  | "score"
  | "moderations"
  | "mistral-moderations"
  | "decisions"
  | "completions"
  | "completions-streamed"
  | "fim"
  | "fim-streamed"
  | "embeddings"
  | "chat"
  | "chat-streamed"
  | "messages"
  | "book";

export interface HandCharge {
  name: string;
  through: Through;
  /** Dollars a million tokens, and dollars a unit; 0: free. */
  price: 0 | PriceSetting;
  /** What the provider writes as `usage` (Cohere: as `meta`); for `book`: what was used. */
  counted: JsonObject | Partial<Usage>;
  /** How the sum is made, and the sum. Nano-dollars: $1 a million tokens is 1,000 a token. */
  sum: string;
  cost: number;
  /** Default: `metered`. */
  state?: ChargeState;
}

const searches = (count: number) => ({ billed_units: { search_units: count } });
const SEARCH = { units: { search: 0.002 } };
const TEXT = { input: 1, output: 2 };
const CACHED = { input: 1, cacheRead: 0.1, cacheWrite: 1.25, output: 2 };
const AUDIO = { input: 2.5, cacheRead: 1.25, output: 10, audioIn: 40, audioOut: 80, cacheReadAudio: 2.5 };
const IMAGE = { input: 5, output: 10, imageIn: 10, imageOut: 40 };

export const HAND_CHARGES: readonly HandCharge[] = [
  {
    ...{ name: "one search", through: "cohere", price: SEARCH, counted: searches(1) },
    ...{ sum: "1 × $0.002", cost: 2_000_000 },
  },
  {
    ...{ name: "three searches", through: "cohere", price: SEARCH, counted: searches(3) },
    ...{ sum: "3 × $0.002", cost: 6_000_000 },
  },
  {
    ...{ name: "a thousand searches", through: "cohere", price: { units: { search: 0.0025 } } },
    ...{ counted: searches(1000), sum: "1000 × $0.0025", cost: 2_500_000_000 },
  },
  {
    ...{ name: "a search and a half are two", through: "cohere", price: SEARCH, counted: searches(1.5) },
    ...{ sum: "2 × $0.002", cost: 4_000_000 },
  },
  {
    ...{ name: "no search at all", through: "cohere", price: SEARCH, counted: searches(0) },
    ...{ sum: "0", cost: 0 },
  },
  {
    ...{ name: "searches that nothing counts", through: "cohere", price: SEARCH, counted: {} },
    ...{ sum: "two documents are one search", cost: 2_000_000, state: "estimated" },
  },
  {
    ...{
      name: "searches and a fee",
      through: "cohere",
      price: { units: { search: 0.002 }, request: 0.0001 },
    },
    ...{ counted: searches(2), sum: "2 × $0.002 + $0.0001", cost: 4_100_000 },
  },
  {
    ...{ name: "searches without a price", through: "cohere", price: { units: { page: 1 } } },
    ...{ counted: searches(2), sum: "none", cost: 0, state: "unpriced" },
  },
  {
    ...{ name: "Jina's tokens", through: "jina", price: { input: 0.02, output: 0 } },
    ...{ counted: { total_tokens: 77 }, sum: "77 × 20", cost: 1_540 },
  },
  {
    ...{ name: "a million of Jina's tokens", through: "jina", price: { input: 0.018, output: 0 } },
    ...{ counted: { total_tokens: 1_234_567 }, sum: "1234567 × 18", cost: 22_222_206 },
  },
  {
    ...{ name: "Voyage's tokens", through: "voyage", price: { input: 0.05, output: 0 } },
    ...{ counted: { total_tokens: 55 }, sum: "55 × 50", cost: 2_750 },
  },
  {
    ...{ name: "half a nano-dollar is one", through: "voyage", price: { input: 0.0005, output: 0 } },
    ...{ counted: { total_tokens: 3 }, sum: "3 × 0.5 = 1.5", cost: 2 },
  },
  {
    ...{ name: "vLLM's scores", through: "score", price: { input: 1, output: 0 } },
    ...{ counted: { prompt_tokens: 9, total_tokens: 9 }, sum: "9 × 1000", cost: 9_000 },
  },
  {
    ...{ name: "a free host", through: "tei", price: 0, counted: {} },
    ...{ sum: "0", cost: 0, state: "free" },
  },
  {
    ...{ name: "OpenAI's moderation is free", through: "moderations", price: 0, counted: {} },
    ...{ sum: "0", cost: 0, state: "free" },
  },
  {
    ...{ name: "Mistral's moderation", through: "mistral-moderations", price: { input: 0.1, output: 0 } },
    ...{ counted: { prompt_tokens: 12, total_tokens: 12 }, sum: "12 × 100", cost: 1_200 },
  },
  {
    ...{
      name: "a moderation by the request",
      through: "moderations",
      price: { request: 0.001, input: 0, output: 0 },
    },
    ...{ counted: { prompt_tokens: 5 }, sum: "$0.001", cost: 1_000_000 },
  },
  {
    ...{ name: "a decision with a cache", through: "decisions", price: CACHED },
    counted: {
      ...{ input_tokens: 1000, input_tokens_details: { cached_tokens: 300, cache_write_tokens: 200 } },
      output_tokens: 10,
    },
    ...{ sum: "500 × 1000 + 200 × 1250 + 300 × 100 + 10 × 2000", cost: 800_000 },
  },
  {
    ...{ name: "a decision that reasons", through: "decisions", price: { ...TEXT, reasoning: 4 } },
    counted: { input_tokens: 10, output_tokens: 10, output_tokens_details: { reasoning_tokens: 4 } },
    ...{ sum: "10 × 1000 + 6 × 2000 + 4 × 4000", cost: 38_000 },
  },
  {
    ...{ name: "a completion", through: "completions", price: TEXT },
    ...{ counted: { prompt_tokens: 5, completion_tokens: 2 }, sum: "5 × 1000 + 2 × 2000", cost: 9_000 },
  },
  {
    ...{ name: "a streamed completion", through: "completions-streamed", price: TEXT },
    ...{ counted: { prompt_tokens: 5, completion_tokens: 2 }, sum: "5 × 1000 + 2 × 2000", cost: 9_000 },
  },
  {
    ...{ name: "a completion with a cache", through: "completions", price: CACHED },
    counted: { prompt_tokens: 1000, completion_tokens: 20, prompt_tokens_details: { cached_tokens: 400 } },
    ...{ sum: "600 × 1000 + 400 × 100 + 20 × 2000", cost: 680_000 },
  },
  {
    ...{ name: "DeepSeek's cache", through: "completions-streamed", price: CACHED },
    counted: { prompt_tokens: 100, completion_tokens: 2, prompt_cache_hit_tokens: 64 },
    ...{ sum: "36 × 1000 + 64 × 100 + 2 × 2000", cost: 46_400 },
  },
  {
    ...{ name: "a text that was only read", through: "completions", price: TEXT },
    // OpenAI's legacy models leave `completion_tokens` out where nothing was generated.
    ...{ counted: { prompt_tokens: 7, total_tokens: 7 }, sum: "7 × 1000", cost: 7_000 },
  },
  {
    ...{ name: "the middle of a text", through: "fim", price: { input: 0.3, output: 0.9 } },
    ...{ counted: { prompt_tokens: 40, completion_tokens: 8 }, sum: "40 × 300 + 8 × 900", cost: 19_200 },
  },
  {
    ...{
      name: "the middle of a text, streamed",
      through: "fim-streamed",
      price: { input: 0.3, output: 0.9 },
    },
    ...{ counted: { prompt_tokens: 40, completion_tokens: 8 }, sum: "40 × 300 + 8 × 900", cost: 19_200 },
  },
  {
    ...{ name: "embeddings", through: "embeddings", price: { input: 0.02, output: 0 } },
    ...{ counted: { prompt_tokens: 8, total_tokens: 8 }, sum: "8 × 20", cost: 160 },
  },
  {
    ...{ name: "embeddings of a long list", through: "embeddings", price: { input: 0.13, output: 0 } },
    ...{ counted: { prompt_tokens: 99_999, total_tokens: 99_999 }, sum: "99999 × 130", cost: 12_999_870 },
  },
  {
    ...{ name: "a conversation with a cache", through: "chat", price: CACHED },
    counted: { prompt_tokens: 1000, completion_tokens: 20, prompt_tokens_details: { cached_tokens: 400 } },
    ...{ sum: "600 × 1000 + 400 × 100 + 20 × 2000", cost: 680_000 },
  },
  {
    ...{ name: "a streamed conversation", through: "chat-streamed", price: TEXT },
    ...{ counted: { prompt_tokens: 11, completion_tokens: 3 }, sum: "11 × 1000 + 3 × 2000", cost: 17_000 },
  },
  {
    ...{ name: "reasoning at a price of its own", through: "chat", price: { ...TEXT, reasoning: 8 } },
    counted: {
      ...{ prompt_tokens: 10, completion_tokens: 100 },
      completion_tokens_details: { reasoning_tokens: 60 },
    },
    ...{ sum: "10 × 1000 + 40 × 2000 + 60 × 8000", cost: 570_000 },
  },
  {
    ...{ name: "audio that is heard", through: "chat", price: AUDIO },
    counted: { prompt_tokens: 150, completion_tokens: 10, prompt_tokens_details: { audio_tokens: 100 } },
    ...{ sum: "50 × 2500 + 100 × 40000 + 10 × 10000", cost: 4_225_000 },
  },
  {
    ...{ name: "audio that is spoken", through: "chat-streamed", price: AUDIO },
    counted: {
      ...{ prompt_tokens: 8, completion_tokens: 320 },
      completion_tokens_details: { audio_tokens: 300 },
    },
    ...{ sum: "8 × 2500 + 20 × 10000 + 300 × 80000", cost: 24_220_000 },
  },
  {
    ...{ name: "a cache of Anthropic for an hour", through: "messages" },
    price: { input: 3, cacheRead: 0.3, cacheWrite: 3.75, cacheWrite1h: 6, output: 15 },
    counted: {
      ...{ input_tokens: 100, output_tokens: 10, cache_read_input_tokens: 1000 },
      cache_creation_input_tokens: 300,
      cache_creation: { ephemeral_5m_input_tokens: 200, ephemeral_1h_input_tokens: 100 },
    },
    sum: "100 × 3000 + 1000 × 300 + 200 × 3750 + 100 × 6000 + 10 × 15000",
    cost: 2_100_000,
  },
  {
    ...{ name: "images in and out", through: "book", price: IMAGE },
    counted: { input: 250, imageIn: 200, output: 1056, imageOut: 1000 },
    ...{ sum: "50 × 5000 + 200 × 10000 + 56 × 10000 + 1000 × 40000", cost: 42_810_000 },
  },
  {
    ...{ name: "audio from a cache", through: "book", price: AUDIO },
    counted: { input: 30, audioIn: 20, cacheRead: 100, cacheReadAudio: 60, output: 50, audioOut: 40 },
    sum: "10 × 2500 + 20 × 40000 + 40 × 1250 + 60 × 2500 + 10 × 10000 + 40 × 80000",
    cost: 4_325_000,
  },
  {
    ...{ name: "images by the piece", through: "book", price: { units: { image: 0.04 } } },
    ...{ counted: { units: { image: 3 } }, sum: "3 × $0.04", cost: 120_000_000 },
  },
  {
    ...{ name: "seconds of audio", through: "book", price: { units: { second: 0.0001 } } },
    ...{ counted: { units: { second: 61 } }, sum: "61 × $0.0001", cost: 6_100_000 },
  },
  {
    ...{ name: "characters of speech", through: "book", price: { units: { character: 0.000_015 } } },
    ...{ counted: { units: { character: 4096 } }, sum: "4096 × $0.000015", cost: 61_440_000 },
  },
  {
    ...{ name: "minutes of a session", through: "book", price: { units: { minute: 0.06 } } },
    ...{ counted: { units: { minute: 17 } }, sum: "17 × $0.06", cost: 1_020_000_000 },
  },
  {
    ...{ name: "minutes, tokens and a search", through: "book" },
    price: { ...TEXT, units: { minute: 0.06, search: 0.002 } },
    counted: { input: 100, output: 10, units: { minute: 1, search: 2 } },
    ...{ sum: "100 × 1000 + 10 × 2000 + $0.06 + 2 × $0.002", cost: 64_120_000 },
  },
  {
    ...{ name: "a unit that the rule lacks", through: "book", price: TEXT },
    counted: { input: 100, output: 0, units: { second: 3 } },
    ...{ sum: "100 × 1000, and the seconds are in doubt", cost: 100_000, state: "estimated" },
  },
];
