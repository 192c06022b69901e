/** Sessions with models: both sides send events over one connection until one of them closes it. */
import type { CallView } from "./call-view.ts";

/**
 * A program that holds a session by itself, with the events of OpenAI's Realtime API. It is called when a client opens a session;
 * if it throws, weir asks the next provider.
 */
export type RealtimeProgram = (
  peer: RealtimePeer,
  call: CallView,
) => RealtimeSession | Promise<RealtimeSession>;

/** The client of a session, as a program sees it. */
export interface RealtimePeer {
  /** The provider's name of the model. */
  readonly model: string;
  /** @param event JSON text of one event */
  send(event: string): void;
  /** Ends the session. @param code status of the WebSocket, 1000 or 3000 to 4999 */
  close(code: number, reason: string): void;
}

/** A running session of a program. */
export interface RealtimeSession {
  /** @param event JSON text of one event of the client */
  receive(event: string): void;
  /** The client has left; the program sends nothing from then on. */
  closed(): void;
}
