/** A connection of frames, as weir uses it. */

/** One connection. It reports what happens to {@link Listening}. */
export interface End {
  /** Sends one frame of text. */
  send(frame: string): void;
  /** Bytes that wait for the other side. */
  readonly buffered: number;
  /** Reads nothing until {@link resume}. */
  pause(): void;
  resume(): void;
  /** Ends the connection behind what was sent. */
  close(code: number, reason: string): void;
}

/** What a connection tells. */
export interface Listening {
  frame(text: string): void;
  /** The other side has taken what waited. */
  drained(): void;
  /** The connection is over: either side has ended it. */
  closed(code: number, reason: string): void;
}
