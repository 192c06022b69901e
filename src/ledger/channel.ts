/** How a worker exchanges messages about books with the keeper. The keeper's client implements it. */
import type { BooksDown, BooksUp } from "./messages.ts";
import type { PackedBatch } from "./packed.ts";

export interface BooksEvents {
  /** The connection to the keeper is open: `hello` is the first message now. Called for each connection. */
  up(): void;
  /** The connection has ended: what was sent may not have arrived. */
  down(): void;
  message(message: BooksDown): void;
}

export interface BooksChannel {
  readonly isUp: boolean;
  /** Sends a message; without effect while the connection is not open. */
  send(message: BooksUp): void;
  /** As {@link send}, for records. */
  sendBatch(batch: PackedBatch): void;
  /** Sets the receiver. If the connection is already open, `up` is called at once. */
  listen(events: BooksEvents): void;
}
