/** The keeper: the only part of weir that opens databases. One half stores answers, the other half keeps the books. */
import type { BooksDown, BooksUp } from "../ledger/messages.ts";
import type { AdminApi } from "./admin-api.ts";
import { AnswerKeeper } from "./answer-keeper.ts";
import { SharedAnswers } from "./answers/shared.ts";
import type { FromKeeper, ToKeeper } from "./protocol.ts";
import { type Hello, isPostgres, type KeeperSettings } from "./settings.ts";

/** The keeper of the books, as the links see it. */
export interface BooksKeeper {
  /** Opens the store, and again later if that fails. Messages that arrive before wait. */
  open(): void;
  /** @param send sends a message to the worker */
  connect(send: (message: BooksDown) => void): BooksConnection;
  /** Commits what has arrived and returns what was not used. */
  close(): Promise<void>;
}

export interface BooksConnection {
  receive(message: BooksUp): void;
  /** The worker is gone. */
  ended(): void;
}

/** The connection of one worker. */
export interface Connection {
  receive(message: ToKeeper): void;
  ended(): void;
}

export class Keeper {
  readonly #answers: AnswerKeeper | SharedAnswers | undefined;
  readonly #books: BooksKeeper | undefined;
  readonly #admin: AdminApi | undefined;

  /** @param now milliseconds since 1970 */
  constructor(
    { answers }: KeeperSettings,
    books: BooksKeeper | undefined,
    now?: () => number,
    admin?: AdminApi,
  ) {
    if (answers)
      this.#answers = isPostgres(answers.path)
        ? new SharedAnswers(answers.path, answers.limits, now)
        : new AnswerKeeper(answers, now);
    this.#books = books;
    books?.open();
    this.#admin = admin;
    admin?.start();
  }

  /** @param send sends a message to the worker; the first one is the {@link Hello} */
  connect(send: (message: FromKeeper | Hello) => void): Connection {
    const fault = this.#answers?.open();
    send({ hello: true, ...(fault !== undefined && { fault }) });
    const books = this.#books?.connect((message) => send({ books: message }));
    const leave = this.#admin?.tell((admin) => send({ admin }));
    return {
      receive: (message) => {
        if ("booksText" in message) books?.receive(JSON.parse(message.booksText) as BooksUp);
        else if ("books" in message) books?.receive(message.books);
        else if (this.#answers) this.#answers.handle(message, send);
        else send({ number: message.number, error: "the keeper stores no answers" });
      },
      ended: () => {
        leave?.();
        books?.ended();
      },
    };
  }

  async close(): Promise<void> {
    this.#admin?.stop();
    await this.#answers?.close();
    await this.#books?.close();
  }
}
