/** Tapes as files. A tape is a text file of JSON lines: a head, then one entry for each call. */
import {
  appendFileSync,
  existsSync,
  openSync,
  closeSync,
  readFileSync,
  readSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { describeFileError } from "../core/system-error.ts";
import { isObject, parseJson } from "../core/json.ts";
import { TOOL, type TapeEntry } from "../gateway/recording/entry.ts";

/** Version of the form of tapes. */
const TAPE_VERSION = 1;

/** The first line. */
interface TapeHead {
  tape: typeof TAPE_VERSION;
  /** Version of the weir that recorded it. */
  weir: string;
  /** It goes on from another tape. */
  fork?: Fork;
}

/** How a run that goes on from another one differs from it. */
export interface Fork {
  /** The tape whose entries before `at` it has: the file, or the id. */
  parent: string;
  at: number;
  /** The model that answered from there on. */
  model: string;
  /** Which tools ran from there on. */
  tools: string;
}

/** Writes one entry to the tape. @throws Error of the file system */
export type WriteEntry = (entry: TapeEntry) => void;

/**
 * Begins a tape, in place of the one that the file may hold. Each entry is written at once, so that a tape is whole whenever
 * the gateway ends.
 * @param version of this weir
 * @throws Error with one sentence if the file is something else than a tape, or cannot be written
 */
export function createTape(path: string, version: string, fork?: Fork): WriteEntry {
  try {
    if (existsSync(path) && !isTape(path))
      throw new Error(`${path} exists and is not a tape; name another file`);
    writeFileSync(
      path,
      line({ tape: TAPE_VERSION, weir: version, ...(fork && { fork }) } satisfies TapeHead),
      { mode: 0o600 },
    );
  } catch (cause) {
    throw sentence(`the tape ${path} cannot be written`, cause);
  }
  return (entry) => appendWhole(path, line(entry));
}

/** Adds all of a text or nothing: the lines that follow would be part of a torn one. @throws Error of the file system */
function appendWhole(path: string, text: string): void {
  const { size } = statSync(path);
  try {
    appendFileSync(path, text);
  } catch (cause) {
    truncateSync(path, size);
    throw cause;
  }
}

/**
 * @param version of this weir
 * @throws Error with one sentence if the file cannot be read, or is no tape that this weir can read
 */
export function readTape(path: string, version: string): TapeEntry[] {
  return readRun(path, version).entries;
}

/** A tape and where it comes from. @throws Error as {@link readTape} */
export function readRun(path: string, version: string): { entries: TapeEntry[]; fork?: Fork } {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw sentence(`the tape ${path} cannot be read`, cause);
  }
  const [head = "", ...lines] = text.split("\n");
  assertHead(path, head, version);
  const entries = lines.flatMap((given, index) => {
    if (given.trim() === "") return [];
    const entry = parseJson(given);
    if (isEntry(entry)) return [entry];
    throw new Error(
      `line ${index + 2} of the tape ${path} is not a recorded call: it is damaged or cut off; record the tape again`,
    );
  });
  const { fork } = parseJson(head) as unknown as TapeHead;
  return { entries: entries.sort((a, b) => a.call - b.call), ...(fork && { fork }) };
}

function assertHead(path: string, text: string, version: string): void {
  const head = parseJson(text);
  const form = isObject(head) ? head["tape"] : undefined;
  if (!isObject(head) || typeof form !== "number")
    throw new Error(`${path} is not a tape; weir record ${path} makes one`);
  const by = `weir ${String(head["weir"])}`;
  if (form > TAPE_VERSION)
    throw new Error(
      `the tape ${path} was recorded by ${by}, which is newer than this weir ${version}: it has version ${form}, and this weir reads version ${TAPE_VERSION}; install a newer weir, or record it again`,
    );
  if (form !== TAPE_VERSION)
    throw new Error(
      `the tape ${path} was recorded by ${by} and has version ${form}, which weir ${version} no longer reads; record it again`,
    );
}

function isEntry(value: unknown): value is TapeEntry {
  if (!isObject(value) || !isObject(value["request"])) return false;
  const { call, operation, format, status, headers, answer, ms = [], request, tool } = value;
  if (operation === TOOL && !(isObject(tool) && typeof tool["method"] === "string")) return false;
  return (
    [call, status].every((member) => typeof member === "number") &&
    [operation, format, request["model"]].every((member) => typeof member === "string") &&
    [headers, request["options"]].every((member) => isObject(member)) &&
    [request["lines"], answer].every((list) => isListOf("string", list)) &&
    isListOf("number", ms)
  );
}

function isListOf(type: "string" | "number", value: unknown): boolean {
  return Array.isArray(value) && value.every((member) => typeof member === type);
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
