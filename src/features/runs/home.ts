/** Where runs are: files that users name, and those in the state folder. */
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { Config } from "../../config/schema.ts";
import type { Context } from "../../cli/command.ts";
import { stateHome } from "../../run/home.ts";
import { keptFile } from "../../tapes/kept.ts";

/** @returns the state folder; undefined: the gateway keeps nothing */
export function folderOf(config: Pick<Config, "state">, env: Context["env"]): string | undefined {
  const home = stateHome(config, env);
  return home.kind === "folder" ? home.folder : undefined;
}

/** @returns the state folder @throws Error with one sentence if the gateway keeps nothing */
export function stateFolder(config: Pick<Config, "state">, env: Context["env"]): string {
  const folder = folderOf(config, env);
  if (folder !== undefined) return folder;
  throw new Error("there is no state folder for the run: name one with --state, or a file with --out");
}

/** A file for a new run in the state folder. @returns its id, and the path */
export function newRun(folder: string): { id: string; path: string } {
  const id = `r${crypto.randomUUID().replaceAll("-", "").slice(0, 8)}`;
  const path = keptFile(folder, id);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return { id, path };
}
