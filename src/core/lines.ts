/** The way of one part of a worker to the process of its feature: asks whose answers are streams. */
export interface Lines<Ask, Piece> {
  /**
   * Asks the process, which weir starts with the first ask. The next piece is produced when the reader takes the one before, and a
   * reader that stops ends the work.
   * @param signal ends the work
   * @throws ServiceError what the process threw, that it has ended meanwhile, or that it could not be reached in time
   */
  ask(message: Ask, signal?: AbortSignal): AsyncGenerator<Piece, void>;
  /** Introduces the worker once more, for example after a reload. Does not start a process. */
  introduce(): void;
}

/** The last piece of an answer: nothing more is asked for, and nothing has to be ended. */
export class LastPiece {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }
}

/** A failure that crosses from the process of a feature to its part in a worker. */
export class ServiceError extends Error {
  /** What the feature says about it: JSON. */
  readonly data: unknown;

  /** @param message one sentence */
  constructor(message: string, data?: unknown) {
    super(message);
    this.name = "ServiceError";
    this.data = data;
  }
}
