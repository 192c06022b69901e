/** Reads the calls of a tape that `weir record FILE` has written. */
import { readFileSync } from "node:fs";
import { isObject, parseJson } from "../../../core/json.ts";
import { describeFileError } from "../../../core/system-error.ts";
import type { TapeEntry } from "../../../gateway/recording/entry.ts";

/** Version of the form of tapes. */
const TAPE_VERSION = 1;

/** @returns the answers of models in their order @throws Error with one sentence if the file is no tape that this weir can read */
export function readCalls(path: string): TapeEntry[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw new Error(`the tape ${path} cannot be read: ${describeFileError(cause)}`, { cause });
  }
  const [head = "", ...lines] = text.split("\n");
  const first = parseJson(head);
  if (!isObject(first) || first["tape"] !== TAPE_VERSION)
    throw new Error(`${path} is not a tape of this version of weir; weir record ${path} makes one`);
  const entries = lines.flatMap((line, index) => {
    if (line.trim() === "") return [];
    const entry = parseJson(line);
    if (isObject(entry) && isObject(entry["request"])) return [entry as unknown as TapeEntry];
    throw new Error(`line ${index + 2} of the tape ${path} is not a recorded call: it is damaged or cut off`);
  });
  return entries.filter(({ operation }) => operation === "generate").sort((a, b) => a.call - b.call);
}
