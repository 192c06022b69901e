/** All accounts of this node, by id, and the cells in which their free amounts survive the death of the keeper. */
import type { Budget, RateUnit } from "../../ledger/policy.ts";
import { budgetAccount } from "../../ledger/record.ts";
import { windowAt, type WindowSpan } from "../../ledger/windows.ts";
import type { Account } from "./account.ts";
import { BudgetAccount, type FreeCell } from "./budget-account.ts";
import {
  cellFiles,
  createCells,
  isKeeperFile,
  KEEPER_CELLS,
  type LeftCells,
  readCells,
  removeCells,
  removeFolder,
} from "./cells.ts";
import type { BooksClock } from "./clock.ts";
import type { PolicyState } from "./policy-state.ts";
import { RateAccount } from "./rate-account.ts";
import type { AccountRow } from "../store/store.ts";

/** Name of the cell that is 1 while the store and the workers that live know all that is spent. */
const CERTAIN = "certain";
/** Ended windows without money are forgotten after this time. Milliseconds. */
const FORGOTTEN_MS = 3_600_000;

export class BookAccounts {
  readonly budgets = new Map<string, BudgetAccount>();
  readonly rates = new Map<string, RateAccount>();
  readonly #policy: PolicyState;
  readonly #clock: BooksClock;
  readonly #cells: ReturnType<typeof createCells>;
  readonly #reserved = new Map<string, number>();
  /** Free amounts of the keeper before this one. */
  readonly #earlier: LeftCells | undefined;
  readonly #folder: string | undefined;
  readonly #levels = new Map<string, { level: number; at: number }>();

  /** Called for each new unit of a limit that this node shares with others: its part of it is 0. */
  onNewRate: () => void = () => {};
  readonly #isShared: boolean;
  readonly #certain: FreeCell;
  #hasBlindSpot = false;

  /** @param folder of the cells; absent: they are in memory @param isShared other nodes use the same store */
  constructor(policy: PolicyState, clock: BooksClock, folder: string | undefined, isShared = false) {
    this.#isShared = isShared;
    this.#policy = policy;
    this.#clock = clock;
    this.#folder = folder;
    const file = cellFiles(folder).find(isKeeperFile);
    this.#earlier = file === undefined ? undefined : readCells(file);
    removeCells(file);
    this.#cells = createCells(folder, KEEPER_CELLS);
    this.#certain = this.#cell(CERTAIN);
    if (this.wasCertain) this.trust();
  }

  /** Only this keeper knows now what a worker that is gone has spent. @param isLasting the workers cannot tell either */
  doubt(isLasting = false): void {
    this.#hasBlindSpot ||= isLasting;
    this.#certain.set(0);
  }

  /** The store and the workers know all again. */
  trust(): void {
    if (!this.#hasBlindSpot) this.#certain.set(1);
  }

  /** The store and the workers knew all when the keeper before this one ended: what no worker has is free. */
  get wasCertain(): boolean {
    return this.#earlier?.leftOf(CERTAIN) === 1;
  }

  /** Continues with the rows of the store, before any other use. @param levels of rate limits */
  restore(
    rows: readonly AccountRow[],
    levels: readonly { account: string; level: number; at: number }[],
  ): void {
    for (const { account, level, at } of levels) this.#levels.set(account, { level, at });
    for (const row of rows) {
      const account = this.#add(this.#policy.budget(row.budget) ?? unknownBudget(row), row);
      account.row = row;
      account.own = row.own;
      account.free = Math.min(row.own, this.#earlier?.leftOf(row.account) ?? 0);
    }
  }

  /** The account by an id that a worker has sent. @returns undefined if its budget or limit no longer exists */
  find(id: string): Account | undefined {
    return this.budgets.get(id) ?? this.rates.get(id) ?? this.#make(id);
  }

  has(id: string): boolean {
    return this.budgets.has(id) || this.rates.has(id);
  }

  /** As {@link find}, for money. */
  budget(id: string): BudgetAccount | undefined {
    const found = this.find(id);
    return found instanceof BudgetAccount ? found : undefined;
  }

  *all(): Generator<Account> {
    yield* this.budgets.values();
    yield* this.rates.values();
  }

  /** Takes changed budgets and limits over. @returns budgets that grant less than before */
  update(): BudgetAccount[] {
    const lowered: BudgetAccount[] = [];
    for (const account of this.budgets.values()) {
      const { budget: before } = account;
      const after = this.#policy.budget(before.id);
      if (!after) {
        if (before.mode !== "watch") lowered.push(account);
        continue;
      }
      account.budget = after;
      if (after.limit < before.limit || after.mode !== before.mode) lowered.push(account);
    }
    for (const [id, account] of this.rates) {
      const limit = this.#policy.rate(limitOf(id));
      if (limit?.limits[account.unit] !== undefined) account.change(limit);
    }
    return lowered;
  }

  /** Forgets windows that have ended and have no money at this node. */
  forget(): void {
    const now = this.#clock.wall();
    for (const [id, account] of this.budgets) {
      if (account.own !== 0 || account.returning !== 0 || account.shares.size > 0) continue;
      if (account.endsAt === undefined || account.endsAt + FORGOTTEN_MS > now) continue;
      this.budgets.delete(id);
      const cell = this.#reserved.get(id);
      if (cell === undefined) continue;
      this.#cells.release(cell);
      this.#reserved.delete(id);
    }
  }

  close(): void {
    this.#cells.close();
    removeFolder(this.#folder);
  }

  #make(id: string): Account | undefined {
    const [, name = "", start] = /^b:(.*)@(-?\d+)$/s.exec(id) ?? [];
    const budget = start === undefined ? undefined : this.#policy.budget(name);
    if (budget)
      return this.#add(budget, { startsAt: Number(start), endsAt: windowAt(budget, Number(start)).endsAt });
    const limit = this.#policy.rate(limitOf(id));
    const unit = id.slice(id.lastIndexOf(":") + 1) as RateUnit;
    if (limit?.limits[unit] === undefined) return undefined;
    const account = new RateAccount(limit, unit, this.#clock, this.#cell(id), this.#isShared ? 0 : 1);
    const stored = this.#levels.get(id);
    const kept = this.#earlier?.leftOf(id);
    if (this.#isShared) this.onNewRate();
    else if (kept !== undefined) account.resume(kept, 0);
    else if (stored) account.resume(stored.level, this.#clock.wall() - stored.at);
    this.rates.set(id, account);
    return account;
  }

  #add(budget: Budget, span: WindowSpan): BudgetAccount {
    const cell = this.#cell(budgetAccount(budget.id, span.startsAt));
    const account = new BudgetAccount(budget, span, cell, this.#clock.monotonic());
    this.budgets.set(account.id, account);
    return account;
  }

  #cell(id: string): FreeCell {
    const cell = this.#cells.reserve(id);
    if (cell !== undefined) this.#reserved.set(id, cell);
    return {
      set: (amount) => {
        if (cell !== undefined) this.#cells.values[cell] = amount;
      },
    };
  }
}

/** The id of the limit in the id of an account: `r:LIMIT:UNIT`. */
export function limitOf(id: string): string {
  return id.slice(2, id.lastIndexOf(":"));
}

/** Stands for a budget that the policy does not have, or not yet: it grants nothing more. */
function unknownBudget({ budget, spent, assumed, granted }: AccountRow): Budget {
  return {
    id: budget,
    name: budget,
    on: { kind: "all", what: "" },
    window: "total",
    zone: "UTC",
    limit: spent + assumed + granted,
    mode: "hard",
    onEmpty: "refuse",
    alerts: [],
    source: "store",
  };
}
