/** One request of a client, as the code that answers it sees it. */
import type { JsonObject } from "../../../core/json.ts";
import type { Caller } from "../asks.ts";
import type { ClientFacts } from "../servers/connection.ts";
import type { Owner } from "../servers/server.ts";
import type { Answered } from "../wire/messages.ts";
import type { Era } from "../wire/revisions.ts";

export interface Exchange {
  readonly caller: Caller;
  readonly era: Era;
  readonly client: ClientFacts;
  /** Aborts when the client has cancelled, or has gone. */
  readonly stop: AbortSignal;
  /** Sends a notification that belongs to the request. */
  notify(method: string, params: JsonObject): void;
  /** Asks the client during the request. Legacy clients only. */
  ask(method: string, params: JsonObject): Promise<Answered>;
  /** Asks a model of weir for the server; absent: no worker answers. */
  readonly sample?: ((params: JsonObject, stop: AbortSignal) => Promise<Answered>) | undefined;
  /** @see Outgoing */
  ready?(): Promise<void> | undefined;
  primed?(retryMs: number): void;
  paused?(): void;
  /** Headers `mcp-param-…` of the request. */
  readonly params: Readonly<Record<string, string>>;
  /** Session of a legacy client. */
  readonly session?: string;
}

/** A request of a client, as it goes to a server. */
export interface Forwarded {
  readonly server: string;
  readonly method: string;
  readonly params: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
  /** Most answers of weir's models for the server. */
  readonly samples: number;
}

/** For whom connections are opened. */
export function ownerOf({ caller, client, era }: Exchange): Owner {
  const { id: principal, brought } = caller;
  return { principal, client, era, ...(brought && { brought }) };
}

/** The capability of a client that a request of a server needs. */
const NEEDED: Readonly<Record<string, string>> = {
  "elicitation/create": "elicitation",
  "sampling/createMessage": "sampling",
  "roots/list": "roots",
};

/** @returns the name of the capability that the client lacks; undefined if it has it */
export function lacking({ capabilities }: ClientFacts, method: string): string | undefined {
  const needed = NEEDED[method];
  if (needed === undefined) return method;
  return capabilities[needed] === undefined ? needed : undefined;
}
