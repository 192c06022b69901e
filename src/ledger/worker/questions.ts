/** What clients and parts ask the books about callers and budgets, apart from the path of calls. */
import type { JsonObject } from "../../core/json.ts";
import type { BudgetLeft } from "../../core/ledger.ts";
import type { Principal } from "../../core/principal.ts";
import type { Standing } from "../../core/standing.ts";
import type { Declared } from "../policy.ts";
import { HardBudgets } from "./bound.ts";
import type { Outbox } from "./outbox.ts";
import { OwnKey } from "./own-key.ts";
import type { Queries } from "./queries.ts";

/** What the worker knows at the moment. */
export interface Known {
  /** Keys, budgets and limits. */
  policy: Declared;
  modelSets: Declared["modelSets"];
  /** Clients see the amounts of budgets. */
  tell: boolean;
}

/** The methods are those of `Ledger` in core/ledger.ts. */
export class Questions {
  readonly #queries: Queries;
  readonly #outbox: Outbox;
  readonly #known: () => Known;

  constructor(queries: Queries, outbox: Outbox, known: () => Known) {
    this.#queries = queries;
    this.#outbox = outbox;
    this.#known = known;
  }

  async describeKey(principal: Principal): Promise<JsonObject> {
    const own = this.#ownKey(principal);
    return own.describe(await this.#queries.ask(principal, own.accounts), this.#known().tell);
  }

  async standing(principal: Principal): Promise<Standing | undefined> {
    if (!this.#known().tell) return undefined;
    const own = this.#ownKey(principal);
    return own.standing(await this.#queries.ask(principal, own.accounts, principal.path));
  }

  async budgetsLeft(): Promise<ReadonlyMap<string, BudgetLeft>> {
    const { policy, tell } = this.#known();
    const budgets = new HardBudgets(policy.budgets, Date.now());
    this.#outbox.flush();
    return budgets.left(await this.#queries.ask({ id: HardBudgets.ASKS }, budgets.accounts), tell);
  }

  #ownKey(principal: Principal): OwnKey {
    const { policy, modelSets } = this.#known();
    this.#outbox.flush();
    return new OwnKey(principal, policy, Date.now(), modelSets);
  }
}
