/** The keeper: the only part of weir that opens databases. One half stores answers, the other half keeps the books. */
import type { BooksDown, BooksUp } from "../ledger/messages.ts";
import { unpack } from "../ledger/packed.ts";
import type { AdminState } from "../operator/settings.ts";
import { AnswerKeeper } from "./answers/keeper.ts";
import { SharedAnswers } from "./answers/shared.ts";
import type { FromKeeper, ToKeeper } from "./protocol.ts";
import type { KeeperPart } from "./seams.ts";
import { type KeeperHello, isPostgres, type KeeperSettings } from "./settings.ts";

/** The keeper of the books, as the links see it. */
export interface BooksKeeper {
  /** Opens the store, and again later if that fails. Messages that arrive before wait. */
  open(): void;
  /** @param send sends a message to the worker */
  connect(send: (message: BooksDown) => void): BooksConnection;
  /**
   * Commits what has arrived and returns what was not used.
   * @param passes the next keeper of the store follows while workers run: they keep what they were granted, and tell it
   */
  close(passes?: boolean): Promise<void>;
}

export interface BooksConnection {
  receive(message: BooksUp): void;
  /** The worker is gone. */
  ended(): void;
}

/** The connection of one worker. */
export interface WorkerConnection {
  receive(message: ToKeeper): void;
  ended(): void;
}

/** The admin API, as the keeper sees it. */
export interface AdminService {
  /** Listens as soon as the books have tried to open their store. */
  start(): void;
  /** @param receive gets the state when it is known, and each later one @returns function that ends this */
  tell(receive: (state: AdminState) => void): () => void;
  /** Lets the next keeper listen at the same address. @throws Error with one sentence where the system cannot do it */
  share(): Promise<void>;
  /** The next keeper listens at the same address. @returns when running requests have ended, or have no more time */
  leave(): Promise<void>;
  stop(): void;
}

/** The half that keeps the books; both are absent without a store. */
export interface OpenedBooks {
  books?: BooksKeeper;
  admin?: AdminService;
  /** Parts of features, by name. */
  parts?: ReadonlyMap<string, KeeperPart>;
}

export class Keeper {
  readonly #answers: AnswerKeeper | SharedAnswers | undefined;
  readonly #opened: Promise<OpenedBooks>;
  /** Workers that are connected. */
  readonly #senders = new Set<(message: FromKeeper) => void>();

  /**
   * @param opened the start of a gateway waits for the answers, and must not wait for the code of the books
   * @param now milliseconds since 1970
   */
  constructor({ answers }: KeeperSettings, opened: Promise<OpenedBooks>, now?: () => number) {
    if (answers)
      this.#answers = isPostgres(answers.path)
        ? new SharedAnswers(answers.path, answers.limits, now)
        : new AnswerKeeper(answers, now);
    this.#opened = opened;
    void opened.then(({ books, admin }) => {
      books?.open();
      admin?.start();
    });
  }

  /** @param send sends a message to the worker; the first one is the {@link KeeperHello} */
  connect(send: (message: FromKeeper | KeeperHello) => void): WorkerConnection {
    const fault = this.#answers?.open();
    send({ hello: true, ...(fault !== undefined && { fault }) });
    this.#senders.add(send);
    const connected = this.#opened.then(({ books, admin, parts = [] }) => ({
      books: books?.connect((message) => send({ books: message })),
      leave: admin?.tell((state) => send({ admin: state })),
      parts: new Map(
        [...parts].map(([feature, part]) => [
          feature,
          part.connect?.((message) => send({ feature, message })),
        ]),
      ),
    }));
    const toBooks = (message: BooksUp) => void connected.then(({ books }) => books?.receive(message));
    return {
      receive: (message) => {
        if ("packed" in message) toBooks({ kind: "records", batch: unpack(message.packed) });
        else if ("books" in message) toBooks(message.books);
        else if ("feature" in message)
          void connected.then(({ parts }) => parts.get(message.feature)?.receive(message.message));
        else if (this.#answers) this.#answers.handle(message, send);
        else send({ number: message.number, error: "the keeper stores no answers" });
      },
      ended: () => {
        this.#senders.delete(send);
        void connected.then(({ books, leave, parts }) => {
          for (const part of parts.values()) part?.ended();
          leave?.();
          books?.ended();
        });
      },
    };
  }

  /** Before {@link pass}: the next keeper may listen where the admin API does. @throws Error with one sentence where it cannot */
  async share(): Promise<void> {
    await (await this.#opened).admin?.share();
  }

  async close(): Promise<void> {
    const { books, parts } = await this.#end();
    await Promise.all([books?.close(), ...parts.map((part) => part.close?.())]);
  }

  /**
   * Ends for the next keeper of the store, while workers run.
   * @param hangUp ends their connections: what they send from then on is for the next keeper
   */
  async pass(hangUp: () => void): Promise<void> {
    await (await this.#opened).admin?.leave();
    const { books, parts } = await this.#end();
    if (books) for (const send of this.#senders) send({ books: { kind: "passes" } });
    hangUp();
    await Promise.all([books?.close(true), ...parts.map((part) => part.close?.())]);
  }

  async #end(): Promise<{ books: BooksKeeper | undefined; parts: KeeperPart[] }> {
    const { books, admin, parts = new Map<string, KeeperPart>() } = await this.#opened;
    admin?.stop();
    await this.#answers?.close();
    return { books, parts: [...parts.values()] };
  }
}
