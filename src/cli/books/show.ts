/** How the commands of the books show amounts, times, counts and tables. */
import { formatNano, type Nano } from "../../ledger/money.ts";
import type { Subject, Window } from "../../ledger/policy.ts";
import type { Key } from "../../operator/index.ts";

type Sets = Key["sets"];

export const showMoney = (nano: Nano | undefined): string => (nano === undefined ? "" : formatNano(nano));

/** `2026-11-22 04:05:06`, in UTC. */
export function showTime(at: number | undefined): string {
  return at === undefined ? "" : new Date(at).toISOString().slice(0, 19).replace("T", " ");
}

export const showDay = (at: number): string => new Date(at).toISOString().slice(0, 10);

const THOUSANDS = new Intl.NumberFormat("en-US");

export const showCount = (count: number | undefined): string =>
  count === undefined ? "" : THOUSANDS.format(count);

const BYTE_UNITS = ["B", "KB", "MB", "GB", "TB"];

export function showBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  return `${value >= 100 || power === 0 ? Math.round(value) : value.toFixed(1)} ${BYTE_UNITS[power]}`;
}

export function showMs(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(ms < 100_000 ? 1 : 0)} s`;
}

/** `$50.00 a month`. */
export function showLimit(limit: Nano, window: Window): string {
  const amount = formatNano(limit);
  if (window === "total") return amount;
  return `${amount} ${typeof window === "string" ? `a ${window}` : `in ${window.hours} h`}`;
}

/** A set that a rule names, with its patterns, or that it does not exist. */
export function showModels(text: string, sets: Sets = {}): string {
  const patterns = sets[text];
  if (patterns === undefined) return text;
  return `${text} (${patterns === null ? "no such set" : patterns.join(", ")})`;
}

/** @param names names of keys by id */
export function showSubject(
  { kind, what }: Subject,
  names: ReadonlyMap<string, string>,
  sets?: Sets,
): string {
  if (kind === "all") return "all calls";
  if (kind === "session") return "each session";
  if (kind === "model") return `model ${showModels(what, sets)}`;
  return `${kind} ${kind === "key" ? (names.get(what) ?? what) : what}`;
}

/** A cell of a file with comma-separated values (RFC 4180). Formulas of spreadsheets are quoted as text. */
function csvCell(value: string | number | undefined): string {
  const text = typeof value === "string" && /^[=+@\t\r-]/.test(value) ? `'${value}` : String(value ?? "");
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csv(rows: readonly (readonly (string | number | undefined)[])[]): string {
  return rows.map((row) => row.map(csvCell).join(",")).join("\n");
}
