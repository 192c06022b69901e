/** The facts that a client may know of itself: its key, the limits and budgets that count its calls, and what it has used. */
import type { Json, JsonObject } from "../../core/json.ts";
import type { Principal } from "../../core/principal.ts";
import type { Standing } from "../../core/standing.ts";
import { type ModelSets, patternsOf } from "../../core/model-sets.ts";
import { KEY_OPTIONS } from "../keys/options.ts";
import type { AccountState, KeyFigures } from "../messages.ts";
import { toDollars } from "../money.ts";
import type { Budget, Declared, RateLimit, RateUnit, Scopes, Subject } from "../policy.ts";
import { budgetAccount, rateAccount } from "../record.ts";
import { periodOf, windowAt } from "../windows.ts";
import { isOnKey, isOwn } from "./line.ts";
import { unreadable } from "./queries.ts";

interface CountedBudget {
  budget: Budget;
  /** Absent for a budget on sessions, which has an account for each. */
  account?: string;
  endsAt?: number;
}

interface CountedUnit {
  limit: RateLimit;
  unit: RateUnit;
  account: string;
}

export class OwnKey {
  readonly #principal: Principal;
  readonly #expiresAt: number | undefined;
  readonly #sets: ModelSets;
  readonly #budgets: readonly CountedBudget[];
  readonly #units: readonly CountedUnit[];

  /** @param policy keys, budgets and limits @param now milliseconds since 1970 @param sets those of the config */
  constructor(principal: Principal, policy: Declared, now: number, sets: ModelSets = {}) {
    this.#principal = principal;
    this.#sets = sets;
    this.#expiresAt = principal.until ?? policy.keys.find(({ id }) => id === principal.key?.id)?.expiresAt;
    this.#budgets = policy.budgets
      // A budget that only watches concerns the operator, not the client.
      .filter(({ mode, on }) => mode !== "watch" && mayCount(on, principal))
      .map((budget) => {
        if (budget.on.kind === "session") return { budget };
        const { startsAt, endsAt } = windowAt(budget, now);
        return { budget, account: budgetAccount(budget.id, startsAt), endsAt };
      });
    this.#units = policy.rates
      .filter(({ on }) => mayCount(on, principal))
      .flatMap((limit) =>
        (Object.keys(limit.limits) as RateUnit[]).map((unit) => ({
          limit,
          unit,
          account: rateAccount(limit.id, unit),
        })),
      );
  }

  /** The accounts whose figures {@link describe} needs. */
  get accounts(): readonly string[] {
    return [...this.#budgets, ...this.#units].flatMap(({ account }) => account ?? []);
  }

  /** @param tell whether clients see the amounts of budgets */
  describe(figures: KeyFigures, tell: boolean): JsonObject {
    const { id, name, path, key, options } = this.#principal;
    const states = new Map(figures.accounts.map((state) => [state.account, state]));
    return {
      ...{ id, name, path },
      scopes: describeScopes(options.scopes as Scopes, this.#sets),
      expires_at: timeOrNull(this.#expiresAt),
      limits: this.#units.map((counted) => this.#unit(counted, states.get(counted.account), tell)),
      budgets: this.#budgets.map((counted) => this.#budget(counted, states.get(counted.account ?? ""), tell)),
      ...(key && { usage: this.#usage(figures) }),
    };
  }

  /** @throws GatewayError `overloaded` if the keeper did not say what the caller has spent */
  standing({ accounts, spent }: KeyFigures): Standing {
    if (!spent) throw unreadable();
    const states = new Map(accounts.map((state) => [state.account, state]));
    const caps = this.#budgets.flatMap(({ budget, account, endsAt }) => {
      const { name, on, window, limit } = budget;
      if (endsAt === undefined || account === undefined || !isOnKey(on, this.#principal)) return [];
      const used = toDollars(states.get(account)?.spent ?? 0);
      const cap = { name, period: periodOf(window), limit: toDollars(limit), spent: used, resetsAt: endsAt };
      return [{ ...cap, isShared: !this.#isOwn(on) }];
    });
    const { day, week, month } = spent;
    return { caps, spent: { day: toDollars(day), week: toDollars(week), month: toDollars(month) } };
  }

  /** Calls are booked to keys: a caller without one has no figures of its own. */
  #usage({ from, models }: KeyFigures) {
    return {
      from: time(from),
      models: models.map(({ model, calls, input, output, cost }) => ({
        model: model === "" ? null : model,
        calls,
        tokens: { input, output },
        cost: toDollars(cost),
      })),
    };
  }

  #unit({ limit: { name, on, limits }, unit }: CountedUnit, state: AccountState | undefined, tell: boolean) {
    const limit = limits[unit]!;
    // What is left of a limit that others share says what they do.
    const isTold = state?.left !== undefined && (tell || this.#isOwn(on));
    return { name, on: on.kind, unit, limit, ...(isTold && { left: Math.min(limit, state.left!) }) };
  }

  #budget({ budget, account, endsAt }: CountedBudget, state: AccountState | undefined, tell: boolean) {
    const { name, on, window, zone, limit } = budget;
    const { spent = 0, held = 0 } = state ?? {};
    return {
      name,
      on: on.kind,
      window: typeof window === "string" ? window : `${window.hours}h`,
      zone,
      resets_at: timeOrNull(endsAt),
      ...(tell && this.#isOwn(on) && { limit: toDollars(limit), spent: toDollars(spent) }),
      ...(tell && account !== undefined && { left: toDollars(Math.max(0, limit - spent - held)) }),
    };
  }

  #isOwn(on: Subject): boolean {
    return isOwn(on, this.#principal);
  }
}

/** Whether calls of a caller may count for a subject: which models and providers they use is not known. */
function mayCount(on: Subject, principal: Principal): boolean {
  if (on.kind !== "model" && on.kind !== "provider") return isOnKey(on, principal);
  const [provider = "", ...rest] = on.what.split("/");
  if (on.kind === "model" && rest.length === 0) return true;
  return provider.includes("*") || principal.options.allowsProvider(provider);
}

/** @param sets named sets, which are the operator's: a client sees their patterns */
function describeScopes(
  { models, providers, endpoints, addresses, ...more }: Scopes,
  sets: ModelSets,
): JsonObject {
  const { maxTokens, maxCost, ...options } = more;
  const absent = KEY_OPTIONS.filter((option) => option.absent !== undefined && !(option.name in options));
  return {
    ...(models && { models: models.flatMap((text) => patternsOf(text, sets) ?? []) }),
    ...(providers && { providers: [...providers] }),
    ...(endpoints && { endpoints: [...endpoints] }),
    ...(addresses && { addresses: [...addresses] }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    ...(maxCost !== undefined && { max_cost: toDollars(maxCost) }),
    ...Object.fromEntries(absent.map((option) => [snakeCase(option.name), option.absent as Json])),
    ...Object.fromEntries(Object.entries(options).map(([name, value]) => [snakeCase(name), value as Json])),
  };
}

/** `serverTools` becomes `server_tools`, as members of this API are written. */
function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function time(ms: number): string {
  return new Date(ms).toISOString();
}

function timeOrNull(ms: number | undefined): string | null {
  return ms === undefined ? null : time(ms);
}
