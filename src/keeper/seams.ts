/** The seams of the keeper: what a part of weir does there for its part in each worker. */

/** A part in the keeper. The messages are its own; methods, so that parts with different messages fit into one map. */
export interface KeeperPart<Up = unknown, Down = unknown> {
  /** A worker has connected. @param send sends a message to the part of the same name there */
  connect(send: (message: Down) => void): PartConnection<Up>;
}

export interface PartConnection<Up = unknown> {
  receive(message: Up): void;
  /** The worker is gone. */
  ended(): void;
}
