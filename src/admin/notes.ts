/** Tasks for the operator, as sentences for the console. */
import { basename } from "node:path";
import type { BreakerReport } from "../ledger/messages.ts";
import { sayNano } from "../ledger/money.ts";
import type { Budget } from "../ledger/policy.ts";
import { OLD_DAYS } from "../ledger/prices/age.ts";
import type { AccountFigures, AdminBooks, BooksCondition } from "./books.ts";
import type { EffectiveConfig } from "../operator/config.ts";
import type { Note } from "../operator/overview.ts";

/** Of these budgets too little is left, where they have no alerts of their own. Percent. */
const LOW = 90;

/** @returns the worst first */
export function inOrder(notes: readonly Note[]): Note[] {
  return [...notes].sort((a, b) => Number(a.level === "warn") - Number(b.level === "warn"));
}

export function notesOfBooks({ fault, waiting, closed, proof, priceAgeDays }: BooksCondition): Note[] {
  const notes: (Note | false)[] = [
    fault !== undefined && {
      ...{ kind: "store", level: "bad" },
      text: `The store cannot be written: ${fault}. ${batches(waiting)} in memory.`,
    },
    closed !== undefined && { kind: "closed-budgets", level: "bad", text: `${closed}.` },
    proof?.holds === false && {
      ...{ kind: "books", level: "bad", since: proof.at },
      text: "The books do not agree: the last proof found a difference.",
    },
    priceAgeDays > OLD_DAYS && {
      ...{ kind: "prices-old", level: "warn" },
      text: `The prices are ${priceAgeDays} days old. Update weir, or set prices of newer models in the config.`,
    },
  ];
  return notes.filter((note) => note !== false);
}

function batches(count: number): string {
  return count === 1 ? "One batch of records waits" : `${count} batches of records wait`;
}

export function notesOfBudgets(
  budgets: readonly Budget[],
  accounts: readonly AccountFigures[],
  now: number,
): Note[] {
  return budgets.flatMap((budget): Note[] => {
    const { id, name, limit, mode, alerts } = budget;
    const open = accounts.find(
      ({ budget: of, startsAt, endsAt = Infinity }) => of === id && startsAt <= now && now < endsAt,
    );
    if (!open || mode === "watch") return [];
    const used = open.spent + open.assumed;
    const sums = `${sayNano(used)} of ${sayNano(limit)}`;
    if (used + open.held >= limit)
      return [
        { kind: "budget-empty", level: "bad", subject: id, text: `${name} is empty: ${sums} are spent.` },
      ];
    const low = Math.min(...(alerts.length === 0 ? [LOW] : alerts));
    if (used * 100 < low * limit) return [];
    const share = Math.floor((used / limit) * 100);
    return [
      {
        kind: "budget-low",
        level: "warn",
        subject: id,
        text: `${name} is at ${share} %: ${sums} are spent.`,
      },
    ];
  });
}

/** @param calls calls of the last hour that a budget refused */
export function notesOfRefusals(calls: number): Note[] {
  if (calls === 0) return [];
  const text =
    calls === 1
      ? "A budget has refused one call in the last hour."
      : `Budgets have refused ${calls.toLocaleString("en")} calls in the last hour.`;
  return [{ kind: "budget-refusals", level: "bad", text }];
}

const REASONS: Record<NonNullable<BreakerReport["why"]>, string> = {
  failing: "its calls failed",
  limited: "it asked for a pause",
  refused: "it refused weir's credential, or the account has no funds",
};

/** @param breakers of all workers */
export function notesOfDeployments(breakers: readonly BreakerReport[]): Note[] {
  const open = Map.groupBy(
    breakers.filter(({ state }) => state === "open"),
    ({ deployment }) => deployment,
  );
  return [...open].map(([deployment, [first]]) => ({
    ...{ kind: "deployment", level: first!.why === "refused" ? "bad" : "warn", subject: deployment },
    text: `${deployment} is left alone, because ${REASONS[first!.why ?? "failing"]}${first!.what === undefined ? "" : ` (${first!.what})`}.`,
  }));
}

export function notesOfCalls(unpriced: number): Note[] {
  if (unpriced === 0) return [];
  const text =
    unpriced === 1
      ? "One call of today has no known price and is in no sum."
      : `${unpriced.toLocaleString("en")} calls of today have no known price and are in no sum.`;
  return [{ kind: "unpriced", level: "warn", text }];
}

/** The file of the config is read at most this often. Milliseconds. */
const LOOK_MS = 30_000;
const looks = new WeakMap<AdminBooks, { at: number; note?: Note }>();

/** Findings of the last look at the config: the worker reads it while the page goes on. @param now milliseconds since 1970 */
export function notesOfConfig(books: AdminBooks, now: number): Note[] {
  const last = looks.get(books);
  if (!last || now - last.at >= LOOK_MS) {
    looks.set(books, { ...last, at: now });
    void books.gateway.ask({ what: "config" }).then(
      (config) => looks.set(books, { at: now, ...noteOf(config as EffectiveConfig) }),
      () => {},
    );
  }
  return last?.note ? [last.note] : [];
}

function noteOf({ file, fault, changes }: EffectiveConfig): { note?: Note } {
  const name = file === undefined ? "The config" : basename(file);
  const note = { kind: "config-changed", level: "warn" } as const;
  if (fault !== undefined)
    return { note: { ...note, text: `${name} cannot be loaded as it is now: ${fault}.` } };
  if (changes.length === 0) return {};
  const options = changes.length === 1 ? "one option" : `${changes.length} options`;
  return {
    note: { ...note, text: `${name} has changed since it was loaded, in ${options}. A reload applies it.` },
  };
}
