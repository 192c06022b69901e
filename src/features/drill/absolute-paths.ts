/** Makes a command independent of the folder it runs in. */
import { statSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";

/**
 * The command with absolute paths in place of a relative path of the program, and of arguments that name a file of the
 * folder: `python ask.py`.
 */
export function withAbsolutePaths(command: readonly string[], folder: string): string[] {
  return command.map((word, at) => (isPath(word, at, folder) ? resolve(folder, word) : word));
}

/** A program without a slash is one of PATH. */
function isPath(word: string, at: number, folder: string): boolean {
  if (isAbsolute(word) || word.startsWith("-")) return false;
  return at === 0 ? /[\\/]/.test(word) : isFile(resolve(folder, word));
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
