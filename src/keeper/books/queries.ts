/** Answers what a worker asks for a client: the figures of the client's own key. */
import type { AccountState, BooksDown, BooksUp, KeyFigures, KeyQuery } from "../../ledger/messages.ts";
import { windowAt } from "../../ledger/windows.ts";
import { describeFailure } from "../store/database.ts";
import type { Books } from "./books.ts";
import { BudgetAccount } from "./budget-account.ts";
import type { Reports } from "../reports/reports.ts";
import { DAY_MS, HOUR_MS } from "../record/roll-ups.ts";
import { grantedBy } from "./shares.ts";

export type Query = Extract<BooksUp, { kind: "query" }>;

/** Clients can cause failures: the log gets one in this time. Milliseconds. */
const AGAIN_MS = 60_000;

export class Queries {
  readonly #books: Pick<Books, "opened" | "workers" | "accounts" | "store" | "reporter">;
  readonly #reports: Pick<Reports, "usage">;
  readonly #now: () => number;
  #reportedAt = -Infinity;

  /** @param now milliseconds since 1970 */
  constructor(
    books: Pick<Books, "opened" | "workers" | "accounts" | "store" | "reporter">,
    reports: Pick<Reports, "usage">,
    now: () => number = Date.now,
  ) {
    this.#books = books;
    this.#reports = reports;
    this.#now = now;
  }

  /** @param send sends the answer to the worker */
  async answer({ number, ...query }: Query, send: (message: BooksDown) => void): Promise<void> {
    try {
      await this.#books.opened;
      send({ kind: "answer", number, value: await this.#figures(query) });
    } catch (cause) {
      const error = describeFailure(cause);
      this.#report(error);
      send({ kind: "answer", number, error });
    }
  }

  #report(error: string): void {
    const now = this.#now();
    if (now - this.#reportedAt < AGAIN_MS) return;
    this.#reportedAt = now;
    this.#books.reporter.other(`the books cannot be read for a client: ${error}`);
  }

  async #figures({ key, accounts, path }: KeyQuery): Promise<KeyFigures> {
    const use = await this.#use(path === undefined ? key : undefined);
    const spent = path === undefined ? undefined : await this.#spent(path);
    return { accounts: await this.#accounts(accounts), ...use, ...(spent && { spent }) };
  }

  async #spent(path: string): Promise<NonNullable<KeyFigures["spent"]>> {
    const now = this.#now();
    const since = async (window: "day" | "week" | "month") => {
      const from = windowAt({ window, zone: "UTC" }, now).startsAt;
      return (await this.#reports.usage({ within: path, from, by: [] })).total.cost;
    };
    const [day, week, month] = await Promise.all([since("day"), since("week"), since("month")]);
    return { day, week, month };
  }

  async #use(key: string | undefined): Promise<Pick<KeyFigures, "from" | "models">> {
    const day = this.#now() - DAY_MS;
    const from = Math.floor(day / HOUR_MS) * HOUR_MS;
    if (key === undefined) return { from, models: [] };
    const { rows } = await this.#reports.usage({ key, from: day, by: ["model"] });
    return {
      from,
      models: rows.map(({ group, calls, input, cacheRead, cacheWrite, output, cost }) => ({
        model: group.model ?? "",
        calls,
        input: input + cacheRead + cacheWrite,
        output,
        cost,
      })),
    };
  }

  async #accounts(ids: readonly string[]): Promise<AccountState[]> {
    const { store, accounts } = this.#books;
    const granted = grantedBy(this.#books);
    // Other nodes book too: what this node knows of a window is its state at the last draw.
    const rows = store.isShared ? await store.accounts(this.#now()) : [];
    const stored = new Map(rows.map((row) => [row.account, row]));
    return ids.flatMap((id): AccountState[] => {
      const account = accounts!.find(id);
      if (!account) return [];
      const { held, left } = granted(id);
      if (account instanceof BudgetAccount) {
        const { spent, assumed } = stored.get(id) ?? account.row;
        return [{ account: id, spent: spent + assumed, held }];
      }
      const free = { left: Math.max(0, account.available()) + left };
      return [{ account: id, held, ...(!store.isShared && free) }];
    });
  }
}
