/** The errors with which the ledger refuses a call, as clients read them. */
import type { Units } from "../../core/events.ts";
import { GatewayError } from "../../core/error.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Target } from "../../core/provider.ts";
import { BUDGET_EXHAUSTED, LedgerRefusal, type RefusalReason, type RefusedBy } from "../../core/refusal.ts";
import type { Refusal } from "../messages.ts";
import { formatNano, type Nano, toDollars } from "../money.ts";
import type { RateUnit, Unreleased } from "../policy.ts";
import { readAccount } from "../record.ts";
import { periodOf } from "../windows.ts";
import { dependsOnTarget } from "./line.ts";
import type { Line } from "./share.ts";

/** Longest `retry-after`: SDKs ignore more. Seconds. */
const MAX_RETRY_AFTER = 60;

/** An account of the line cannot grant what the call needs. @param hold what the call needs at most @param tell whether clients see amounts */
export function refuse(line: Line, refusal: Refusal, hold: number, tell: boolean): LedgerRefusal {
  return line.unit === "money"
    ? overBudget(line, refusal, hold, tell)
    : overRate(line, line.unit, refusal, hold);
}

/** The hold of a running stream cannot grow: the answer ends here. */
export function cutShort(line: Line, refusal: Refusal, tell: boolean): LedgerRefusal {
  const { limit, left, resetsAt } = refusal;
  const amounts = tell ? ` (${formatNano(Math.max(0, left))} of ${formatNano(limit)} left)` : "";
  const message = `weir stopped the answer, because the budget ${titleOf(line)} does not suffice for more of it${amounts}; ${beginsAnew(resetsAt)}.`;
  return new LedgerRefusal("quota", message, {
    code: BUDGET_EXHAUSTED,
    details: detailsOf(line, refusal, tell),
    shouldRetry: false,
    reason: "budget",
    perTarget: false,
    by: byOf(line, refusal),
  });
}

function overBudget(line: Line, refusal: Refusal, hold: Nano, tell: boolean): LedgerRefusal {
  const { limit, left, resetsAt } = refusal;
  const { onEmpty } = line.budget!;
  const what = !tell
    ? "is exhausted"
    : line.mode === "hard"
      ? `has ${formatNano(Math.max(0, left))} of ${formatNano(limit)} left and this call may cost up to ${formatNano(hold)}`
      : `of ${formatNano(limit)} is spent`;
  return new LedgerRefusal("quota", `The budget ${titleOf(line)} ${what}; ${beginsAnew(resetsAt)}.`, {
    code: BUDGET_EXHAUSTED,
    details: detailsOf(line, refusal, tell),
    shouldRetry: false,
    retryAfter: soon(resetsAt),
    reason: "budget",
    perTarget: dependsOnTarget(line),
    by: byOf(line, refusal, hold),
    use: onEmpty === "refuse" ? undefined : onEmpty.use,
    budget: {
      period: periodOf(line.budget!.window),
      ...(resetsAt !== undefined && { resetsAt }),
      ...(line.on.kind === "path" && { path: line.on.what }),
    },
  });
}

function byOf({ budget, unit, name, account }: Line, refusal: Refusal, needed?: number): RefusedBy {
  const { limit, left, resetsAt: until } = refusal;
  const id = budget?.id ?? readAccount(account ?? "")?.id ?? name;
  return {
    ...(budget ? { kind: "budget", id, name } : { kind: "rate", id, name, unit }),
    ...{ limit, needed, left: Math.max(0, left), until },
  };
}

/** `"eng, month"` */
function titleOf({ name, budget }: Line): string {
  const { window } = budget!;
  return `"${name}, ${typeof window === "string" ? window : `${window.hours} h`}"`;
}

function beginsAnew(resetsAt: number | undefined): string {
  return resetsAt === undefined ? "it does not reset" : `it resets on ${dayTime(resetsAt)}`;
}

function detailsOf({ name }: Line, { limit, left, resetsAt }: Refusal, tell: boolean): JsonObject {
  return {
    code: BUDGET_EXHAUSTED,
    budget: name,
    ...(tell && { limit: toDollars(limit), left: toDollars(Math.max(0, left)) }),
    ...(resetsAt !== undefined && { resets_at: new Date(resetsAt).toISOString() }),
  };
}

const UNITS: Readonly<Record<RateUnit, { what: string; every: string; reason: RefusalReason }>> = {
  rpm: { what: "requests", every: " a minute", reason: "rate" },
  rpd: { what: "requests", every: " a day", reason: "rate" },
  tpm: { what: "tokens", every: " a minute", reason: "tokens" },
  itpm: { what: "input tokens", every: " a minute", reason: "tokens" },
  otpm: { what: "output tokens", every: " a minute", reason: "tokens" },
  tpd: { what: "tokens", every: " a day", reason: "tokens" },
  concurrency: { what: "calls at once", every: "", reason: "concurrency" },
};

function overRate(line: Line, unit: RateUnit, refusal: Refusal, hold: number): LedgerRefusal {
  const { limit, resetsAt } = refusal;
  const { what, every, reason } = UNITS[unit];
  const waitMs = resetsAt === undefined ? 1000 : Math.max(1, Math.ceil(resetsAt - Date.now()));
  const wait = Math.ceil(waitMs / 1000);
  const needs = reason === "tokens" ? ` This call needs up to ${hold} of them.` : "";
  const again = unit === "concurrency" ? "retry when one of them has ended" : `there is room ${when(wait)}`;
  return new LedgerRefusal(
    "rate-limited",
    `The limit "${line.name}" permits ${limit} ${what}${every}; ${again}.${needs}`,
    {
      details: { limit: line.name, unit },
      retryAfter: Math.min(MAX_RETRY_AFTER, wait),
      // The SDKs prefer it; whole seconds are long for a limit of many requests a minute.
      headers: { "retry-after-ms": String(Math.min(MAX_RETRY_AFTER * 1000, waitMs)) },
      reason,
      perTarget: dependsOnTarget(line),
      by: byOf(line, refusal, hold),
    },
  );
}

/** `in 12 s`; for longer times also the moment: `in 1 h 12 min, on 2026-11-22 at 23:32 UTC`. */
function when(wait: number): string {
  if (wait <= 2 * MAX_RETRY_AFTER) return `in ${wait} s`;
  const minutes = Math.ceil(wait / 60);
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  const long = hours === 0 ? `${rest} min` : `${hours} h${rest === 0 ? "" : ` ${rest} min`}`;
  const at = new Date(Date.now() + wait * 1000).toISOString();
  return `in ${long}, on ${at.slice(0, 10)} at ${at.slice(11, 16)} UTC`;
}

/** A hard budget cannot bound the cost of a call without a price. @param why what needs the price: `the hard budget "eng"` @param units those that the attempt uses */
export function priceUnknown({ provider, model }: Target, why: string, units?: Units): LedgerRefusal {
  const name = `${provider.name}/${model}`;
  const price = units ? unitPrices(units) : "{input: 1.00, output: 2.00}";
  const each = units ? "dollars a unit" : "dollars a million tokens";
  return new LedgerRefusal(
    "permission",
    `The price of ${name} is unknown, and ${why} needs it. Add it to weir.yaml, in ${each}:\nprices:\n  "${name}":\n    ${price}`,
    { code: "price_unknown", reason: "price", perTarget: true, shouldRetry: false },
  );
}

function unitPrices(units: Units): string {
  return `{units: {${Object.keys(units)
    .map((unit) => `${unit}: 0.01`)
    .join(", ")}}}`;
}

/** A call could cost more than its key permits for one call. */
export function tooDear(caller: string, most: Nano, hold: Nano): LedgerRefusal {
  return new LedgerRefusal(
    "invalid-request",
    `This call may cost up to ${formatNano(hold)}, and the ${caller} permits ${formatNano(most)} for one call; set a smaller limit of output tokens.`,
    { code: "cost_limit_exceeded", reason: "scope", perTarget: true },
  );
}

/**
 * A call could produce more output than its key permits for one call.
 * @param output of all answers together @param isNamed whether the request names this limit itself, else it is the model's maximum
 */
export function tooLong(caller: string, most: number, output: number, isNamed: boolean): LedgerRefusal {
  const what = isNamed
    ? `This call asks for up to ${output} output tokens`
    : output === Infinity
      ? "This call names no limit of output tokens, and the maximum of the model is unknown"
      : `This call names no limit of output tokens, and the model permits up to ${output}`;
  return new LedgerRefusal(
    "invalid-request",
    `${what}; the ${caller} permits ${most} for one call. Set a limit of at most ${most}.`,
    { code: "max_tokens_exceeded", reason: "scope", perTarget: !isNamed },
  );
}

export function serverToolsForbidden(caller: string): LedgerRefusal {
  return new LedgerRefusal(
    "permission",
    `The ${caller} may not use tools that the provider runs itself, such as a web search.`,
    { code: "server_tools_not_allowed", param: "tools", reason: "scope", perTarget: false },
  );
}

/** The keeper cannot be asked, or the store is not released, and the operator wants such calls refused. */
export function unavailable({ name }: Line, unreleased?: Unreleased): GatewayError {
  if (unreleased)
    return new GatewayError(
      "overloaded",
      `The gateway's store was damaged or is an older copy, so what is left of "${name}" is not certain. Its operator checks the budgets, and releases them with weir store release.`,
      { code: "ledger_unavailable", shouldRetry: false },
    );
  return new GatewayError(
    "overloaded",
    `The books of weir cannot be reached, and what is left of "${name}" is not known; retry in 5 s.`,
    { code: "ledger_unavailable", retryAfter: 5 },
  );
}

/** The store may have budgets, and this process has not learned them yet. */
export function policyUnknown(): GatewayError {
  return new GatewayError(
    "overloaded",
    "The books of weir cannot be reached, and which budgets the call has is not known; retry in 5 s.",
    { code: "ledger_unavailable", retryAfter: 5 },
  );
}

/** `2026-12-01 00:00 UTC` */
function dayTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

function seconds(at: number): number {
  return Math.max(1, Math.ceil((at - Date.now()) / 1000));
}

/** Seconds until a budget resets, if a client can wait for it. */
function soon(resetsAt: number | undefined): number | undefined {
  if (resetsAt === undefined) return undefined;
  const wait = seconds(resetsAt);
  return wait <= MAX_RETRY_AFTER ? wait : undefined;
}
