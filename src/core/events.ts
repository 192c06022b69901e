/**
 * The canonical answer: a stream of events. A JSON answer is read as the same events, so that hooks, metering and writers
 * exist once.
 *
 * Guarantees of every reader of answers (`AnswerReader` and `readAnswer` of a format), checked by
 * `test/helpers/describe-events.ts`: exactly one `message-start`, first, and one `message-end`, last; every block that starts
 * also ends; indexes count 0, 1, 2 in the order of the starts; only tool calls may overlap; a reader that cannot complete the
 * answer throws and never adds an ending.
 */
import type { Json, JsonObject } from "./json.ts";

export type ChatEvent =
  | { type: "message-start"; id: string; model: string; usage?: Usage }
  | { type: "block-start"; index: number; block: BlockStart }
  /**
   * A piece of the block: text, reasoning text, or part of a tool call's arguments. `part` counts the parts of a reasoning
   * summary from 0; absent means 0. The first delta of a later part begins with a blank line, for writers that know no parts.
   */
  | { type: "block-delta"; index: number; delta: string; part?: number }
  /** A source for the text block with this index. */
  | { type: "citation"; index: number; citation: Citation }
  /** The arguments of the hosted tool with this index are complete, and the server runs it. */
  | { type: "block-run"; index: number }
  /** `signature`: the complete opaque signature of a reasoning block. `result`: that of a hosted tool. */
  | { type: "block-end"; index: number; signature?: string; result?: HostedResult }
  /** Token counts so far; later counts replace earlier ones field by field. */
  | { type: "usage"; usage: Partial<Usage> }
  | { type: "message-end"; reason: FinishReason; usage: Usage };

/** The kind of a block, before its content arrives. */
export type BlockStart =
  /**
   * `phase`: whether the text comments on the work or is the answer, in the provider's own word. `apart`: the text is a message
   * of its own; a writer that joins the texts of an answer puts a blank line before it.
   */
  | { type: "text"; phase?: string; apart?: boolean }
  | { type: "reasoning"; redacted?: string; origin?: string }
  | { type: "tool-call"; id: string; name: string; kind: "function" | "custom" }
  | { type: "refusal" }
  /** A whole image, which has no deltas. `data` is base64 without a `data:` prefix. */
  | { type: "image"; mediaType: string; data: string }
  | HostedStart
  | { type: "foreign"; format: string; value: Json };

/**
 * A tool that runs on the server's side inside of the answer; the client does not run it. `call`: a call of the tool, with its
 * arguments as deltas and a result at its end. `approval`: a call that waits for the client's consent, without a result.
 * `list`: the tools of a server, without deltas.
 */
export type HostedStart = {
  type: "hosted-tool";
  kind: "call" | "approval" | "list";
  /** At most 48 letters, digits, `_` and `-`. Clients get it behind the prefix of their format. */
  id: string;
  /** The name by which the client knows the server of the tool. */
  server: string;
  /** The name of the tool; empty for a list. */
  name: string;
  /** Of a call: what allowed it, by the id that the client got with the block of the kind `approval`. */
  approval?: string;
};

/** The end of a hosted tool: what it returned, the tools of the server, or why it failed. */
export type HostedResult = { output: string } | { tools: readonly HostedDeclaration[] } | { error: string };

/** A tool in a list. */
export interface HostedDeclaration {
  name: string;
  description?: string;
  /** JSON schema of the arguments. */
  parameters: JsonObject;
}

export interface Citation {
  url: string;
  title?: string;
  /** The quoted text. */
  text?: string;
}

/**
 * Token counts of an answer. `input`, `cacheRead`, `cacheWrite` and `output` are disjoint; each client codec adds them up
 * as its format requires. Optional counts are parts of these, or items with a price of their own; absent means unknown or
 * none.
 */
export interface Usage {
  /** Input that was neither read from nor written to a cache. */
  input: number;
  cacheRead: number;
  cacheWrite: number;
  /** Output, including reasoning. */
  output: number;
  /** Reasoning tokens, part of `output`. */
  reasoning: number;
  /** Part of `cacheWrite` that is cached for an hour, which costs more than the usual five minutes. */
  cacheWrite1h?: number;
  /** Audio tokens, part of `cacheRead`. */
  cacheReadAudio?: number;
  /** Audio tokens and image tokens, part of the input. */
  audioIn?: number;
  imageIn?: number;
  /** Audio tokens and image tokens, part of `output`. */
  audioOut?: number;
  imageOut?: number;
  /** Web searches the provider ran. */
  searches?: number;
  /** Work that is charged by other units than tokens. */
  units?: Units;
  /** The service tier that served the request, as the provider names it. */
  tier?: string;
  /** Where the model ran, as the provider names it. */
  region?: string;
  /** The speed that was served, as the provider names it. */
  speed?: string;
  /** The price that the provider reports. Billionths of a US dollar. */
  reported?: number;
  /** Further work that the provider did for the answer and charges, but does not count in the totals. */
  beside?: readonly BesideUsage[];
  /** `partial`: only the input or only the output was counted, or not all of it yet. Absent: see {@link usageState}. */
  known?: "partial" | "final";
}

/** Whole numbers of units by name: calls of a tool, images, seconds. */
export type Units = Readonly<Record<string, number>>;

/** A summary of the conversation, or the turn of another model that was asked. */
export interface BesideUsage extends Pick<
  Usage,
  "input" | "cacheRead" | "cacheWrite" | "cacheWrite1h" | "output"
> {
  /** The provider's name of the model. Default: that of the answer. */
  model?: string;
}

export const NO_USAGE: Usage = Object.freeze({
  input: 0,
  cacheRead: 0,
  cacheWrite: 0,
  output: 0,
  reasoning: 0,
});

/** Merges counts; later fields replace earlier ones, because vendors send running totals, not increments. */
export function mergeUsage(into: Usage, next: Partial<Usage>): Usage {
  const merged: Record<string, unknown> = { ...into };
  for (const name in next) {
    const value = next[name as keyof Usage];
    if (value !== undefined) merged[name] = value;
  }
  return merged as unknown as Usage;
}

/** How complete the counts are. `absent`: nothing was counted, and zero means unknown. */
export function usageState(usage: Usage): "absent" | "partial" | "final" {
  // Every prompt has tokens: a provider that names none has not counted them.
  if (!hasInput(usage) && usage.output > 0) return "partial";
  return usage.known ?? (hasInput(usage) ? "final" : "absent");
}

/** Whether the tokens of the prompt were counted. */
export function hasInput({ input, cacheRead, cacheWrite }: Usage): boolean {
  return input + cacheRead + cacheWrite > 0;
}

/** Why an answer ended. `raw` is the provider's own value. */
export interface FinishReason {
  kind: FinishKind;
  raw?: string;
  /** The stop sequence that matched (kind `stop-sequence`). */
  stopSequence?: string;
  /** The vendor's explanation of a refusal. */
  explanation?: string;
}

export type FinishKind =
  | "stop"
  | "stop-sequence"
  | "length"
  | "tool-calls"
  | "content-filter"
  /** The provider paused a long turn and expects another request (messages `pause_turn`). */
  | "pause";
