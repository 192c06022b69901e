/** Messages about traces. Plain JSON: workers and keeper exchange them. */
import type { TraceParent } from "../core/trace-context.ts";

/** The section `traces` of the config; without it there are no traces. */
export interface TraceSettings {
  /** Where spans are sent: the address of an OTLP collector. */
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Share of the traces that begin here, 0 to 1. */
  share: number;
  /** `respect`: a call belongs to the trace of its client, and the client decides whether it is recorded. */
  parent: "respect" | "ignore";
  service: string;
  /** Where metrics are sent; absent: no metrics. */
  metricsUrl?: string;
}

/** Facts for the spans of a call beside its record. */
export interface TraceFacts {
  /** The client's. */
  parent?: TraceParent;
  /** Id of the call whose plugin asked for this one. */
  within?: string;
  route?: { method: string; path: string; operation: "chat" | "embeddings" };
  /** As many as the record has. */
  attempts: readonly AttemptFacts[];
}

/** Times are milliseconds since the beginning of the call. */
export interface AttemptFacts {
  at: number;
  firstAt?: number;
  /** HTTP status of the provider. */
  status?: number;
  /** Why it failed, in one word. */
  what?: string;
  /** The provider's host and port. */
  host?: string;
  port?: number;
  /** Of the request, where weir knows them. */
  maxTokens?: number;
  temperature?: number;
  choices?: number;
}
