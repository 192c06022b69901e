/** The types that the rooms of the gateway share. They stand apart, so that no file imports the pipeline that imports it. */
import type { Call } from "../core/call.ts";
import type { ClientCodec, Format } from "../core/format.ts";
import type { JsonObject } from "../core/json.ts";
import type { Hooks } from "../core/plugin.ts";
import type { UpstreamTimeouts } from "../core/provider.ts";
import type { Backlog } from "./delivery/backlog.ts";
import type { Clock } from "./delivery/clock.ts";
import type { Settler } from "./delivery/settle.ts";
import type { ReasoningCache } from "./reasoning/cache.ts";
import type { Health } from "./retry/health.ts";
import type { Retries } from "./retry/retry-plan.ts";
import type { Registry } from "./routing/registry.ts";

/** The parts of the running gateway that a call uses. */
export interface Gateway {
  registry: Registry;
  hooks: readonly Hooks[];
  settler: Settler;
  clock: Clock;
  timeouts: Timeouts;
  reasoning: ReasoningCache;
  backlog: Backlog;
  /** A loss becomes a 400 that names it. */
  strict: boolean;
  /** What is known of the deployments; outlives the registry. */
  health: Health;
  retries: Retries;
}

/** Milliseconds. */
export interface Timeouts extends UpstreamTimeouts {
  /** Silence towards the client after which a heartbeat is sent. */
  heartbeatMs: number;
  /** How long the head of a streamed answer is held back for the first event. */
  holdMs: number;
  /** How long a client may leave unread what it was sent. */
  readMs: number;
}

/** A request that has been read and checked. */
export interface Incoming {
  call: Call;
  format: Format & { client: ClientCodec };
  /** The body as the client sent it. */
  bytes: Uint8Array;
  body: JsonObject;
  /** Where the value of any top-level member stands, without the body being parsed for it. */
  spanOf(name: string): { start: number; end: number } | undefined;
}

/** An answer before it is a Response. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: Uint8Array | string | ReadableStream<Uint8Array>;
}
