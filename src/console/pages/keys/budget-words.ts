/** A budget in words: how people write it, how full it is, and what becomes of it at its pace. Amounts are nano-dollars. */
import type * as api from "../../data/types.ts";
import type { Frozen } from "../../data/types.ts";
import { dollars, lineOf, readDollars } from "../../numbers/money.ts";

export type Window = api.Budget["window"];
export type Mode = api.Budget["mode"];
export type Subject = Frozen<api.Budget["on"]>;

export type BudgetWindow = Omit<Frozen<api.BudgetWindow>, "account" | "granted">;

/** The members of a budget that its words are made of. */
export type Budget = Frozen<
  Pick<
    api.Budget,
    "id" | "name" | "on" | "window" | "limit" | "mode" | "alerts" | "pace" | "refused" | "refusedFrom"
  >
> & { readonly windows: readonly BudgetWindow[] };

/** The largest limit that the API takes: nine million dollars. */
const MOST = 9_000_000e9;
const MODES = ["hard", "soft", "watch"] as const;

/** The form of a person as the API takes it. */
export interface Amount {
  limit: number;
  window: Window;
  mode: Mode;
}

/**
 * Reads `$50 a month, hard`, `50/month`, `$0.50 every 5 h, watch`, `$100 in all`. Without a window it is a month, without a mode
 * `hard`.
 *
 * @returns undefined for other text
 */
export function readAmount(text: string): Amount | undefined {
  const found = /^\s*(\$?\s*[\d,]*\.?\d+)\s*(.*)$/.exec(text.toLowerCase());
  const limit = found ? readDollars(found[1]!) : undefined;
  if (limit === undefined || limit > MOST) return undefined;
  const words = found![2]!
    .split(/[\s,/]+/)
    .filter((word) => word !== "" && !["a", "an", "per", "each", "every", "in", "the"].includes(word));
  const modes = words.filter((word) => MODES.some((mode) => mode === word));
  const windows = words.filter((word) => !modes.includes(word)).join(" ");
  const window = windows === "" ? "month" : readWindow(windows);
  if (window === undefined || modes.length > 1) return undefined;
  return { limit, window, mode: (modes[0] as Mode | undefined) ?? "hard" };
}

const NAMED: Readonly<Record<string, Window>> = {
  day: "day",
  daily: "day",
  week: "week",
  weekly: "week",
  month: "month",
  monthly: "month",
  total: "total",
  all: "total",
  hour: { hours: 1 },
};

/** @param text `day`, `5 h`, `12 hours`, `all` */
export function readWindow(text: string): Window | undefined {
  const hours = /^([1-9]\d{0,3})\s*(h|hours?)$/.exec(text)?.[1];
  if (hours === undefined) return Object.hasOwn(NAMED, text) ? NAMED[text] : undefined;
  return Number(hours) <= 8760 ? { hours: Number(hours) } : undefined;
}

/** `a month`, `every 5 h`, `in all`: after an amount. */
export function windowWords(window: Window): string {
  if (typeof window === "object") return window.hours === 1 ? "an hour" : `every ${window.hours} h`;
  return window === "total" ? "in all" : `a ${window}`;
}

/** An amount that people chose has whole cents, and no digits beyond them: `$5.00`, not `$5.000`. */
export function limitDollars(nano: number): string {
  return nano !== 0 && nano % 1e7 === 0 ? lineOf(nano, 2) : dollars(nano);
}

/** `$50.00 a month, hard` */
export function amountWords({ limit, window, mode }: Amount): string {
  return `${limitDollars(limit)} ${windowWords(window)}, ${mode}`;
}

/** The error of a field that is no amount. */
export const AMOUNT_FORM = "Write it like $50 a month, hard.";

/** The window that runs now. A budget on sessions has one for each of them: {@link sessionsOf}. */
export function openWindow({ windows, limit }: Budget, now: number): BudgetWindow {
  const open = windows.find(({ startsAt, endsAt = Infinity }) => startsAt <= now && now < endsAt);
  return open ?? { startsAt: now, spent: 0, assumed: 0, held: 0, overrun: 0, left: limit };
}

export const bookedOf = ({ spent, assumed }: BudgetWindow) => spent + assumed;

/** `full`: less is left than a usual call costs, or calls are refused; `hot`: the first alert is reached. */
export type Level = "" | "hot" | "full";

/** @param usual what a call usually costs */
export function levelOf(
  budget: Pick<Budget, "limit" | "alerts" | "refused">,
  window: BudgetWindow,
  usual = 0,
): Level {
  if (window.left <= 0 || window.left < usual || (budget.refused ?? 0) > 0) return "full";
  const first = Math.min(...budget.alerts, 100);
  return bookedOf(window) * 100 >= budget.limit * first ? "hot" : "";
}

/** How much of the limit is used, for the order of the cards. 1 and more: empty. */
export function shareOf({ limit }: Pick<Budget, "limit">, window: BudgetWindow): number {
  return limit > 0 ? (limit - window.left) / limit : 1;
}

const HOUR_MS = 3_600_000;

/** The forecast of a budget. */
export type Prospect =
  /** Nothing is left. `refuses`: calls are refused; a watched budget only counts. */
  | { kind: "empty"; refuses: boolean; next?: number }
  /** Something is left, and calls that it counts are refused: by it, or by another budget. Records do not say by which. */
  | { kind: "refuses"; calls: number; next?: number }
  /** It will be empty before the window ends. Times are milliseconds since 1970. */
  | { kind: "runs-out"; at: number; next: number }
  | { kind: "lasts"; next: number }
  | { kind: "unused"; next?: number }
  /** No window ends. */
  | { kind: "endless" };

/** @param now milliseconds since 1970 */
export function prospectOf(
  budget: Pick<Budget, "mode" | "pace" | "refused">,
  window: BudgetWindow,
  now: number,
): Prospect {
  const { endsAt: next, startsAt, left } = window;
  const booked = bookedOf(window);
  const { refused: calls = 0 } = budget;
  if (calls > 0 && left > 0) return { kind: "refuses", calls, ...(next && { next }) };
  if (left <= 0) return { kind: "empty", refuses: budget.mode !== "watch", ...(next && { next }) };
  if (booked === 0) return { kind: "unused", ...(next && { next }) };
  if (next === undefined) return { kind: "endless" };
  // A runaway shows in the last hour long before it shows in the mean of a month. Nano-dollars a millisecond.
  const pace = Math.max(booked / Math.max(1, now - startsAt), (budget.pace ?? 0) / HOUR_MS);
  const at = now + left / pace;
  return at < next ? { kind: "runs-out", at, next } : { kind: "lasts", next };
}

/** The filter of Calls for what a budget counts. @param keyName name of a key by its id */
export function filterOf(
  { kind, what }: Subject,
  keyName: (id: string) => string,
): Readonly<Record<string, string>> {
  if (kind === "all" || kind === "session") return {};
  return { [kind]: kind === "key" ? keyName(what) : what };
}

/** `on key ci-bot`, `on /eng`, `on each session`; empty for a budget on everything. */
export function subjectWords({ kind, what }: Subject, keyName: (id: string) => string): string {
  if (kind === "all") return "";
  if (kind === "session") return "on each session";
  if (kind === "path") return `on ${what}`;
  return `on ${kind} ${kind === "key" ? keyName(what) : what}`;
}

/** The budgets that count the calls of a key: its own, those on its path and above, on everything. */
export function budgetsOver<Entry extends Pick<Budget, "on">>(
  budgets: readonly Entry[],
  { id, path }: { id?: string; path: string },
): Entry[] {
  const rank = ({ on }: Entry) =>
    on.kind === "key" ? 0 : on.kind === "path" ? 1000 - on.what.length : on.kind === "all" ? 2000 : -1;
  const counts = ({ on: { kind, what } }: Entry) =>
    kind === "all" || (kind === "key" && what === id) || (kind === "path" && isWithin(path, what));
  return budgets.filter(counts).sort((a, b) => rank(a) - rank(b));
}

export function isWithin(path: string, above: string): boolean {
  return above === "/" || path === above || path.startsWith(`${above}/`);
}
