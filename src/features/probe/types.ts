/** The words of a probe: what is asked of a host, what it answered, and what follows for the config. */
import type { Json } from "../../core/json.ts";
import type { Host } from "./host.ts";

/**
 * `yes`: it works; `refused`: the host answered with an error, whose words are the evidence; `ignored`: the host accepted the
 * request and did not follow it; `unclear`: the answers do not decide it. An unclear finding never reaches the config.
 */
export type ProbeVerdict = "yes" | "refused" | "ignored" | "unclear";

export interface Finding {
  verdict: ProbeVerdict;
  /** The observation, as a short text for people: words of the host, without credentials. */
  evidence: string;
  /** A count or a name: the number of stop sequences, the member with reasoning. */
  value?: Json;
}

/** Findings by the name of the feature. */
export type Findings = Partial<Record<Feature, Finding>>;

export type Feature =
  | "models"
  | "answers"
  | "json-usage"
  | "limit-headers"
  | "max-tokens"
  | "max-completion-tokens"
  | "streaming"
  | "stream-usage"
  | "stream-end"
  | "tools"
  | "forced-tools"
  | "named-tool"
  | "parallel-tools"
  | "one-tool"
  | "strict-tools"
  | "tool-history"
  | "tool-ids"
  | "json-schema"
  | "json-mode"
  | "images"
  | "system"
  | "system-in-the-middle"
  | "developer-role"
  | "reasoning"
  | "reasoning-effort"
  | "reasoning-replay"
  | "stop"
  | "n"
  | "logprobs"
  | "embeddings"
  | "rerank"
  | "moderation"
  | "count-tokens"
  | "tokenize"
  | "responses"
  | "messages"
  | "error-shape"
  | "wrong-key"
  | "too-long";

/** One question, or a few that depend on each other. */
export interface Probe {
  /** The features that it finds out. */
  finds: readonly Feature[];
  /** Its question, for the README and the plan: `a call that must be made (tool_choice: required)`. */
  asks: string;
  /** Maximum number of calls. */
  calls: number;
  /** How many of these calls generate an answer. Default: all. */
  answers?: number;
  run(host: Host): Promise<Findings>;
}
