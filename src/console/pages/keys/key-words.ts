/** Keys in words, and as a tree by path. */
import type * as api from "../../data/types.ts";
import type { Frozen } from "../../data/types.ts";
import { type Budget, isWithin } from "./budget-words.ts";

export type Scopes = Frozen<api.Scopes>;

/** The members of a key that its words are made of. */
export type Key = Frozen<
  Pick<
    api.Key,
    | "id"
    | "name"
    | "kind"
    | "path"
    | "scopes"
    | "restrictions"
    | "state"
    | "source"
    | "hint"
    | "lastUsedAt"
    | "expiresAt"
    | "revokedAt"
    | "rotatingUntil"
  >
>;

export type Rate = Frozen<Pick<api.Rate, "limits">> & { on: { kind: string; what: string } };

const DAY = 86_400_000;

/** The words that are behind the name of a key, with how loud they are. @param now milliseconds since 1970 */
export function tagsOf(key: Key, now: number): { word: string; tone: "" | "warn" | "bad" }[] {
  const { kind, state, source, rotatingUntil = 0, expiresAt = Infinity } = key;
  const days = Math.ceil((expiresAt - now) / DAY);
  return [
    ...(kind === "call" ? [] : [{ word: kind, tone: "" as const }]),
    ...(state === "active" ? [] : [{ word: state, tone: "bad" as const }]),
    ...(state === "active" && rotatingUntil > now ? [{ word: "rotating", tone: "warn" as const }] : []),
    ...(state === "active" && days <= 7 ? [{ word: `expires in ${days} d`, tone: "warn" as const }] : []),
    ...(source === "config" ? [{ word: "declared", tone: "" as const }] : []),
  ];
}

/** `claude-*, fast`, or `all models`. */
export function mayUse({ models }: Scopes): string {
  return models === undefined ? "all models" : models.length === 0 ? "no model" : models.join(", ");
}

/** Every restriction of a key as a clause. */
export const scopeWords = ({ scopes, restrictions = [] }: Pick<Key, "scopes" | "restrictions">): string[] => [
  `may use ${mayUse(scopes)}`,
  ...restrictions,
];

const UNITS: Readonly<Record<string, string>> = {
  rpm: "a minute",
  rpd: "a day",
  tpm: "tokens a minute",
  itpm: "input tokens a minute",
  otpm: "output tokens a minute",
  tpd: "tokens a day",
  concurrency: "at once",
};

/** `120 a minute, 4 at once`: calls unless it says tokens. */
export function rateWords(limits: Readonly<Record<string, number>>, count: (n: number) => string): string {
  return Object.entries(limits)
    .map(([unit, limit]) => `${count(limit)} ${UNITS[unit] ?? unit}`)
    .join(", ");
}

/** The limits of a key's own. */
export const ratesOf = <Entry extends Rate>(rates: readonly Entry[], id: string): Entry[] =>
  rates.filter(({ on }) => on.kind === "key" && on.what === id);

/** All limits of a key's own by unit, or undefined. */
export function limitsOf(rates: readonly Rate[], id: string): Readonly<Record<string, number>> | undefined {
  const own = ratesOf(rates, id);
  return own.length === 0 ? undefined : Object.assign({}, ...own.map(({ limits }) => limits));
}

export type TreeRow =
  { kind: "path"; path: string; depth: number } | { kind: "key"; key: Key; depth: number };

/** Rows of the tree: each path that has keys, a budget or both, with those above it; then its keys by name. */
export function treeOf(keys: readonly Key[], budgets: readonly Pick<Budget, "on">[]): TreeRow[] {
  const paths = new Set<string>();
  const named = [
    ...keys.map(({ path }) => path),
    ...budgets.flatMap(({ on }) => (on.kind === "path" ? [on.what] : [])),
  ];
  for (const path of named) for (const part of lineOf(path)) paths.add(part);
  const byPath = Map.groupBy(keys, ({ path }) => path);
  // A "/" in a path sorts before every letter, so that a path is before what is below it.
  const order = [...paths].sort((a, b) => (a.replaceAll("/", "\0") < b.replaceAll("/", "\0") ? -1 : 1));
  return order.flatMap((path): TreeRow[] => {
    const depth = path === "/" ? 0 : path.split("/").length - 2;
    const own = [...(byPath.get(path) ?? [])].sort(byName);
    return [
      { kind: "path", path, depth },
      ...own.map((key): TreeRow => ({ kind: "key", key, depth: depth + 1 })),
    ];
  });
}

const byName = (a: Key, b: Key) =>
  Number(a.state !== "active") - Number(b.state !== "active") || (a.name < b.name ? -1 : 1);

/** A path and those above it, without the root. */
function lineOf(path: string): string[] {
  if (path === "/") return ["/"];
  const parts = path.slice(1).split("/");
  return parts.map((_, index) => `/${parts.slice(0, index + 1).join("/")}`);
}

/** Cost of the calls below a path. @param spent nano-dollars by path */
export function spentBelow(spent: ReadonlyMap<string, number>, path: string): number {
  return [...spent].reduce((sum, [at, cost]) => (at !== "" && isWithin(at, path) ? sum + cost : sum), 0);
}

/**
 * Reads when a key ends: `never`, `30 d`, `12 hours`, `2026-12-31` (its end, UTC).
 *
 * @param now milliseconds since 1970 @returns undefined for other text, and for times that have passed
 */
export function readEnd(text: string, now: number): { expiresAt?: number } | undefined {
  const plain = text
    .trim()
    .toLowerCase()
    .replace(/^in\s+/, "");
  if (plain === "" || plain === "never") return {};
  const span = /^(\d{1,4})\s*(h|hours?|d|days?|w|weeks?)$/.exec(plain);
  const size = { h: 3_600_000, d: DAY, w: 7 * DAY }[span?.[2]?.[0] ?? ""];
  if (span && size) return Number(span[1]) > 0 ? { expiresAt: now + Number(span[1]) * size } : undefined;
  const date = /^\d{4}-\d\d-\d\d$/.test(plain) ? Date.parse(`${plain}T00:00:00Z`) + DAY : NaN;
  return date > now ? { expiresAt: date } : undefined;
}

/** Why a name cannot be one; undefined if it can, or while there is none. @param spaces names of budgets may have spaces */
export function nameFault(name: string, spaces = false): string | undefined {
  const isName = /^[\p{L}\p{M}\p{N}_.@ -]{0,64}$/u.test(name) && (spaces || !name.includes(" "));
  return isName ? undefined : "Letters, digits, ._@- only.";
}

/** Reads a limit: `120`, `1,000`. @returns undefined for other text, and for 0 */
export function readCount(text: string): number | undefined {
  const number = Number(text.replaceAll(",", ""));
  return Number.isSafeInteger(number) && number > 0 ? number : undefined;
}

/** Reads a list with commas or spaces. @returns undefined if it is empty */
export function readList(text: string): string[] | undefined {
  const list = text.split(/[\s,]+/).filter((item) => item !== "");
  return list.length === 0 ? undefined : list;
}

/**
 * The value of a key's option by the text of its field. A boolean is `yes` or `no`; the admin API refuses another text.
 * @param type as JSON Schema has it
 */
export function readOption(type: string, text: string): unknown {
  if (type === "array") return readList(text);
  if (type === "boolean") return text === "yes" || (text !== "no" && text);
  return type === "string" ? text : Number(text);
}

/** The key as it is called once it is no longer shown. */
export function maskOf(secret: string): string {
  return secret.length > 20 ? `${secret.slice(0, 12)}…${secret.slice(-4)}` : "…";
}
