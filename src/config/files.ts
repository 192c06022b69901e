/** Files and folders an operator may leave out: only a missing one counts as left out, any other failure stops the start. */
import { lstatSync, readdirSync } from "node:fs";
import { describeFileError, systemCode } from "../core/system-error.ts";
import { ConfigError } from "./error.ts";

/**
 * Whether something stands at a path. A link counts, even one that leads nowhere.
 * @param name how messages call it
 * @throws ConfigError when the system does not tell: a folder on the way is closed to this user, for example.
 */
export function isThere(path: string, name: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return false;
    throw new ConfigError(name, `weir cannot tell whether this file exists (${describeFileError(error)})`);
  }
}

/**
 * A clause that says why plugins cannot be read from a folder; undefined when they can.
 * @param required false for the folder weir looks for by default, which may be missing
 */
export function pluginFolderFault(dir: string, required: boolean): string | undefined {
  try {
    if (!required && !isThere(dir, dir)) return undefined;
    readdirSync(dir);
    return undefined;
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const code = systemCode(error);
    return code === "ENOENT" || code === "ENOTDIR"
      ? `dir must be a folder, but there is none at ${dir}`
      : `dir must be a folder that weir can read, but ${dir} cannot be read (${describeFileError(error)})`;
  }
}
