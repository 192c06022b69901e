/**
 * Where the material lies that tests read and that is not part of the repository: the folder `shared` beside it, or what
 * `WEIR_SHARED` names. Tests that use it skip with a sentence when it is not there.
 */
import { join, resolve } from "node:path";

const FOLDER = process.env["WEIR_SHARED"] ?? resolve(import.meta.dir, "../../../shared");

/** The path of something in there. */
export function sharedPath(...names: string[]): string {
  return join(FOLDER, ...names);
}
