import { type Path, writePath } from "../core/path.ts";

export { type Path, writePath } from "../core/path.ts";

/** Exit code of a wrong configuration (`EX_CONFIG` of sysexits.h). */
export const EXIT_CONFIG = 78;

/**
 * An error in the configuration. The message is one sentence that begins with the position and ends with the path:
 * `weir.yaml:7: port must be an integer between 0 and 65535, but is "abc" (at port).` It never contains a secret.
 */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  /** File and line, variable or flag. */
  readonly at: string;
  /** Path of the value; empty when the error concerns the whole file. */
  readonly path: string;

  constructor(at: string, sentence: string, path: Path | string = "") {
    const written = typeof path === "string" ? path : writePath(path);
    super(`${at}: ${sentence}${written === "" ? "" : ` (at ${written})`}.`);
    this.at = at;
    this.path = written;
  }
}

/** A fault without its position in the file: `port must be an integer between 0 and 65535, but is "abc"`. */
export interface Fault {
  path: Path;
  clause: string;
}

/** The fault of a value as a list; without a clause there is none. */
export function faultAt(path: Path, clause: string | undefined): Fault[] {
  return clause === undefined ? [] : [{ path, clause }];
}
