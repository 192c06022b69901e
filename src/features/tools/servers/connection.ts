/** A connection to a server, whatever it speaks and over whatever it is reached. */
import type { JsonObject } from "../../../core/json.ts";
import type { Answered } from "../wire/messages.ts";
import type { Era } from "../wire/revisions.ts";

/** What weir says of the client for which it asks. */
export interface ClientFacts {
  readonly capabilities: JsonObject;
  /** `clientInfo`. */
  readonly info: JsonObject;
  /** Level of the log messages that the client wants of this request. */
  readonly logLevel?: string;
}

/** `clientInfo` of a handshake, which must name a client, as that of a modern request need not. */
export function namedInfo({ info }: ClientFacts): JsonObject {
  const { name, version } = info;
  return typeof name === "string" && typeof version === "string" ? info : { name: "weir", version: "1" };
}

/** One request to a server. */
export interface Outgoing {
  readonly method: string;
  /** As the client sent them, without what its own era adds. */
  readonly params: JsonObject;
  readonly client: ClientFacts;
  /** Headers for servers over HTTP: lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The client has cancelled, or the time is over. The connection tells the server. */
  readonly stop: AbortSignal;
  /** A notification that belongs to the request: progress (with the token of `params`), log messages. */
  notify(method: string, params: JsonObject): void;
  /**
   * The server needs the client: `elicitation/create`, `sampling/createMessage`, `roots/list`. Legacy servers only.
   * @returns its answer; an error if the client cannot
   */
  ask(method: string, params: JsonObject): Promise<Answered>;
  /** Resolves when the client has read enough of what it was told; undefined: it has. Servers over HTTP wait for it. */
  ready?(): Promise<void> | undefined;
  /** The server began a stream that can be read on after it ended. Legacy servers only. @param retryMs pause before */
  primed?(retryMs: number): void;
  /** The server ended that stream before the answer, so that no connection waits. */
  paused?(): void;
}

/** What a server says about itself. */
export interface ServerFacts {
  readonly version: string;
  readonly capabilities: JsonObject;
  readonly info: JsonObject;
  readonly instructions?: string;
}

/** What a connection tells its owner. */
export interface ConnectionEvents {
  /** A notification that belongs to no request: lists that changed, resources that were updated. */
  notified(method: string, params: JsonObject): void;
  /** The connection has ended by itself. Requests that run have failed. @param why one clause */
  ended(why: string): void;
}

export interface Connection {
  readonly era: Era;
  readonly facts: ServerFacts;
  /**
   * @returns what the server answered, errors included
   * @throws McpError 1002 to 1005 where it did not answer
   */
  request(outgoing: Outgoing): Promise<Answered>;
  notify(method: string, params?: JsonObject): void;
  /**
   * Hears of changes until `stop` aborts. Modern servers: a stream of its own (`subscriptions/listen`); legacy ones tell without it.
   * @param wanted member `notifications` of the request @param opened the server listens now
   */
  listen?(wanted: JsonObject, stop: AbortSignal, opened: () => void): Promise<void>;
  /** Ends it: sessions at the server, programs. */
  close(): Promise<void>;
}
