/** Keys, budgets and rate limits of the config as the books use them. */
import { nameFault, normalName } from "../core/name.ts";
import { parseBudget, parseWindow } from "../ledger/budget-text.ts";
import { keyFault } from "../ledger/keys/make.ts";
import { pathFault } from "../ledger/keys/path.ts";
import { toNano } from "../ledger/money.ts";
import {
  type Budget,
  type Declared,
  type KeyBudget,
  type KeyEntry,
  RATE_UNITS,
  type RateLimit,
  type Scopes,
  type Subject,
} from "../ledger/policy.ts";
import { isZone } from "../ledger/windows.ts";
import { ConfigError, type Path } from "./error.ts";
import type { BudgetOptions, KeyOptions, RateOptions, WrittenSubject } from "./sections/budgets.ts";
import type { Config } from "./schema.ts";
import type { AdminKey, GatewayKey } from "./sections/keys.ts";
import { adminKeysOf } from "./sections/operator.ts";

type Declaring = Pick<Config, "keys" | "budgets" | "rates"> &
  Partial<Pick<Config, "admin" | "adminKeys" | "keyBudgets" | "modelSets">>;
/** An error at a path. */
type Fail = (path: Path, clause: string) => ConfigError;

const DEFAULT_ALERTS = [80, 100];

/**
 * @param locate position of a value in the file
 * @throws ConfigError for values that a schema cannot exclude, such as a path without a slash
 */
export function declaredBy(config: Declaring, locate: (path: Path) => string = () => "config"): Declared {
  const fail: Fail = (path, clause) => new ConfigError(locate(path), clause, path);
  const names = new Set(config.keys.map(({ name }) => name));
  const keys = config.keys.map((key, index) => keyEntry(key, ["keys", index], fail));
  const adminKeys = adminKeysOf(config).map(({ key, at }) => adminKeyEntry(key, at, fail));
  const budgets = Object.entries(config.budgets).map(([name, options]) => {
    const path = ["budgets", name];
    assertName(name, path, fail);
    return budget(name, options, subject(options.on, [...path, "on"], names, fail), path, fail);
  });
  const rates = Object.entries(config.rates).map(([name, options]) => {
    const path = ["rates", name];
    assertName(name, path, fail);
    return rateLimit(name, options, subject(options.on, [...path, "on"], names, fail), path, fail);
  });
  const keyBudgets = Object.entries(config.keyBudgets ?? {}).map(([text, options]) =>
    keyBudget(text, options, ["keyBudgets", text], fail),
  );
  const own = config.keys.map((key, index) => limitsOfKey(key, ["keys", index], fail));
  return {
    keys: [...keys, ...adminKeys],
    budgets: [...budgets, ...own.flatMap(({ budget: found }) => found ?? [])],
    rates: [...rates, ...own.flatMap(({ rate }) => rate ?? [])],
    ...(keyBudgets.length > 0 && { keyBudgets }),
    modelSets: config.modelSets ?? {},
  };
}

/** Id of an entry of the config. */
function idOf(name: string): string {
  return `config:${name}`;
}

function keyEntry(key: GatewayKey, path: Path, fail: Fail): KeyEntry {
  const { name, sha256, previous, path: place = "/", tags = [], expires } = key;
  const scopes = scopesOf(key);
  const fault = keyFault({ name, path: place, tags, scopes });
  if (fault) throw fail([...path, fault.member], fault.clause);
  return {
    ...{ id: idOf(name), name, kind: "call", path: place, tags, scopes },
    digests: [{ sha256 }, ...(previous ? [previous] : [])],
    ...(expires !== undefined && { expiresAt: readTime(expires, [...path, "expires"], fail) }),
  };
}

/** A key for the admin API; its id cannot be that of a key for calls. */
function adminKeyEntry(key: AdminKey, path: Path, fail: Fail): KeyEntry {
  const { name, sha256, previous, role = "read", path: place = "/", expires } = key;
  const fault = pathFault(place);
  if (fault) throw fail([...path, "path"], `path ${fault}`);
  return {
    ...{
      id: idOf(`admin:${name}`),
      name,
      kind: role,
      path: place,
      tags: [],
      digests: [{ sha256 }, ...(previous ? [previous] : [])],
      scopes: {},
    },
    ...(expires !== undefined && { expiresAt: readTime(expires, [...path, "expires"], fail) }),
  };
}

/** All that restricts a key, and is not counted: permissions, and options of features. */
function scopesOf(key: KeyOptions): Scopes {
  const { maxCost, ...rest } = key;
  const scopes = Object.entries(rest).filter(
    ([member, value]) => value !== undefined && !NO_SCOPES.has(member),
  );
  return {
    ...Object.fromEntries(scopes),
    ...(maxCost !== undefined && { maxCost: toNano(maxCost)! }),
  };
}

/** Members of a key in the config that are not among its scopes. */
const NO_SCOPES: ReadonlySet<string> = new Set([
  ...["name", "key", "sha256", "previous", "path", "tags", "expires", "budget"],
  ...RATE_UNITS,
]);

/** A day, or a time with its zone: `2026-12-31`, `2026-12-31T18:00:00Z`. */
const TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/;

function readTime(text: string, path: Path, fail: Fail): number {
  const ms = TIME.test(text) ? Date.parse(text) : NaN;
  if (Number.isNaN(ms))
    throw fail(path, "expires must be a day such as 2026-12-31 or a time such as 2026-12-31T18:00:00Z");
  return ms;
}

/** The budget and the rate limit of one key. */
function limitsOfKey(key: GatewayKey, path: Path, fail: Fail): { budget?: Budget; rate?: RateLimit } {
  const name = `key ${key.name}`;
  const on: Subject = { kind: "key", what: idOf(key.name) };
  const written = key.budget;
  const hasRate = RATE_UNITS.some((unit) => key[unit] !== undefined);
  const found =
    written === undefined
      ? undefined
      : typeof written === "string"
        ? budgetOfText(name, written, on, [...path, "budget"], fail)
        : budget(name, written, on, [...path, "budget"], fail);
  return {
    ...(found && { budget: { ...found, id: idOf(`key:${key.name}`) } }),
    ...(hasRate && { rate: { ...rateLimit(name, key, on, path, fail), id: idOf(`key:${key.name}`) } }),
  };
}

/** A path, or a pattern over paths. */
const PATH_PATTERN = /^\/$|^(\/[\w.@*-]{1,64}){1,16}$/;

function keyBudget(
  text: string,
  options: string | Omit<BudgetOptions, "on">,
  path: Path,
  fail: Fail,
): KeyBudget {
  if (!PATH_PATTERN.test(text))
    throw fail(path, `${JSON.stringify(text)} must be a path such as /eng, or a pattern such as /teams/*`);
  const on: Subject = { kind: "path", what: text };
  const { limit, window, zone, mode, onEmpty, alerts } =
    typeof options === "string"
      ? budgetOfText(text, options, on, path, fail)
      : budget(text, options, on, path, fail);
  return { path: text, budget: { limit, window, zone, mode, onEmpty, alerts } };
}

function budgetOfText(name: string, text: string, on: Subject, path: Path, fail: Fail): Budget {
  const parsed = parseBudget(text);
  if (!parsed)
    throw fail(path, `budget must be dollars and a window, such as 50/month, but is ${JSON.stringify(text)}`);
  return { ...DEFAULTS, id: idOf(name), name, on, ...parsed };
}

const DEFAULTS: Pick<Budget, "zone" | "mode" | "onEmpty" | "alerts" | "source"> = {
  zone: "UTC",
  mode: "soft",
  onEmpty: "refuse",
  alerts: DEFAULT_ALERTS,
  source: "config",
};

function budget(
  name: string,
  { every, limit, mode, zone, onEmpty, alerts }: Omit<BudgetOptions, "on">,
  on: Subject,
  path: Path,
  fail: Fail,
): Budget {
  const window = parseWindow(every);
  if (window === undefined)
    throw fail(
      [...path, "every"],
      `every must be hour, day, week, month, total, or hours such as 5h, but is ${JSON.stringify(every)}`,
    );
  if (zone !== undefined && !isZone(zone))
    throw fail(
      [...path, "zone"],
      `zone must be the name of a time zone, such as Europe/Berlin, but is ${JSON.stringify(zone)}`,
    );
  return {
    ...DEFAULTS,
    ...{ id: idOf(name), name, on, window, limit: toNano(limit)! },
    ...(zone !== undefined && { zone }),
    ...(mode !== undefined && { mode }),
    ...(onEmpty !== undefined && { onEmpty }),
    ...(alerts !== undefined && { alerts: [...alerts].sort((a, b) => a - b) }),
  };
}

function rateLimit(
  name: string,
  options: Omit<RateOptions, "on">,
  on: Subject,
  path: Path,
  fail: Fail,
): RateLimit {
  const limits = unitsOf(options);
  if (Object.keys(limits).length === 0)
    throw fail(path, `${name} must have at least one of ${RATE_UNITS.join(", ")}`);
  const { burst } = options;
  const lost = burst && RATE_UNITS.find((unit) => burst[unit] !== undefined && limits[unit] === undefined);
  if (lost) throw fail([...path, "burst", lost], `burst has ${lost}, and ${name} has no limit of it`);
  return { id: idOf(name), name, on, limits, ...(burst && { burst: unitsOf(burst) }), source: "config" };
}

function unitsOf(options: RateOptions["burst"] & {}): RateLimit["limits"] {
  return Object.fromEntries(
    RATE_UNITS.flatMap((unit) => (options[unit] === undefined ? [] : [[unit, options[unit]]])),
  );
}

function subject(on: WrittenSubject, path: Path, keys: ReadonlySet<string>, fail: Fail): Subject {
  if (on === "all" || on === "session") return { kind: on, what: "" };
  if (typeof on === "string") return pathSubject(on, path, fail);
  if (Object.keys(on).length !== 1)
    throw fail(path, "on must have exactly one of key, path, tag, model and provider");
  if (on.path !== undefined) return pathSubject(on.path, [...path, "path"], fail);
  if (on.tag !== undefined) return { kind: "tag", what: on.tag };
  if (on.model !== undefined) return { kind: "model", what: on.model };
  if (on.provider !== undefined) return { kind: "provider", what: on.provider };
  const key = normalName(on.key ?? "");
  if (keys.has(key)) return { kind: "key", what: idOf(key) };
  if (/^key_[a-z0-9]{12}$/.test(key)) return { kind: "key", what: key };
  throw fail(
    [...path, "key"],
    `key must be the name of a key of this file or the id of a key of the store (key_…), but is ${JSON.stringify(key)}`,
  );
}

function pathSubject(what: string, path: Path, fail: Fail): Subject {
  const clause = pathFault(what);
  if (clause === undefined) return { kind: "path", what };
  const last = path.at(-1) === "on" ? "on must be all, session, a group, or a path, which" : "path";
  throw fail(path, `${last} ${clause}`);
}

function assertName(name: string, path: Path, fail: Fail): void {
  const fault = nameFault(name);
  if (fault !== undefined) throw fail(path, `a name ${fault}`);
}
