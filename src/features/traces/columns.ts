/** Facts for the spans of a call beside its record. Plain JSON: workers send them to the keeper, and the store does not get them. */
import { Type } from "@sinclair/typebox";
import { column } from "../../core/column.ts";
import type { TraceParent } from "./trace-context.ts";

export interface TraceFacts {
  /** The client's. */
  parent?: TraceParent;
  /** Id of the call whose plugin asked for this one. */
  within?: string;
  route?: { method: string; path: string; operation: string };
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

/** Absent without traces. */
export const traceFacts = column({
  name: "trace",
  schema: Type.Unsafe<TraceFacts>(Type.Object({}, { description: "Facts for the spans of the call." })),
  store: "none",
});
