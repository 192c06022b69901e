/** The admin API of a keeper: starts it, and tells the gateway's processes where it listens. */
import type { AdminBooks } from "./books.ts";
import type { Door } from "./door.ts";
import { type AdminListener, startAdmin } from "./listener.ts";
import type { AdminService } from "../keeper/keeper.ts";
import type { AdminSettings, AdminState } from "../operator/settings.ts";
import type { LoadDeclarations } from "./operations/index.ts";

/** Time after a failed start before the next attempt. Milliseconds. */
const RETRY_MS = 2_000;

export class AdminApi implements AdminService {
  readonly #books: AdminBooks;
  readonly #settings: AdminSettings;
  readonly #declared: LoadDeclarations;
  /** Listens already, until the first attempt to answer has failed. */
  #door: Door | undefined;
  readonly #receivers = new Set<(state: AdminState) => void>();
  #listener: AdminListener | undefined;
  #state: AdminState | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #isStopped = false;

  constructor(books: AdminBooks, settings: AdminSettings, declared: LoadDeclarations, door?: Door) {
    this.#books = books;
    this.#door = door;
    this.#declared = declared;
    this.#settings = settings;
  }

  /** Listens as soon as the books have tried to open their store. */
  start(): void {
    void this.#books.opened().then(() => this.#listen());
  }

  /** @param receive gets the state when it is known, and each later one @returns function that ends this */
  tell(receive: (state: AdminState) => void): () => void {
    this.#receivers.add(receive);
    if (this.#state) receive(this.#state);
    return () => this.#receivers.delete(receive);
  }

  async share(): Promise<void> {
    await this.#listener?.share();
  }

  async leave(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#retry);
    await this.#listener?.leave();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#retry);
    this.#door?.stop();
    this.#listener?.stop();
  }

  #listen(): void {
    if (this.#isStopped) return;
    try {
      this.#listener = startAdmin(this.#books, this.#settings, this.#declared, this.#door);
      const { url, token } = this.#listener;
      this.#become({ url, ...(token !== undefined && { token }) });
    } catch (cause) {
      this.#door?.stop();
      this.#door = undefined;
      this.#become({ fault: cause instanceof Error ? cause.message : String(cause) });
      this.#retry = setTimeout(() => this.#listen(), RETRY_MS);
      this.#retry.unref();
    }
  }

  #become(state: AdminState): void {
    if (JSON.stringify(state) === JSON.stringify(this.#state)) return;
    this.#state = state;
    for (const receive of this.#receivers) receive(state);
  }
}
