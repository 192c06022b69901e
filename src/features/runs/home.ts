/** Where runs are: files that users name, and those in the state folder. */
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
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

/** The id of a tape by its content: a file that is recorded again is another run. */
export function idOfTape(path: string): string {
  return `t${createHash("sha256").update(readFileSync(path)).digest("hex").slice(0, 8)}`;
}

/** Keeps a copy of a tape, with which its forks are compared later. @returns its id */
export function keepRun(folder: string, path: string): string {
  const id = idOfTape(path);
  const kept = keptFile(folder, id);
  mkdirSync(dirname(kept), { recursive: true, mode: 0o700 });
  if (!existsSync(kept)) copyFileSync(path, kept);
  return id;
}
