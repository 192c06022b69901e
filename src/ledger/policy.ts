/** Keys, budgets and rate limits as the keeper has them. The workers get them as plain JSON and compile them. */
import type { JsonObject } from "../core/json.ts";
import type { ModelSets } from "../core/model-sets.ts";
import type { Nano } from "./money.ts";

/** Permissions of a key. An absent member permits everything. */
export interface Scopes {
  /** Models, patterns over their names (as clients write them, the provider's, and `provider/model`), or sets: `@cheap`. */
  models?: readonly string[];
  /** Names of the providers that its calls may go to. */
  providers?: readonly string[];
  /** Ids of client formats, and `embeddings`, `count`, `models`, `explain`. `chat` is short for the chat format. */
  endpoints?: readonly string[];
  /** Addresses of clients in CIDR notation. */
  addresses?: readonly string[];
  /** Most output tokens of one call. */
  maxTokens?: number;
  /** Most that one call may cost. */
  maxCost?: Nano;
  /** Values of key options, by their names. */
  [option: string]: unknown;
}

/** `call`: for clients; `admin` and `read`: for the admin API. */
export type KeyKind = "call" | "admin" | "read";

export interface KeyDigest {
  /** SHA-256 of the key, 64 lower-case hexadecimal digits. */
  sha256: string;
  /** Beginning and end of the key, for people: `weir_sk_Ab3d…9xQ2`. Absent for a key that weir has not made. */
  hint?: string;
  /** The key is valid until this time: it was rotated. Milliseconds since 1970. */
  until?: number;
}

/** A gateway key without its text. Times are milliseconds since 1970. */
export interface KeyEntry {
  /** `key_` and 12 characters of [a-z0-9]; `config:NAME` for a key of the config. */
  id: string;
  name: string;
  kind: KeyKind;
  /** Place in the tree of keys: `/`, `/eng/search`. A budget on `/eng` counts the calls of all keys below. */
  path: string;
  tags: readonly string[];
  digests: readonly KeyDigest[];
  scopes: Scopes;
  /** Whose it is: it admits calls as long as a part of weir that knows people says that this one may call. */
  person?: string;
  expiresAt?: number;
  revokedAt?: number;
  /** The running streams of a revoked key are ended. */
  cut?: boolean;
}

/** Whether a key is one of the config. */
export function isDeclared({ id }: Pick<KeyEntry, "id">): boolean {
  return id.startsWith("config:");
}

/** The calls that a budget or a rate limit counts. */
export interface Subject {
  kind: "key" | "path" | "tag" | "model" | "provider" | "session" | "all";
  /** Id of the key, path, tag, pattern over the names of a model or set (`@cheap`), or provider; empty for `all` and `session` (each session by itself). */
  what: string;
}

/** `rolling`: blocks of `hours` from the first moment of 1970. Weeks begin on Monday. */
export type Window = "day" | "week" | "month" | "total" | { hours: number };

export interface Budget {
  id: string;
  name: string;
  on: Subject;
  window: Window;
  /** IANA name of the zone in which days, weeks and months begin. Default UTC. */
  zone: string;
  limit: Nano;
  /** `hard`: the most a call can cost must be left; `soft`: anything must be left; `watch`: calls are only counted. */
  mode: "hard" | "soft" | "watch";
  /** The answer to a call when the budget is exhausted: a refusal, or another model. */
  onEmpty: "refuse" | { use: string };
  /** Percentages of the limit that are reported once in each window. */
  alerts: readonly number[];
  source: "config" | "store";
}

/** The unit of a rate limit: requests, tokens, input tokens and output tokens a minute or a day; calls in flight. */
export const RATE_UNITS = ["rpm", "tpm", "itpm", "otpm", "rpd", "tpd", "concurrency"] as const;
export type RateUnit = (typeof RATE_UNITS)[number];

export interface RateLimit {
  id: string;
  name: string;
  on: Subject;
  limits: Readonly<Partial<Record<RateUnit, number>>>;
  /** Most that may be used at once, by unit; default: the limit itself. */
  burst?: Readonly<Partial<Record<RateUnit, number>>>;
  source: "config" | "store";
}

/** The budget that a new key on a path gets when none is named. */
export interface KeyBudget {
  /** A path, which stands for all below it too, or a pattern over paths: `/eng`, `/teams/*`. */
  path: string;
  budget: Pick<Budget, "limit" | "window" | "zone" | "mode" | "onEmpty" | "alerts">;
}

/** A model that an administrator has added at run time. Only workers know whether the config permits it. */
export interface StoredModel {
  /** `model:NAME`. */
  id: string;
  /** As clients write it. */
  name: string;
  /** As the request of the admin API contains it, without the name. */
  spec: JsonObject;
  /** Why the row of the store cannot be used: a clause. */
  damage?: string;
}

/** The state of keys, budgets and limits at one moment. */
export interface Policy {
  /** Increases with each change. */
  version: number;
  keys: readonly KeyEntry[];
  budgets: readonly Budget[];
  rates: readonly RateLimit[];
  /** Those of the store. */
  models?: readonly StoredModel[];
  /** The config's. */
  keyBudgets?: readonly KeyBudget[];
  /** The config's; undefined while no worker has declared it. */
  modelSets?: ModelSets;
  /** A call key exists or has existed: every call needs a key. */
  closed: boolean;
  unreleased?: Unreleased;
}

/**
 * The store was damaged and recovered, or is an older copy, and no administrator has released it. `budgets`: keys and budgets are
 * whole, and hard budgets grant nothing. `all`: some may be missing or old, so keys of the store admit nothing either.
 */
export type Unreleased = "budgets" | "all";

/** Entries that the config declares. The admin API shows them and cannot change them. */
export type Declared = Pick<Policy, "keys" | "budgets" | "rates" | "keyBudgets" | "modelSets">;
