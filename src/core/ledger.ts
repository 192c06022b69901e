/** What the gateway asks of the books: admission before an attempt, settlement after it, one record for each call. */
import type { Attempt, Call } from "./call.ts";

/** What is known of a request before it is sent, for the estimate of its cost. */
export interface RequestSize {
  /** Bytes of text in the request. */
  textBytes: number;
  /** Estimated tokens of images, documents and audio. */
  mediaTokens: number;
  hasTools: boolean;
  /** Tools that the provider runs itself, such as a web search. */
  hasServerTools: boolean;
  /** The client's limit for output tokens. */
  maxTokens?: number;
  /** Number of answers that the client wants. */
  choices: number;
}

/** All methods are synchronous while the worker's own shares suffice. */
export interface Ledger {
  /**
   * Reserves what an attempt may cost and use. Called once for each attempt, before anything is sent.
   * @throws GatewayError `quota`, `rate-limited`, `permission` (`price_unknown`), or `overloaded` (`ledger_unavailable`)
   */
  admit(attempt: Attempt, size: RequestSize): void | Promise<void>;
  /**
   * Reports the output of a running stream, so that the reservation grows with it.
   * @param outputBytes bytes of text so far @returns whether the stream may go on
   */
  extend(attempt: Attempt, outputBytes: number): boolean | Promise<boolean>;
  /** Books what the attempt cost, and frees the rest of its reservation. Called once, however the attempt ended. */
  settle(attempt: Attempt): void;
  /** Writes the record of a call whose attempts are settled. */
  close(call: Call): void;
}
