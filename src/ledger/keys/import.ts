/** Reads the keys of another gateway that stores SHA-256 digests, so that clients keep their keys. */
import { nameFrom } from "../../core/name.ts";
import { DOLLAR, toNano } from "../money.ts";
import type { Budget, KeyEntry, RateLimit, Scopes, Window } from "../policy.ts";
import { digestOf } from "./form.ts";
import { adoptKey, KeyError, type Maker } from "./make.ts";

/** The gateways whose exports weir reads. */
export const IMPORT_SOURCES = ["litellm", "bifrost"] as const;
export type ImportSource = (typeof IMPORT_SOURCES)[number];

/** One key of the export. */
export interface ImportedKey {
  entry: KeyEntry;
  budget?: Pick<Budget, "limit" | "window">;
  rates?: RateLimit["limits"];
  /** Parts of the export that weir does not take over, one sentence each. */
  notes: readonly string[];
}

export interface Imported {
  keys: readonly ImportedKey[];
  /** Rows that are no usable key: what they are called, and why. */
  skipped: readonly { name: string; why: string }[];
}

type Row = Record<string, unknown>;

/** A row before it is checked. */
interface Draft {
  name: string;
  sha256?: string;
  team?: string;
  isOff: boolean;
  scopes: Scopes;
  expiresAt?: number;
  budget?: ImportedKey["budget"];
  rates: Record<string, number>;
  notes: string[];
}

/**
 * @param text JSON: a list of rows, an object that contains it, or one row a line
 * @param maker the imported keys can have no more than this @throws Error with one sentence if the text is not JSON
 */
export function readImport(source: ImportSource, text: string, maker: Maker, now: number): Imported {
  const read = READERS[source];
  const keys: ImportedKey[] = [];
  const skipped: { name: string; why: string }[] = [];
  const names = new Map<string, number>();
  for (const row of rowsOf(text)) {
    const draft = read(row);
    const why = unusable(draft, now);
    if (why !== undefined) {
      skipped.push({ name: draft.name, why });
      continue;
    }
    try {
      keys.push(adopt({ ...draft, name: freeName(draft.name, names) }, maker));
    } catch (thrown) {
      if (!(thrown instanceof KeyError)) throw thrown;
      skipped.push({ name: draft.name, why: thrown.message });
    }
  }
  return { keys, skipped };
}

function unusable({ sha256, isOff, expiresAt }: Draft, now: number): string | undefined {
  if (sha256 === undefined) return "the row has no SHA-256 digest.";
  if (isOff) return "the key is blocked.";
  return expiresAt !== undefined && expiresAt <= now ? "the key has expired." : undefined;
}

function adopt(
  { name, sha256, team, scopes, expiresAt, budget, rates, notes }: Draft,
  maker: Maker,
): ImportedKey {
  const base = maker.path === "/" ? "" : maker.path;
  const path = team === undefined ? maker.path : `${base}/${segmentOf(team)}`;
  const entry = adoptKey({ name, path, scopes, expiresAt }, sha256!, maker);
  return { entry, notes, ...(budget && { budget }), ...(Object.keys(rates).length > 0 && { rates }) };
}

const READERS: Readonly<Record<ImportSource, (row: Row) => Draft>> = {
  /** Rows of `LiteLLM_VerificationToken`, as `/key/list?return_full_object=true` lists them. */
  litellm(row) {
    const notes: string[] = [];
    const models = texts(row["models"]).filter((model) => !LITELLM_ALL.has(model));
    const duration = textOf(row["budget_duration"]);
    const budget = budgetOf(row["max_budget"], duration, notes);
    if (typeof row["spend"] === "number" && row["spend"] > 0)
      notes.push(`$${row["spend"]} that the key has spent are not carried over.`);
    const expires = textOf(row["expires"]);
    return {
      name: nameFrom(textOf(row["key_alias"]) ?? textOf(row["key_name"]) ?? "key"),
      sha256: sha256Of(row["token"]),
      team: textOf(row["team_alias"]) ?? textOf(row["team_id"]),
      isOff: row["blocked"] === true,
      scopes: models.length > 0 ? { models } : {},
      ...(expires !== undefined && { expiresAt: Date.parse(expires) }),
      ...(budget && { budget }),
      rates: counts(row, { rpm_limit: "rpm", tpm_limit: "tpm", max_parallel_requests: "concurrency" }),
      notes,
    };
  },

  /** Rows of `governance_virtual_keys`, or `governance.virtual_keys` of the config file. */
  bifrost(row) {
    const notes: string[] = [];
    const configs = (Array.isArray(row["provider_configs"]) ? row["provider_configs"] : []) as Row[];
    const providers = configs.flatMap(({ provider }) => textOf(provider) ?? []);
    const models = configs.flatMap((config) => texts(config["allowed_models"]));
    const isEncrypted = textOf(row["encryption_status"]) === "encrypted";
    const value = textOf(row["value"]);
    const plain = value === undefined || value === "" || isEncrypted ? undefined : digestOf(value);
    const limit = (row["rate_limit"] ?? {}) as Row;
    const first = (Array.isArray(row["budgets"]) ? row["budgets"][0] : row["budget"]) as Row | undefined;
    const budget = first && budgetOf(first["max_limit"], textOf(first["reset_duration"]), notes);
    const rates: Record<string, number> = {};
    for (const [what, unit] of [
      ["request", "rpm"],
      ["token", "tpm"],
    ] as const) {
      const most = limit[`${what}_max_limit`];
      if (typeof most !== "number") continue;
      if (limit[`${what}_reset_duration`] === "1m") rates[unit] = most;
      else notes.push(`The limit of ${most} ${what}s is not for one minute and is not carried over.`);
    }
    const isAny = models.length === 0 || models.includes("*");
    return {
      name: nameFrom(textOf(row["name"]) ?? textOf(row["id"]) ?? "key"),
      sha256: sha256Of(row["value_hash"]) ?? plain,
      team: textOf(row["team_id"]) ?? textOf(row["customer_id"]),
      isOff: row["is_active"] === false,
      scopes: { ...(providers.length > 0 && { providers }), ...(!isAny && { models }) },
      ...(budget && { budget }),
      rates,
      notes,
    };
  },
};

/** Entries of `models` that stand for all models. */
const LITELLM_ALL = new Set(["all-proxy-models", "all-team-models"]);

function rowsOf(text: string): Row[] {
  const whole = parse(text);
  const values = whole === undefined ? linesOf(text) : listIn(whole);
  return values.filter(
    (value): value is Row => typeof value === "object" && value !== null && !Array.isArray(value),
  );
}

function linesOf(text: string): unknown[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const values = lines.map(parse);
  const wrong = values.indexOf(undefined);
  if (lines.length === 0) throw new Error("the file with the keys is empty");
  if (wrong >= 0) throw new Error(`line ${wrong + 1} of the file with the keys is not JSON`);
  return values;
}

/** Names of members that hold the list of keys, in this order. */
const LISTS = ["keys", "governance", "virtual_keys", "data"];

function listIn(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  if (typeof value !== "object" || value === null) return [];
  for (const name of LISTS) {
    const inner = (value as Row)[name];
    if (typeof inner === "object" && inner !== null) return listIn(inner);
  }
  return [value];
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function sha256Of(value: unknown): string | undefined {
  const text = textOf(value)?.toLowerCase();
  return text !== undefined && /^[0-9a-f]{64}$/.test(text) ? text : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === "string") : [];
}

function counts(row: Row, names: Readonly<Record<string, string>>): Record<string, number> {
  const found = Object.entries(names).filter(
    ([member]) => typeof row[member] === "number" && row[member] > 0,
  );
  return Object.fromEntries(found.map(([member, unit]) => [unit, row[member] as number]));
}

/** @param duration `30d`, `1mo`, `12h`; absent: the budget never resets */
function budgetOf(most: unknown, duration: string | undefined, notes: string[]): ImportedKey["budget"] {
  if (typeof most !== "number" || most <= 0) return undefined;
  const limit = toNano(most);
  const window = duration === undefined ? "total" : windowOf(duration, notes);
  if (limit !== undefined && window !== undefined) return { limit, window };
  notes.push(
    `The budget of $${most} (${duration ?? `more than ${Number.MAX_SAFE_INTEGER / DOLLAR}`}) is not carried over.`,
  );
  return undefined;
}

const WINDOWS: Readonly<Record<string, Window>> = {
  "1d": "day",
  "24h": "day",
  "7d": "week",
  "1w": "week",
  "30d": "month",
  "1mo": "month",
  "1M": "month",
};

function windowOf(duration: string, notes: string[]): Window | undefined {
  const known = WINDOWS[duration];
  if (known !== undefined) {
    notes.push(`The budget of ${duration} begins with each calendar ${known}.`);
    return known;
  }
  const hours = /^(\d{1,4})h$/.exec(duration)?.[1];
  return hours === undefined ? undefined : { hours: Number(hours) };
}

/** A part of a path. */
function segmentOf(text: string): string {
  return text.replace(/[^\w.@-]+/g, "-").slice(0, 60) || "key";
}

/** The name, with a number if an earlier row has it. */
function freeName(name: string, names: Map<string, number>): string {
  const number = (names.get(name) ?? 0) + 1;
  names.set(name, number);
  return number === 1 ? name : `${name}-${number}`;
}
