/** The way of one part of a worker to its part in the keeper. */
export interface Channel<Up, Down> {
  readonly isUp: boolean;
  send(message: Up): void;
  listen(events: ChannelEvents<Down>): void;
}

export interface ChannelEvents<Down> {
  up(): void;
  down(): void;
  message(message: Down): void;
}
