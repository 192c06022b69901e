/** The side of a worker: asks the process of a feature, and reads the answers piece by piece. */
import { type Lines, ServiceError } from "../core/lines.ts";
import { LastingSocket } from "../process/sockets.ts";
import type { FromService, ToService } from "./messages.ts";

/** Maximum time for the process to start and to be reached. Milliseconds. */
const REACH_MS = 10_000;
/** Most asks at once of one worker; more are refused. */
const MOST_ASKS = 4_096;

/** Starts the process of a feature if it does not run. @returns path of its socket */
export type StartService = (name: string) => Promise<string>;

type Taken = { value: unknown; last?: true } | { end: true };

/** A promise that may fail before somebody waits for it. */
function deferred<Value>(): PromiseWithResolvers<Value> {
  const made = Promise.withResolvers<Value>();
  made.promise.catch(() => {});
  return made;
}

/** The pieces of one answer. */
class Exchange {
  /** The process does not know the ask any more. */
  isOver = false;
  #next = deferred<Taken>();

  piece(value: unknown, last: true | undefined): void {
    if (last) this.isOver = true;
    this.#next.resolve({ value, ...(last && { last }) });
  }

  end(): void {
    this.isOver = true;
    this.#next.resolve({ end: true });
  }

  /** A failure replaces a piece that was not read. */
  fail(cause: unknown): void {
    this.#next.reject(cause);
    this.#next = deferred();
    this.#next.reject(cause);
  }

  next(): Promise<Taken> {
    return this.#next.promise;
  }

  /** Makes room for the next piece. Call this before it is asked for. */
  renew(): void {
    this.#next = deferred();
  }
}

export class ServiceLines<Ask, Piece> implements Lines<Ask, Piece> {
  readonly #name: string;
  readonly #start: StartService;
  readonly #introduction: () => unknown;
  readonly #exchanges = new Map<number, Exchange>();
  #count = 0;
  #last = 0;
  #socket: LastingSocket<ToService, FromService> | undefined;
  #isUp = false;
  /** Resolves when the process can be reached. */
  #reached = deferred<void>();
  #isStarting = false;

  /** @param introduction what the worker says about itself: JSON */
  constructor(name: string, start: StartService, introduction: () => unknown) {
    this.#name = name;
    this.#start = start;
    this.#introduction = introduction;
  }

  introduce(): void {
    if (this.#isUp) this.#socket?.send({ introduce: this.#introduction() });
  }

  async *ask(message: Ask, signal?: AbortSignal): AsyncGenerator<Piece, void> {
    if (this.#count >= MOST_ASKS)
      throw new ServiceError(`the process of ${this.#name} has too many asks (${MOST_ASKS})`);
    const exchange = new Exchange();
    const number = ++this.#last;
    const abort = () => exchange.fail(signal?.reason);
    this.#count++;
    try {
      await this.#reach(signal);
      signal?.addEventListener("abort", abort, { once: true });
      this.#exchanges.set(number, exchange);
      this.#socket!.send({ ask: number, message });
      for (;;) {
        const taken = await exchange.next();
        if ("end" in taken) return;
        yield taken.value as Piece;
        if (taken.last) return;
        // What failed meanwhile is thrown, not asked for.
        if (signal?.aborted) throw signal.reason;
        if (!this.#exchanges.has(number)) throw this.#gone();
        exchange.renew();
        this.#socket!.send({ want: number });
      }
    } finally {
      this.#count--;
      signal?.removeEventListener("abort", abort);
      const isKnown = this.#exchanges.delete(number);
      if (isKnown && !exchange.isOver) this.#socket!.send({ gone: number });
    }
  }

  close(): void {
    this.#socket?.close();
    this.#lose();
  }

  /** Resolves when the process can be reached. @throws ServiceError, or the reason of the signal */
  async #reach(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (this.#isUp) return;
    const late = deferred<never>();
    const abort = () => late.reject(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
    const unreachable = () =>
      new ServiceError(`the process of ${this.#name} could not be reached within ${REACH_MS / 1000} s`);
    const timer = setTimeout(() => late.reject(unreachable()), REACH_MS);
    try {
      this.#connect();
      while (!this.#isUp) await Promise.race([this.#reached.promise, late.promise]);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    }
  }

  #connect(): void {
    if (this.#socket || this.#isStarting) return;
    this.#isStarting = true;
    this.#start(this.#name).then(
      (path) => {
        this.#socket = new LastingSocket<ToService, FromService>(
          path,
          {
            receive: (message) => this.#receive(message),
            closed: () => this.#lose(),
          },
          { isJson: true },
        );
      },
      (cause: unknown) => {
        this.#isStarting = false;
        this.#reached.reject(new ServiceError(cause instanceof Error ? cause.message : String(cause)));
        this.#reached = deferred();
      },
    );
  }

  #receive(message: FromService): void {
    if ("ready" in message) {
      this.#isUp = true;
      this.introduce();
      return this.#reached.resolve();
    }
    if ("piece" in message) return this.#exchanges.get(message.piece)?.piece(message.value, message.last);
    const exchange = this.#exchanges.get(message.end);
    if (!exchange) return;
    exchange.isOver = true;
    if (message.fault) exchange.fail(new ServiceError(message.fault.message, message.fault.data));
    else exchange.end();
  }

  #gone(): ServiceError {
    return new ServiceError(`the process of ${this.#name} ended before it had answered`);
  }

  /** The process has ended: what it has not answered will never be answered. */
  #lose(): void {
    if (!this.#isUp) return;
    this.#isUp = false;
    this.#reached = deferred();
    for (const exchange of this.#exchanges.values()) exchange.fail(this.#gone());
    this.#exchanges.clear();
  }
}
