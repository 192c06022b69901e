/**
 * The canonical answer: a stream of events. A JSON answer is the same events arrived all at once, so everything
 * behind a decoder (hooks, metering, encoders) is written once.
 *
 * Promises of every decoder, checked by `test/helpers/describe-format.ts`: one `message-start` first and one
 * `message-end` last; every block that starts ends; indexes count 0, 1, 2 in order of their start; only tool calls
 * may overlap; a decoder that cannot finish throws, it never invents an ending.
 */
import type { Json } from "./json.ts";

export type ChatEvent =
  | { type: "message-start"; id: string; model: string; usage?: Usage }
  | { type: "block-start"; index: number; block: BlockStart }
  /** A piece of the block: text, reasoning text, a fragment of a tool call's arguments. */
  | { type: "block-delta"; index: number; delta: string }
  /** A source the text block with this index leans on. */
  | { type: "citation"; index: number; citation: Citation }
  /** `signature`: opaque proof of a reasoning block, whole. */
  | { type: "block-end"; index: number; signature?: string }
  /** Usage known so far; later ones replace earlier ones field by field. */
  | { type: "usage"; usage: Partial<Usage> }
  | { type: "message-end"; reason: FinishReason; usage: Usage };

/** What an answer's block is, before its text arrives. */
export type BlockStart =
  | { type: "text" }
  | { type: "reasoning"; redacted?: string; origin?: string }
  | { type: "tool-call"; id: string; name: string; kind: "function" | "custom" }
  | { type: "refusal" }
  | { type: "foreign"; format: string; value: Json };

export interface Citation {
  url: string;
  title?: string;
  /** What was quoted. */
  text?: string;
}

/**
 * What an answer cost. `input`, `cacheRead`, `cacheWrite` and `output` are disjoint counts of tokens, which each client
 * codec adds up in its own way; the optional counts are parts of them, or things with a price of their own. An absent
 * optional member is unknown or none.
 */
export interface Usage {
  /** Fresh input: neither read from nor written to a cache. */
  input: number;
  cacheRead: number;
  cacheWrite: number;
  /** Output, reasoning included. */
  output: number;
  /** Of the output, how many were reasoning. */
  reasoning: number;
  /** Of `cacheWrite`, how many are kept for an hour, which costs more than the usual five minutes. */
  cacheWrite1h?: number;
  /** Of the input, how many were audio, and how many were images. */
  audioIn?: number;
  imageIn?: number;
  /** Of the output, how many were audio, and how many were images. */
  audioOut?: number;
  imageOut?: number;
  /** Web searches the provider ran. */
  searches?: number;
  /** The service tier that served the request, in the provider's word. */
  tier?: string;
  /** Where the model ran, in the provider's word. */
  region?: string;
  /** The speed that was served, in the provider's word. */
  speed?: string;
  /** What the provider says it charges. Billionths of a US dollar. */
  reported?: number;
  /** `partial`: the input was counted, the output not yet. Absent: see {@link usageState}. */
  known?: "partial" | "final";
}

export const NO_USAGE: Usage = Object.freeze({
  input: 0,
  cacheRead: 0,
  cacheWrite: 0,
  output: 0,
  reasoning: 0,
});

/** Later known fields replace earlier ones: vendors send running totals, not increments. */
export function mergeUsage(into: Usage, next: Partial<Usage>): Usage {
  const merged: Record<string, number | string> = { ...into };
  for (const [name, value] of Object.entries(next)) if (value !== undefined) merged[name] = value;
  return merged as unknown as Usage;
}

/** How much the counts say. `absent`: nothing was counted, and the zeros mean "unknown". */
export function usageState(usage: Usage): "absent" | "partial" | "final" {
  const { input, cacheRead, cacheWrite, output } = usage;
  return usage.known ?? (input + cacheRead + cacheWrite + output > 0 ? "final" : "absent");
}

/** Why an answer ended. `raw` is the upstream's own word. */
export interface FinishReason {
  kind: FinishKind;
  raw?: string;
  /** The text that ended it (kind `stop-sequence`). */
  stopSequence?: string;
  /** The vendor's sentence about a refusal. */
  explanation?: string;
}

export type FinishKind =
  | "stop"
  | "stop-sequence"
  | "length"
  | "tool-calls"
  | "content-filter"
  /** The upstream paused a long turn and wants to be called again (messages `pause_turn`). */
  | "pause";
