/** Takes the lists of servers one after another, and of a server that changes all the time only the newest one now and then. */
import type { SeenList } from "../messages.ts";

/** Time between two lists of one server. Milliseconds. */
const APART_MS = 5_000;

export class SeenLists {
  readonly #take: (list: SeenList) => Promise<void>;
  /** Logs a sentence as a fault. */
  readonly #report: (sentence: string) => void;
  readonly #apartMs: number;
  readonly #waiting = new Map<string, SeenList>();
  readonly #timers = new Map<string, Timer | undefined>();

  constructor(
    take: (list: SeenList) => Promise<void>,
    report: (sentence: string) => void,
    apartMs: number = APART_MS,
  ) {
    this.#take = take;
    this.#report = report;
    this.#apartMs = apartMs;
  }

  add(list: SeenList): void {
    this.#waiting.set(list.server, list);
    if (!this.#timers.has(list.server)) void this.#next(list.server);
  }

  stop(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#waiting.clear();
  }

  async #next(server: string): Promise<void> {
    const list = this.#waiting.get(server);
    if (!list) return void this.#timers.delete(server);
    this.#waiting.delete(server);
    this.#timers.set(server, undefined);
    try {
      await this.#take(list);
    } catch (cause) {
      this.#report(
        `tools: the list of the server ${server} could not be written down: ${(cause as Error).message}`,
      );
    }
    this.#timers.set(
      server,
      setTimeout(() => void this.#next(server), this.#apartMs),
    );
  }
}
