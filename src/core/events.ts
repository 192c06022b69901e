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

/** Tokens in disjoint buckets; each client codec projects them into its own sums (`contract.md` E.3.1). */
export interface Usage {
  /** Fresh input: neither read from nor written to a cache. */
  input: number;
  cacheRead: number;
  cacheWrite: number;
  /** Output, reasoning included. */
  output: number;
  /** Of the output, how many were reasoning. */
  reasoning: number;
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
  return {
    input: next.input ?? into.input,
    cacheRead: next.cacheRead ?? into.cacheRead,
    cacheWrite: next.cacheWrite ?? into.cacheWrite,
    output: next.output ?? into.output,
    reasoning: next.reasoning ?? into.reasoning,
  };
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
