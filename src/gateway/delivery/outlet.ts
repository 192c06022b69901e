/**
 * How the bytes of a streamed answer reach who reads them: the socket of a client, or code of this process. Both ask for more
 * only when they have accepted what they got, so that a slow reader slows the provider down.
 */

/** Takes the bytes of an answer. */
export interface Outlet {
  /** Asks for more when these bytes are accepted. */
  write(bytes: Uint8Array): void;
  /** Ends the body regularly. */
  end(): void;
  /** Breaks the body off, if nothing else can close the connection. */
  fail(error: Error): void;
}

/** Gives the bytes of an answer when it is asked. Neither method may throw. */
export interface Pulled {
  /** The reader accepts more. */
  pull(): void;
  /** The reader is gone. */
  cancel(reason: unknown): void;
}

/** A body that code of this process reads. @param connect takes the outlet, and gives what is asked */
export function readableBody(connect: (outlet: Outlet) => Pulled): ReadableStream<Uint8Array> {
  let pulled: Pulled;
  const source: UnderlyingDefaultSource<Uint8Array> = {
    start(controller) {
      pulled = connect({
        write: (bytes) => controller.enqueue(bytes),
        end: () => controller.close(),
        fail: (error) => controller.error(error),
      });
    },
    pull: () => pulled.pull(),
    cancel: (reason) => pulled.cancel(reason),
  };
  return new ReadableStream<Uint8Array>(source, { highWaterMark: 0 });
}

/**
 * A body that the server writes to the socket of its client. The runtime's own way to read a stream takes several promises for
 * each piece, which cost as much as everything else that weir does with it.
 */
export function socketBody(connect: (outlet: Outlet) => Pulled): ReadableStream<Uint8Array> {
  // The types of the web know no direct streams.
  return new ReadableStream(new SocketOutlet(connect) as unknown as UnderlyingSource<Uint8Array>);
}

class SocketOutlet implements Outlet, Bun.DirectUnderlyingSource<Uint8Array> {
  readonly type = "direct";
  readonly #pulled: Pulled;
  /** Of the runtime, for the lifetime of the body. */
  #sink!: ReadableStreamDirectController;
  readonly #ended = Promise.withResolvers<void>();
  #isOpen = true;
  /** The socket accepts more. */
  #wants = false;
  #isPulling = false;
  /** Bytes are in the runtime's buffer. */
  #isUnsent = false;

  constructor(connect: (outlet: Outlet) => Pulled) {
    this.#pulled = connect(this);
  }

  /** The server calls it once, and ends the body when the promise resolves. */
  pull(sink: ReadableStreamDirectController): Promise<void> {
    this.#sink = sink;
    this.#more();
    return this.#ended.promise;
  }

  cancel(reason: unknown): void {
    if (this.#close()) this.#pulled.cancel(reason);
  }

  write(bytes: Uint8Array): void {
    if (!this.#isOpen) return;
    const written = this.#sink.write(bytes) as number | Promise<number>;
    this.#isUnsent = true;
    if (typeof written !== "number") {
      // The buffer of the socket is full.
      this.#flush();
      written.then(this.#more, this.#more);
    } else if (this.#isPulling) this.#wants = true;
    // Later, because a source that gives a piece to several clients must not be asked for the next one before all have it.
    else queueMicrotask(this.#more);
  }

  end(): void {
    if (!this.#isOpen) return;
    this.#sink.end();
    this.#close();
  }

  fail(error: Error): void {
    if (!this.#isOpen) return;
    this.#sink.close(error);
    this.#close();
  }

  /** @returns whether it was open */
  #close(): boolean {
    const wasOpen = this.#isOpen;
    this.#isOpen = false;
    this.#ended.resolve();
    return wasOpen;
  }

  /** Asks until nothing comes at once: what came together is sent together, and pieces that are here need no recursion. */
  readonly #more = (): void => {
    this.#wants = true;
    if (this.#isPulling) return;
    this.#isPulling = true;
    while (this.#wants && this.#isOpen) {
      this.#wants = false;
      this.#pulled.pull();
    }
    this.#isPulling = false;
    this.#flush();
  };

  #flush(): void {
    if (!this.#isUnsent || !this.#isOpen) return;
    this.#isUnsent = false;
    this.#sink.flush();
  }
}
