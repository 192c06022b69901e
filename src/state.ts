/** The state folder: where weir keeps its databases, and whether it stores answers there. */
import { accessSync, constants, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Config } from "./config/schema.ts";
import { describeFileError } from "./core/system-error.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Value of `state` that keeps everything in memory. */
const NONE = "none";

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
