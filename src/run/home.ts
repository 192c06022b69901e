/** The state folder: where weir keeps its databases, and whether it stores answers there. */
import { accessSync, constants, existsSync, mkdirSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import type { Config } from "../config/schema.ts";
import { adminKeysOf } from "../config/sections/operator.ts";
import { STORE_DEFAULTS } from "../config/sections/store.ts";
import { Secret } from "../core/secret.ts";
import { cellsFolder } from "../keeper/books/cells.ts";
import { markPathOf } from "../keeper/store/mark.ts";
import {
  type AnswerSettings,
  IN_MEMORY,
  isPostgres,
  type KeeperSettings,
  type StoreSettings,
} from "../keeper/settings.ts";
import { type AdminSettings, DEFAULT_PORT } from "../operator/settings.ts";
import type { AnswerOptions } from "../gateway/types.ts";
import { describeFileError } from "../core/system-error.ts";
import { VERSION } from "../process/version.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Value of `state` that keeps everything in memory. */
const NONE = "none";

/** In memory there is less room than on a disk. Bytes. */
const MEMORY_BYTES = 256 * 1024 ** 2;

/** Files here are in memory. */
const SHARED_MEMORY = "/dev/shm";

/** Where weir keeps its databases. */
export type StateHome =
  /** `why`: a clause for the start table; absent if the operator asked for it. */
  | { kind: "memory"; why?: string }
  /** The folder exists, and this process can write to it. `named`: the operator chose it; else it is the default folder. */
  | { kind: "folder"; folder: string; named: boolean };

/** Where weir stores answers. `shared`: in the PostgreSQL database of the store. */
export type AnswerHome = StateHome | { kind: "shared"; url: string } | { kind: "off"; why?: string };

/** The folder that images declare as a volume. */
const VOLUME = "/data";

/**
 * Finds the state folder and creates it. It is named by `state`, by `STATE_DIRECTORY` of systemd, or is the volume of a container.
 * @throws Error with one sentence if a named folder cannot be written to
 */
export function stateHome({ state }: Pick<Config, "state">, env: Environment): StateHome {
  if (state === NONE) return { kind: "memory" };
  const named = state ?? env["STATE_DIRECTORY"]?.split(":")[0];
  if (named) {
    const fault = folderFault(named);
    if (fault !== undefined) throw new Error(`the state folder ${named} cannot be used: ${fault}`);
    return { kind: "folder", folder: named, named: true };
  }
  if (isContainer(env) && existsSync(VOLUME) && folderFault(VOLUME) === undefined)
    return { kind: "folder", folder: VOLUME, named: true };
  const home = homeFolder(env);
  if (home === undefined) return { kind: "memory", why: "this user has no home folder" };
  const folder = join(home, ".local/state/weir");
  const fault = folderFault(folder);
  return fault === undefined
    ? { kind: "folder", folder, named: false }
    : { kind: "memory", why: `${folder} cannot be used: ${fault}` };
}

/** @returns undefined for a user without an entry in the list of users, as containers run programs */
function homeFolder(env: Environment): string | undefined {
  try {
    return env["HOME"] || homedir();
  } catch {
    return undefined;
  }
}

/** The home of a gateway that no command line started: a named state folder, else in memory. */
export function namedHome({ state }: Config): StateHome {
  return state === undefined || state === NONE ? { kind: "memory" } : stateHome({ state }, {});
}

function isContainer(env: Environment): boolean {
  return (
    env["KUBERNETES_SERVICE_HOST"] !== undefined ||
    ["/.dockerenv", "/run/.containerenv"].some((path) => existsSync(path))
  );
}

/** Where the answers are stored of a gateway with this state folder. */
export function answerHome(home: StateHome, config: Config): AnswerHome {
  const { state, responses } = config;
  const { store } = responses;
  if (store === "off") return { kind: "off", why: "responses.store is off" };
  const url = storeGroup(config).url?.reveal();
  if (url !== undefined) return { kind: "shared", url };
  const isNamed = home.kind === "folder" ? home.named : state === NONE;
  if (store === "auto" && !isNamed) return { kind: "off" };
  return home;
}

/** The settings of the keeper. @param credential gives access to the admin API; without one there is none */
export function keeperSettings(home: StateHome, config: Config, credential?: string): KeeperSettings {
  const answers = answerSettings(answerHome(home, config), config);
  const admin = adminSettings(config, credential);
  return { ...(answers && { answers }), books: storeSettings(home, config), ...(admin && { admin }) };
}

/** The host names by which clients reach the admin listener. */
export function adminNames({ names, admin }: Config): string[] {
  return [...names, ...(admin === "off" ? [] : (admin.names ?? []))];
}

/** @returns undefined if the admin API is off */
function adminSettings(config: Config, credential: string | undefined): AdminSettings | undefined {
  const { admin, metrics } = config;
  if (admin === "off" || credential === undefined) return undefined;
  // With several workers the keeper listens first, and must leave this port to them.
  const free = config.port === DEFAULT_PORT ? 0 : undefined;
  const { host = "127.0.0.1", port = free, base } = admin;
  const names = adminNames(config);
  const { keys } = storeGroup(config);
  const declaresKeys = adminKeysOf(config).length > 0;
  const rest = { names, credential, version: VERSION, keys, metrics, declaresKeys };
  return { host, ...(port !== undefined && { port }), ...(base !== undefined && { base }), ...rest };
}

function answerSettings(home: AnswerHome, { responses }: Config): AnswerSettings | undefined {
  if (home.kind === "off") return undefined;
  const { answerBytes, answerItems: items, fileBytes } = responses;
  if (home.kind === "shared") return { path: home.url, limits: { answerBytes, items, fileBytes } };
  return home.kind === "memory"
    ? { path: IN_MEMORY, limits: { answerBytes, items, fileBytes: Math.min(fileBytes, MEMORY_BYTES) } }
    : { path: join(home.folder, "responses.db"), limits: { answerBytes, items, fileBytes } };
}

/** The group `store` with its defaults. */
export function storeGroup({ store }: Config) {
  return { ...STORE_DEFAULTS, ...(store instanceof Secret ? { url: store } : store) };
}

function storeSettings(home: StateHome, config: Config): StoreSettings {
  const { cluster } = config;
  const folder = home.kind === "folder" ? home.folder : undefined;
  const { url: shared, syncMs, leaseMs, sealKey, oldSealKeys } = storeGroup(config);
  const url = shared?.reveal() ?? (folder === undefined ? IN_MEMORY : join(folder, "weir.db"));
  // Gateways that share a store do not share cells.
  const cells = cellsFolder(`${folder ?? process.pid} ${url}`, [SHARED_MEMORY, folder ?? tmpdir()]);
  return {
    ...(folder !== undefined && { folder }),
    ...(cells !== undefined && { cells }),
    ...(sealKey && { sealKey: sealKey.reveal() }),
    ...(oldSealKeys && { oldSealKeys: oldSealKeys.map((key) => key.reveal()) }),
    ...{ url, cluster, syncMs, leaseMs },
  };
}

/** Whether the store may have keys and budgets that the config does not. */
export function mayHavePolicy({ books }: KeeperSettings): boolean {
  if (books === undefined || books.url === IN_MEMORY) return false;
  return isPostgres(books.url) || existsSync(books.url) || existsSync(markPathOf(books.url));
}

/**
 * Where answers are stored, for the start table.
 * @param fault why the keeper could not open its file
 * @returns undefined if nothing is stored and nothing of the config is about it
 */
export function describeAnswers(
  home: AnswerHome,
  { responses }: Config,
  fault: string | undefined,
): string | undefined {
  if (fault !== undefined) return `not stored: ${fault}`;
  if (home.kind === "off") return home.why && `not stored; ${home.why}`;
  const days = `${responses.keepDays} ${responses.keepDays === 1 ? "day" : "days"}`;
  if (home.kind === "shared") return `stored in PostgreSQL for ${days}`;
  if (home.kind === "folder") return `stored in ${home.folder} for ${days}`;
  const why = home.why === undefined ? "" : ` (${home.why})`;
  return `stored in memory until weir ends, at most ${days}${why}`;
}

/**
 * Where the books are kept, for the start table.
 * @param fault why the keeper could not open its store
 */
export function describeBooks(home: StateHome, { store }: Config, fault: string | undefined): string {
  if (fault !== undefined) return `not available: ${fault}`;
  if (store instanceof Secret || store?.url) return "in PostgreSQL";
  if (home.kind === "folder") return `in ${join(home.folder, "weir.db")}`;
  return `in memory until weir ends${home.why === undefined ? "" : ` (${home.why})`}`;
}

/** Creates a folder if it is absent. @returns why weir cannot write to it */
function folderFault(folder: string): string | undefined {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return describeFileError(error);
  }
}

const DAY_MS = 86_400_000;

/** The section `responses` of the config, as calls need it. */
export function answerOptions(
  { responses, keys }: Config,
  hasSeveralKeys = (): boolean => keys.length > 1,
): AnswerOptions {
  const { commitMs, keepDays, foreignIds } = responses;
  return { commitMs, keepMs: keepDays * DAY_MS, foreignIds, hasSeveralKeys };
}
