/** The sums of the page, without elements. */
import type { GuardsView } from "../watch/contracts.ts";

export interface GuardRow {
  readonly name: string;
  readonly does: string;
  readonly finds: readonly string[];
  readonly narrowed: boolean;
  /** Verdicts in all, those with a value, those that blocked, and those that could not be given. */
  readonly all: number;
  readonly found: number;
  readonly blocked: number;
  readonly unavailable: number;
  /** Those with a value over the time, the oldest first. */
  readonly slots: readonly number[];
  readonly state: "ok" | "warn" | "bad" | "off";
  readonly word: string;
}

/** Points of a line. */
const SLOTS = 24;
const HOUR_MS = 3_600_000;
const FOUND = new Set(["flagged", "masked", "replaced", "routed", "blocked"]);

/** Guards of the config in their order, then those that only the store knows. @param to milliseconds since 1970 */
export function rowsOf({ guards = [], hours }: GuardsView, from: number, to: number): GuardRow[] {
  const of = Map.groupBy(hours, ({ guard }) => guard);
  const known = new Set(guards.map(({ name }) => name));
  const gone = [...of.keys()].filter((name) => !known.has(name));
  const named = gone.map((name) => ({ name, does: "", finds: [], narrowed: false }));
  // Hours are whole: the first one may begin before the time.
  const begin = Math.floor(from / HOUR_MS) * HOUR_MS;
  const slotMs = Math.max(HOUR_MS, (to - begin) / SLOTS);
  return [...guards, ...named].map((guard) => {
    const slots = Array.from({ length: Math.max(1, Math.ceil((to - begin) / slotMs)) }, () => 0);
    const sums = { all: 0, found: 0, blocked: 0, unavailable: 0 };
    for (const { hour, verdict, calls } of of.get(guard.name) ?? []) {
      sums.all += calls;
      if (verdict === "blocked") sums.blocked += calls;
      if (verdict === "unavailable") sums.unavailable += calls;
      if (!FOUND.has(verdict)) continue;
      sums.found += calls;
      const slot = Math.min(slots.length - 1, Math.floor((hour - begin) / slotMs));
      slots[slot]! += calls;
    }
    return { ...guard, ...sums, slots, ...stateOf({ ...guard, ...sums }, known.has(guard.name)) };
  });
}

function stateOf(
  { all, unavailable, narrowed }: Pick<GuardRow, "all" | "unavailable" | "narrowed">,
  isKnown: boolean,
): Pick<GuardRow, "state" | "word"> {
  if (!isKnown) return { state: "off", word: "removed" };
  if (unavailable > 0) return { state: "bad", word: "could not judge" };
  if (all > 0) return { state: "ok", word: "judges" };
  // There may have been no call that is its.
  return { state: narrowed ? "off" : "warn", word: "no verdict" };
}

/** Texts that weir cannot read, by kind: guards that stand in front of the same text count it once each. */
export function unreadOf({ unread }: GuardsView): { kind: string; texts: number; guards: string[] }[] {
  return [...Map.groupBy(unread, ({ kind }) => kind)]
    .map(([kind, rows]) => ({
      kind,
      texts: Math.max(...rows.map(({ texts }) => texts)),
      guards: rows.map(({ guard }) => guard),
    }))
    .sort((one, other) => other.texts - one.texts);
}
