/** Tapes as files. */
import {
  appendFileSync,
  existsSync,
  openSync,
  closeSync,
  readFileSync,
  readSync,
  writeFileSync,
} from "node:fs";
import { describeFileError } from "../core/system-error.ts";
import { isObject, parseJson } from "../core/json.ts";
import { TAPE_VERSION, type TapeEntry, type TapeHead } from "./entry.ts";

/** Writes one entry to the tape. @throws Error of the file system */
export type WriteEntry = (entry: TapeEntry) => void;

/**
 * Begins a tape, in place of the one that the file may hold. Each entry is written at once, so that a tape is whole whenever
 * the gateway ends.
 * @param version of this weir
 * @throws Error with one sentence if the file is something else than a tape, or cannot be written
 */
export function createTape(path: string, version: string): WriteEntry {
  try {
    if (existsSync(path) && !isTape(path))
      throw new Error(`${path} exists and is not a tape; name another file`);
    writeFileSync(path, line({ tape: TAPE_VERSION, weir: version } satisfies TapeHead));
  } catch (cause) {
    throw sentence(`the tape ${path} cannot be written`, cause);
  }
  return (entry) => appendFileSync(path, line(entry));
}

/** @throws Error with one sentence if the file cannot be read or is not a tape */
export function readTape(path: string): TapeEntry[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw sentence(`the tape ${path} cannot be read`, cause);
  }
  const [head = "", ...lines] = text.split("\n");
  assertHead(path, head);
  const entries = lines.flatMap((given, index) => {
    if (given.trim() === "") return [];
    const entry = parseJson(given);
    if (isObject(entry) && Array.isArray(entry["answer"]) && isObject(entry["request"]))
      return [entry as unknown as TapeEntry];
    throw new Error(`line ${index + 2} of the tape ${path} is not a recorded call; record it again`);
  });
  return entries.sort((a, b) => a.call - b.call);
}

function assertHead(path: string, text: string): void {
  const head = parseJson(text);
  if (!isObject(head) || head["tape"] === undefined)
    throw new Error(`${path} is not a tape; weir record ${path} makes one`);
  if (head["tape"] !== TAPE_VERSION)
    throw new Error(
      `the tape ${path} was recorded by weir ${String(head["weir"])} in another form; record it again`,
    );
}

/** An empty file counts as a tape: programs that choose names for temporary files create them. */
function isTape(path: string): boolean {
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(16);
    const length = readSync(file, bytes);
    return length === 0 || bytes.toString("utf8", 0, length).startsWith('{"tape":');
  } finally {
    closeSync(file);
  }
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

function sentence(what: string, cause: unknown): Error {
  const isSystem = cause instanceof Error && "code" in cause;
  return isSystem ? new Error(`${what}: ${describeFileError(cause)}`, { cause }) : (cause as Error);
}
