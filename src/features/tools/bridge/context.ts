/** What the doors for clients of both eras share. */
import type { Caller } from "../asks.ts";
import type { ClientFacts } from "../servers/connection.ts";
import { CODE, McpError } from "../wire/messages.ts";
import { OWN_INFO } from "../wire/own-info.ts";
import type { Answers } from "./answers.ts";
import type { Exchange } from "./exchange.ts";
import type { Listeners } from "./listeners.ts";
import type { Samples } from "../sampling/process.ts";
import type { View } from "./view.ts";

export interface Context {
  readonly answers: Answers;
  readonly listeners: Listeners;
  readonly samples: Samples;
  /** @throws McpError for an endpoint that is not the caller's */
  view(caller: Caller, endpoint: string | undefined): View;
  /** The error of an answer; logs one that is none. */
  errorOf(thrown: unknown): McpError;
}

/** weir asks by itself. */
export const NO_CLIENT: ClientFacts = { capabilities: {}, info: OWN_INFO };

/** An exchange without a client that could be told or asked something. */
export function plainExchange(caller: Caller, stop: AbortSignal, client = NO_CLIENT): Exchange {
  return {
    ...{ caller, era: "legacy" as const, client, stop, params: {} },
    notify: () => {},
    ask: (method) =>
      Promise.resolve({ error: { code: CODE.method, message: `${method} has no place here` } }),
  };
}

/** Waits for the end of a request. */
export function aborted(stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (stop.aborted) resolve();
    stop.addEventListener("abort", () => resolve(), { once: true });
  });
}
