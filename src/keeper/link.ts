/** The connection between a gateway's process and the keeper, whatever carries it. */
import type { FromKeeper, ToKeeper } from "./protocol.ts";

/** A connection to the keeper that opens itself again. */
export interface Link {
  /** Sends a message; only while the link is up. */
  send(message: ToKeeper): void;
  close(): Promise<void>;
  /** Ends a keeper of this process for the next one of its store, see `Keeper.pass`; absent where another process has the keeper. */
  pass?(): Promise<void>;
}

export interface LinkEvents {
  /** Messages can be sent now. @param fault one sentence if the keeper could not open the file of the answers */
  up(fault?: string): void;
  /** The keeper is gone: requests that it has not answered will never be answered. */
  down(): void;
  receive(message: FromKeeper): void;
}

export type Connect = (events: LinkEvents) => Link;
