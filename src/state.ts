/** The state folder: where weir keeps its databases, and whether it stores answers there. */
import { accessSync, constants, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Config } from "./config/schema.ts";
import { IN_MEMORY, type KeeperSettings } from "./keeper/settings.ts";
import type { AnswerOptions } from "./gateway/types.ts";
import { describeFileError } from "./core/system-error.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Value of `state` that keeps everything in memory. */
const NONE = "none";

/** In memory there is less room than on a disk. Bytes. */
const MEMORY_BYTES = 256 * 1024 ** 2;

/** Where weir stores answers. */
export type AnswerHome =
  /** `why`: a clause for the start table. */
  | { kind: "off"; why: string }
  /** `why` is absent if the operator asked for it. */
  | { kind: "memory"; why?: string }
  /** The folder exists, and this process can write to it. */
  | { kind: "folder"; folder: string };

/**
 * Finds the home of stored answers and creates its folder. A folder is named by `state` or by `STATE_DIRECTORY` of systemd.
 * @throws Error with one sentence if a named folder cannot be written to
 */
export function answerHome({ state, responses: { store } }: Config, env: Environment): AnswerHome {
  if (store === "off") return { kind: "off", why: "responses.store is off" };
  if (state === NONE) return { kind: "memory" };
  const named = state ?? env["STATE_DIRECTORY"]?.split(":")[0];
  if (named) {
    const fault = folderFault(named);
    if (fault !== undefined) throw new Error(`the state folder ${named} cannot be used: ${fault}`);
    return { kind: "folder", folder: named };
  }
  if (store === "auto") return { kind: "off", why: "name a state folder with --state to store them" };
  const folder = join(env["HOME"] || homedir(), ".local/state/weir");
  const fault = folderFault(folder);
  return fault === undefined
    ? { kind: "folder", folder }
    : { kind: "memory", why: `${folder} cannot be used: ${fault}` };
}

/** What the keeper of a home needs to know; undefined if weir stores no answers. */
export function keeperSettings(home: AnswerHome, { responses }: Config): KeeperSettings | undefined {
  if (home.kind === "off") return undefined;
  const { answerBytes, answerItems: items, fileBytes } = responses;
  return home.kind === "memory"
    ? { path: IN_MEMORY, limits: { answerBytes, items, fileBytes: Math.min(fileBytes, MEMORY_BYTES) } }
    : { path: join(home.folder, "responses.db"), limits: { answerBytes, items, fileBytes } };
}

/**
 * Where answers are stored, for the start table.
 * @param fault why the keeper could not open its file
 */
export function describeHome(home: AnswerHome, { responses }: Config, fault: string | undefined): string {
  if (fault !== undefined) return `not stored: ${fault}`;
  if (home.kind === "off") return `not stored; ${home.why}`;
  const days = `${responses.keepDays} ${responses.keepDays === 1 ? "day" : "days"}`;
  if (home.kind === "folder") return `stored in ${home.folder} for ${days}`;
  const why = home.why === undefined ? "" : ` (${home.why})`;
  return `stored in memory until weir ends, at most ${days}${why}`;
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
export function answerOptions({ responses, keys }: Config): AnswerOptions {
  const { commitMs, keepDays, foreignIds } = responses;
  const byKeys = keys.length > 0 ? "refuse" : "pass";
  return { commitMs, keepMs: keepDays * DAY_MS, foreignIds: foreignIds === "auto" ? byKeys : foreignIds };
}
