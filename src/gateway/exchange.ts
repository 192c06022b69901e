/**
 * The walk of a call: native when client and upstream speak the same format (the client's bytes go out, the upstream's
 * bytes come back), translated or generated through the canonical events otherwise.
 */
import type { Call } from "../core/call.ts";
import type { ClientCodec, Format } from "../core/format.ts";
import type { JsonObject } from "../core/json.ts";
import type { Hooks } from "../core/plugin.ts";
import type { UpstreamTimeouts } from "../core/provider.ts";
import { attempt } from "./attempts.ts";
import type { Backlog } from "./backlog.ts";
import type { Clock } from "./clock.ts";
import { exchangeEvents } from "./exchange-events.ts";
import { isMissingPath } from "./missing-path.ts";
import { exchangeNative } from "./exchange-native.ts";
import type { Health } from "./health/index.ts";
import type { ReasoningCache } from "./reasoning-cache.ts";
import type { Registry } from "./registry.ts";
import { inNextFormat } from "./spoken-formats.ts";
import type { Settler } from "./settle.ts";
import type { Retries } from "./walk.ts";

/** What the walk needs of the gateway around it. */
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

/**
 * Finds who answers, and walks.
 * @throws GatewayError for everything that fails before the first byte of the answer.
 */
export function exchange(incoming: Incoming, gateway: Gateway): Promise<Answer> {
  return attempt(incoming, gateway, ask);
}

/**
 * One attempt. A host that does not have the path of a format is asked in the next one its provider declares; when that
 * has answered, it is remembered.
 */
async function ask(incoming: Incoming, gateway: Gateway): Promise<Answer> {
  const { call, format } = incoming;
  const target = call.target!;
  try {
    return await askOnce(incoming, gateway);
  } catch (thrown) {
    const next = isMissingPath(thrown, call) && inNextFormat(target, format.id);
    if (!next) throw thrown;
    call.turnTo(next);
    const answer = await ask(incoming, gateway);
    gateway.registry.noteLacking(target.deployment, target.format);
    return answer;
  }
}

function askOnce(incoming: Incoming, gateway: Gateway): Promise<Answer> {
  const { call } = incoming;
  const target = call.target!;
  if (target.substitute) call.lose("substituted", "model", target.reason);
  const rewrites = gateway.hooks.some((hook) => hook.request || hook.answer);
  if (target.lane === "native" && !rewrites) return exchangeNative(incoming, gateway);
  return exchangeEvents(incoming, gateway);
}
