/** The gateway's side of the keeper: one link, and its two channels. */
import type { AdminState } from "../operator/settings.ts";
import type { BooksChannel, BooksEvents } from "../ledger/channel.ts";
import type { BooksUp } from "../ledger/messages.ts";
import type { PackedBatch } from "../ledger/packed.ts";
import type { Channel, ChannelEvents } from "../core/channel.ts";
import { AnswerClient, type ClientOptions } from "./answers/client.ts";
import type { Connect, Link, LinkEvents } from "./link.ts";
import type { ToKeeper } from "./protocol.ts";

/** Maximum time for the keeper to open the store of the books. Milliseconds. */
const START_MS = 10_000;

export interface KeeperClientOptions extends ClientOptions {
  /** Called with what the keeper wants in the log. */
  onReport?(level: "fault" | "info", text: string): void;
}

export class KeeperClient {
  readonly answers: AnswerClient;
  readonly books: BooksChannel;
  readonly #connect: Connect;
  readonly #adminKnown = Promise.withResolvers<AdminState>();
  readonly #storeKnown = Promise.withResolvers<string | undefined>();
  #link: Link | undefined;
  #isUp = false;
  #wasUp = false;
  /** Why the store of the books cannot be used, in one sentence. */
  #storeFault: string | undefined;
  /** The receivers of what arrives on the link. */
  #answerEvents: LinkEvents | undefined;
  #booksEvents: BooksEvents | undefined;
  readonly #features = new Map<string, ChannelEvents<unknown>>();

  readonly #onReport: KeeperClientOptions["onReport"];

  constructor(connect: Connect, options: KeeperClientOptions = {}) {
    this.#connect = connect;
    this.#onReport = options.onReport;
    this.answers = new AnswerClient((events) => {
      this.#answerEvents = events;
      return { send: (message) => this.#link?.send(message), close: async () => {} };
    }, options);
    this.books = new ToBooks(
      () => this.#isUp,
      (message) => this.#link?.send(message),
      (events) => (this.#booksEvents = events),
    );
  }

  /** The way to the part of a feature in the keeper, whose messages only the feature knows. */
  channel<Up, Down>(feature: string): Channel<Up, Down> {
    const isUp = () => this.#isUp;
    return {
      get isUp() {
        return isUp();
      },
      send: (message) => this.#link?.send({ feature, message }),
      listen: (events) => {
        this.#features.set(feature, events as ChannelEvents<unknown>);
        if (isUp()) events.up();
      },
    };
  }

  /**
   * Connects to the keeper.
   * @returns when the keeper is ready, with one sentence if it cannot open the file of the answers
   */
  start(): Promise<string | undefined> {
    const started = this.answers.start();
    this.#link ??= this.#connect(this.#events());
    return started;
  }

  /** Another keeper gets the store: that of this process commits and ends, before the link to the other one opens. */
  async relink(connect: Connect): Promise<void> {
    const link = this.#link;
    if (link) await (link.pass ? link.pass() : link.close());
    this.#link = connect(this.#events());
  }

  #events(): LinkEvents {
    return {
      up: (fault) => {
        this.#isUp = this.#wasUp = true;
        this.#answerEvents?.up(fault);
        // Parts know what they do with records before those that waited for a keeper come.
        for (const events of this.#features.values()) events.up();
        this.#booksEvents?.up();
      },
      down: () => {
        this.#isUp = false;
        this.#answerEvents?.down();
        this.#booksEvents?.down();
        for (const events of this.#features.values()) events.down();
      },
      receive: (message) => {
        if ("feature" in message) return this.#features.get(message.feature)?.message(message.message);
        if ("admin" in message) return this.#adminKnown.resolve(message.admin);
        if (!("books" in message)) return this.#answerEvents?.receive(message);
        const { books } = message;
        if (books.kind === "report") return this.#onReport?.(books.level, books.text);
        if (books.kind === "store") {
          this.#storeFault = books.fault;
          this.#storeKnown.resolve(books.fault);
        }
        this.#booksEvents?.message(books);
      },
    };
  }

  /** Why the store of the books cannot be used, in one sentence; absent while it is not known, or can be used. */
  get storeFault(): string | undefined {
    return this.#storeFault;
  }

  /** The keeper has ended, or cannot use the store of the books; calls go on from what was granted. */
  get isDegraded(): boolean {
    return this.#storeFault !== undefined || (this.#wasUp && !this.#isUp);
  }

  /** @returns when the keeper has opened the store of the books, with one sentence if it cannot; it tries again by itself */
  storeOpened(): Promise<string | undefined> {
    const late = `the keeper did not open its store within ${START_MS / 1000} s`;
    const timer = setTimeout(() => this.#storeKnown.resolve(late), START_MS);
    return this.#storeKnown.promise.finally(() => clearTimeout(timer));
  }

  /** @returns when the admin API of the keeper listens, or cannot; it tries again by itself */
  adminOpened(): Promise<AdminState> {
    const fault = `the admin API did not start within ${START_MS / 1000} s`;
    const timer = setTimeout(() => this.#adminKnown.resolve({ fault }), START_MS);
    return this.#adminKnown.promise.finally(() => clearTimeout(timer));
  }

  /** Ends the connection; the keeper of this process ends with it. */
  async close(): Promise<void> {
    await this.#link?.close();
    this.#isUp = false;
    await this.answers.close();
  }
}

class ToBooks implements BooksChannel {
  readonly #isUp: () => boolean;
  readonly #send: (message: ToKeeper) => void;
  readonly #listen: (events: BooksEvents) => void;

  constructor(isUp: () => boolean, send: (message: ToKeeper) => void, listen: (events: BooksEvents) => void) {
    this.#isUp = isUp;
    this.#send = send;
    this.#listen = listen;
  }

  get isUp(): boolean {
    return this.#isUp();
  }

  send(message: BooksUp): void {
    if (this.#isUp()) this.#send({ books: message });
  }

  sendBatch(packed: PackedBatch): void {
    if (this.#isUp()) this.#send({ packed });
  }

  listen(events: BooksEvents): void {
    this.#listen(events);
    if (this.#isUp()) events.up();
  }
}
