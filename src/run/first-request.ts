/** The first request: a part of the start waits for it, so that it does not take the processor from the first answer. */

/** Without a request the part starts this long after the listener. Milliseconds. */
const WAIT_MS = 50;

export class FirstRequest {
  readonly #passed = Promise.withResolvers<void>();
  #hasCome = false;

  /** Whether there was a request. */
  get hasCome(): boolean {
    return this.#hasCome;
  }

  /** Resolves after the first request has been handled synchronously, or after {@link WAIT_MS}. */
  get passed(): Promise<void> {
    return this.#passed.promise;
  }

  /** @param handle handler of a listener that starts now @returns the handler to use in its place */
  watch<Answer>(handle: (request: Request) => Answer): (request: Request) => Answer {
    const timer = setTimeout(this.#passed.resolve, WAIT_MS);
    let next = (request: Request): Answer => {
      next = handle;
      this.#hasCome = true;
      clearTimeout(timer);
      setImmediate(this.#passed.resolve);
      return handle(request);
    };
    return (request) => next(request);
  }
}
