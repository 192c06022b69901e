/** Lists of words in files, as a config is read. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { ConfigError, type Path } from "../../config/error.ts";
import type { Settling } from "../../config/section.ts";
import { isObject } from "../../core/json.ts";
import { describeFileError } from "../../core/system-error.ts";

const LONGEST = 256;

/** The section with words in place of files. @throws ConfigError for one that cannot be read */
export function settled<Guards extends object>(guards: Guards, settling: Settling): Guards {
  const entries = Object.entries(guards).map(([name, guard]: [string, unknown]) => {
    if (!isObject(guard) || !Array.isArray(guard.find)) return [name, guard];
    const find = guard.find.map((one: unknown, at) =>
      isObject(one) && typeof one.file === "string"
        ? { name: one.name, words: wordsOf(one.file, ["guards", name, "find", at, "file"], settling) }
        : one,
    );
    return [name, { ...guard, find }];
  });
  return Object.fromEntries(entries) as Guards;
}

/** The lines of a file that are not empty. */
function wordsOf(file: string, path: Path, { folder, locate }: Settling): string[] {
  const words = readText(resolve(folder, file), path, locate)
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const long = words.findIndex(({ length }) => length > LONGEST);
  if (words.length > 0 && long < 0) return words;
  const fault =
    long < 0 ? "has no words" : `has a word with more than ${LONGEST} characters, the ${long + 1}th`;
  throw new ConfigError(locate(path), `the file ${file} ${fault}`, path);
}

function readText(file: string, path: Path, locate: Settling["locate"]): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new ConfigError(locate(path), `the file ${file} cannot be read: ${describeFileError(cause)}`, path);
  }
}
