/** The types that the folders of the gateway share, in a file of their own to avoid import circles. */
import type { AnswerStore } from "../core/answer-store.ts";
import type { Asker, Attempt, Call } from "../core/call.ts";
import type { TraceContext } from "../core/trace-context.ts";
import type { ChatRequest } from "../core/chat.ts";
import type { AnswerCodec, ClientCodec, Format } from "../core/format.ts";
import type { Retries } from "../core/failure-policy.ts";
import type { JsonObject } from "../core/json.ts";
import type { Ledger } from "../core/ledger.ts";
import type { Hooks } from "../core/plugin.ts";
import type { UpstreamTimeouts } from "../core/provider.ts";
import type { Backlog } from "./delivery/backlog.ts";
import type { CachedPrompt } from "./caches/types.ts";
import type { Clock } from "./delivery/clock.ts";
import type { Settler } from "./delivery/settle.ts";
import type { ReasoningCache } from "./reasoning/cache.ts";
import type { Health } from "./retry/health.ts";
import type { PriceOf } from "./retry/standings.ts";
import type { ModelCatalog } from "./models/catalog.ts";
import type { Registry } from "./routing/registry.ts";
import type { StoredCall } from "./stored/types.ts";

/** The parts of the running gateway that a call uses. */
export interface Gateway {
  registry: Registry;
  /** The list of models for clients. */
  catalog: ModelCatalog;
  hooks: readonly LoadedHooks[];
  asker: Asker;
  settler: Settler;
  clock: Clock;
  timeouts: Timeouts;
  reasoning: ReasoningCache;
  backlog: Backlog;
  /** weir refuses every request with losses. */
  strict: boolean;
  /** Circuit breakers and concurrency of the deployments; outlives the registry, which a reload replaces. */
  health: Health;
  retries: Retries;
  /** Budgets, rate limits and charges. */
  ledger: Ledger;
  /** The cost of a target, for routing by cost; absent: no price is known. */
  priceOf?: PriceOf;
  /** Absent: what answers name by an address stays an address. */
  fetchNamed?: FetchNamed;
  /** Where weir keeps answers; absent while it stores none. */
  answers?: AnswerStore;
  answerOptions: AnswerOptions;
  /** Called after each sending of a request, perhaps several times for an attempt; absent: nothing asks for it. */
  sent?: Sent;
  /** Absent: no trace is recorded. */
  traceContext?: FindTrace;
  /** What parts of weir would do with a call, by their names; absent: nothing. */
  foresee?: (incoming: Incoming, registry: Registry) => Promise<ReadonlyMap<string, Foresight>>;
}

/**
 * Gets the content of an address that a stranger names: of the public internet, or of one of the hosts, without redirects.
 * @throws Error with a clause
 */
export type FetchNamed = (url: URL, hosts: readonly string[], mostBytes: number) => Promise<Uint8Array>;

/** The context for those who work for a running call: their spans are below that of its attempt. @returns undefined: it is not recorded */
export type FindTrace = (call: Call) => TraceContext | undefined;

export type Sent = (running: Attempt, incoming: Incoming) => void;

/** A valid request before it goes inwards. */
export type Unresolved = Pick<Incoming, "call" | "bytes"> & { readonly client: Pick<ClientCodec, "facts"> };

/**
 * Called for each request of the routes for calls: it has to be cheap for those that name nothing.
 * @returns undefined: the request names nothing. Else its bytes with what it names, or the same bytes @throws GatewayError
 */
export type Resolve = (request: Unresolved) => Promise<Uint8Array> | undefined;

/** @returns undefined: the call goes on as it came @throws GatewayError as the call would */
export type Foresee = (incoming: Incoming, registry: Registry) => Promise<Foresight | undefined>;

/** What a part of weir would do with a call that is explained and not sent. */
export interface Foresight {
  /** For the explanation. */
  readonly said: JsonObject;
  /** The request as it goes on; default: as it came. */
  readonly edited?: Pick<Incoming, "bytes" | "body" | "spanOf">;
  /** Edits the canonical request that is sent first. The call takes no native lane. */
  readonly edit?: (request: ChatRequest) => void;
  /** Tokens that the edit adds. */
  readonly tokens?: number;
}

/** How weir keeps answers. */
export interface AnswerOptions {
  /** How long the end of an answer waits until the answer is stored. Milliseconds. */
  commitMs: number;
  /** How long an answer is kept. Milliseconds. */
  keepMs: number;
  /** Whether clients may use ids of the provider that weir does not know; `auto`: only while no other key could own them. */
  foreignIds: "auto" | "refuse" | "pass";
  /** The gateway has, or has had, more than one key for calls. */
  hasSeveralKeys(): boolean;
}

/** The hooks of a plugin, with its name. */
export interface LoadedHooks extends Hooks {
  readonly plugin: string;
}

/** Milliseconds. */
export interface Timeouts extends UpstreamTimeouts {
  /** Time without bytes for the client after which weir sends a heartbeat. */
  heartbeatMs: number;
  /** How long weir delays the response headers of a stream for its first event. */
  holdMs: number;
  /** How long a client may take to read what weir sent. */
  readMs: number;
}

/** The values of a client codec that a call needs after its request was validated. Errors are written after it. */
export type CallCodec = Pick<ClientCodec, "facts" | "beside"> & {
  codec: Pick<AnswerCodec, "decodeRequest" | "leftOut" | "writeStream" | "writeAnswer">;
};

/** A request that weir has read and validated. */
export interface Incoming {
  call: Call;
  format: Pick<Format, "id" | "kind" | "kindMember"> & { client: CallCodec };
  /** The body as the client sent it. */
  bytes: Uint8Array;
  body: JsonObject;
  /** Byte range of the value of a top-level member; does not parse the body. */
  spanOf(name: string): { start: number; end: number } | undefined;
  /** Appended to the address of a provider of the client's format: the request is one of a route below the usual one. */
  below?: string;
  /** The request asks for a summary of its conversation. */
  summarises?: true;
  /** The stored answers of the call; absent for formats without them. */
  stored?: StoredCall;
  /** What a provider keeps of the prompt; absent if the request names nothing. */
  cached?: CachedPrompt;
}

/** An answer before it is a Response. */
export interface Answer {
  status: number;
  /** Headers that many answers share, as one frozen object for all of them. */
  constant: Readonly<Record<string, string>>;
  /** The headers of this answer; a header that is in both has the value of these. */
  headers: Readonly<Record<string, string>>;
  body: Uint8Array | string | ReadableStream<Uint8Array>;
}
