/** Optional files and folders: only a missing one is ignored, any other failure stops the start. */
import { lstatSync, readdirSync } from "node:fs";
import { describeFileError, systemCode } from "../core/system-error.ts";
import { ConfigError } from "./error.ts";

/**
 * Whether a path exists. A symbolic link counts, even when its target is missing.
 * @param name name of the file in messages
 * @throws ConfigError when the system refuses to say, for example without permission for a parent folder.
 */
export function isThere(path: string, name: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return false;
    throw new ConfigError(name, `weir cannot check whether this file exists (${describeFileError(error)})`);
  }
}

/**
 * A clause that says why plugins cannot be read from a folder; undefined when they can be read.
 * @param required false for the default folder, which may be missing
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
      ? `dir must be a folder, but there is no folder at ${dir}`
      : `dir must be a folder that weir can read, but ${dir} cannot be read (${describeFileError(error)})`;
  }
}
