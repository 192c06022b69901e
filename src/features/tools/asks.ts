/** What a worker asks the process of the tools, and the pieces of its answers. Plain JSON: both cross a socket. */
import type { JsonObject } from "../../core/json.ts";
import type { TraceContext } from "../../core/trace-context.ts";
import type { ConnectAsk } from "./auth/connecting.ts";
import type { ServerReport } from "./operator/facts.ts";
import type { ApprovedPins } from "./pins/compare.ts";
import type { PinMode } from "./pins/declarations.ts";
import type { Answered, RequestId } from "./wire/messages.ts";
import type { Repair } from "./servers/repairs.ts";
import type { ToolsConfig } from "./section.ts";

/** Who asks, and what it may use. */
export interface Caller {
  /** Id of the principal; {@link ANYONE} while calls need no key. */
  readonly id: string;
  /** The servers that allow it, in the order of the config. */
  readonly servers: readonly string[];
  /** Patterns over `SERVER__TOOL`, if its key has some. */
  readonly tools?: readonly string[];
  /** Credentials that the request brings for servers, by their names. */
  readonly brought?: Readonly<Record<string, string>>;
  /** What happens with tools that no operator has approved. */
  readonly pin: PinMode;
}

export const ANYONE = "anyone";

/** A message of a client that has passed the checks of the worker. */
export interface PostAsk {
  readonly kind: "post";
  readonly caller: Caller;
  /** One server; absent: all of the caller, merged. */
  readonly server?: string;
  /** JSON text of the message. */
  readonly text: string;
  readonly isModern: boolean;
  /** The client names streams before JSON in `accept`. */
  readonly prefersStream?: true;
  readonly session?: string;
  /** Headers `mcp-param-…` of the request. */
  readonly params?: Readonly<Record<string, string>>;
  /** The worker answers servers that ask for a model: pieces `sample`. */
  readonly samples?: true;
  /** Members of `_meta` for the server: weir's span is between those of the client and of the server. */
  readonly trace?: TraceContext;
}

/** The stream of a legacy session, or the rest of one that broke. */
export interface StreamAsk {
  readonly kind: "stream";
  readonly caller: Caller;
  readonly server?: string;
  readonly session: string;
  readonly lastEventId?: string;
}

/** A legacy client ends its session. */
export interface EndAsk {
  readonly kind: "end";
  readonly caller: Caller;
  readonly server?: string;
  readonly session: string;
}

/** Which tool a name means. */
export interface ResolveAsk {
  readonly kind: "resolve";
  readonly caller: Caller;
  readonly server?: string;
  readonly name: string;
}

/** The tools of a caller, for the loop, commands and `GET /v1/tools`. @see OfferedTools */
export interface ToolsAsk {
  readonly kind: "tools";
  readonly caller: Caller;
}

/** Runs a tool for a model. @see ToolResult */
export interface CallAsk {
  readonly kind: "call";
  readonly caller: Caller;
  readonly name: string;
  readonly arguments: JsonObject;
  /** As in {@link PostAsk}. */
  readonly samples?: true;
  readonly trace?: TraceContext;
}

/** The answer to a piece `sample`. */
export interface SampledAsk {
  readonly kind: "sampled";
  readonly id: number;
  readonly answered: Answered;
}

/** Keeps what happened for the request with the results of the client. @see Exchanges.keep */
export interface KeepAsk {
  readonly kind: "keep";
  readonly owner: string;
  readonly calls: readonly string[];
  readonly text: string;
}

/** @see Exchanges.find */
export interface FindAsk {
  readonly kind: "find";
  readonly owner: string;
  readonly calls: readonly (readonly string[])[];
}

/** What the worker tells operators: {@link Watched}, as long as it reads. */
export interface WatchAsk {
  readonly kind: "watch";
}

/** What the programs of a server wrote to their standard errors. */
export interface LogsAsk {
  readonly kind: "logs";
  readonly server: string;
}

/** A browser connects an account at a server. @see ConnectAnswer */
export interface BrowserAsk {
  readonly kind: "connect";
  readonly connect: ConnectAsk;
}

export type Ask =
  | PostAsk
  | StreamAsk
  | EndAsk
  | ResolveAsk
  | ToolsAsk
  | CallAsk
  | SampledAsk
  | KeepAsk
  | FindAsk
  | WatchAsk
  | LogsAsk
  | BrowserAsk;

/** A list that a server gave, what a result of it lacked, or how it is. */
export type Watched =
  | { readonly server: string; readonly repaired: Repair }
  | { readonly server: string; readonly definitions: readonly JsonObject[] }
  | { readonly report: ServerReport };

/** How a request ended, for the books. */
export interface Outcome {
  /** `input`: the server waits for an answer of the client, which comes with the next request. */
  readonly kind: "result" | "tool_error" | "input" | "error";
  readonly code?: number;
}

/** The first piece is a head; pieces of a stream follow. */
export type Piece =
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      /** The whole answer: JSON; absent: nothing, or a stream. */
      readonly body?: string;
      readonly isStream?: true;
      readonly outcome?: Outcome;
    }
  /** Text of events, as the client gets it. */
  | { readonly events: string; readonly outcome?: Outcome }
  /** The answer ends for now: the client reads it on. The outcome follows. */
  | { readonly pause: true }
  /** A server asks for the answer of a model. @see SampledAsk */
  | { readonly sample: { readonly id: number; readonly params: JsonObject } }
  /** Answers to asks that are no requests of clients. */
  | { readonly value: unknown };

/** What a worker says about itself: the options of its config. */
export interface Introduction {
  readonly options: ToolsConfig;
  /** Key of the store, base64url; absent while the worker does not know it. */
  readonly seal?: string;
  /** Keys of the config for tokens at rest, the one of now first. */
  readonly sealKeys?: readonly string[];
  /** What is approved; absent while the worker does not know it. */
  readonly pins?: ApprovedPins;
}

/** A key of a map by the id of a request, which keeps its type. */
export function keyOf(id: RequestId): string {
  return `${typeof id}:${id}`;
}
