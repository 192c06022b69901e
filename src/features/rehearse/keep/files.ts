/** Outlines as files of JSON lines below the state folder: one for each hour, the oldest are deleted. */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  unlinkSync,
} from "node:fs";
import { join } from "node:path";
import { isObject, parseJson } from "../../../core/json.ts";
import { describeFileError } from "../../../core/system-error.ts";
import { type Outline, OUTLINE_VERSION } from "../outline/outline.ts";
import { longestText } from "../outline/placeholders.ts";

const DAY_MS = 86_400_000;

/** A file becomes no larger than this part of all: the oldest one goes as a whole. */
const PART = 8;

const NAME = /^\d{4}-\d{2}-\d{2}T\d{2}(?:-\d+)?\.jsonl$/;

/** The folder of outlines in a state folder. */
export function outlineFolder(state: string): string {
  return join(state, "outlines");
}

export class OutlineFiles {
  readonly #folder: string;
  readonly #report: (sentence: string) => void;
  #file = "";
  #bytes = 0;
  #isLost = false;

  constructor(state: string, report: (sentence: string) => void) {
    this.#folder = outlineFolder(state);
    this.#report = report;
  }

  /** Adds lines to the file of this hour. A disk that takes none is reported once until it takes some. */
  append(text: string, limits: { days: number; fileBytes: number }, now = Date.now()): void {
    try {
      const file = this.#fileFor(now, limits);
      appendFileSync(join(this.#folder, file), text, { mode: 0o600 });
      this.#bytes += Buffer.byteLength(text);
      this.#isLost = false;
    } catch (cause) {
      if (!this.#isLost) this.#report(`outlines of calls are lost: ${describeFileError(cause)}`);
      this.#isLost = true;
    }
  }

  #fileFor(now: number, limits: { days: number; fileBytes: number }): string {
    const hour = new Date(now).toISOString().slice(0, 13);
    if (this.#file.startsWith(hour) && this.#bytes < limits.fileBytes / PART) return this.#file;
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    prune(this.#folder, limits, now);
    let file = `${hour}.jsonl`;
    for (let at = 2; existsSync(join(this.#folder, file)); at++) {
      if (statSync(join(this.#folder, file)).size < limits.fileBytes / PART) break;
      file = `${hour}-${at}.jsonl`;
    }
    const path = join(this.#folder, file);
    this.#bytes = existsSync(path) ? statSync(path).size : 0;
    return (this.#file = file);
  }
}

/** Deletes files that are too old, and the oldest ones while there are too many bytes. */
function prune(folder: string, { days, fileBytes }: { days: number; fileBytes: number }, now: number): void {
  const files = namesIn(folder).map((name) => ({
    path: join(folder, name),
    ...statSync(join(folder, name)),
  }));
  let bytes = files.reduce((sum, { size }) => sum + size, 0);
  for (const { path, size, mtimeMs } of files) {
    if (mtimeMs >= now - days * DAY_MS && bytes < fileBytes - fileBytes / PART) continue;
    unlinkSync(path);
    bytes -= size;
  }
}

/** The oldest first. */
function namesIn(folder: string): string[] {
  return existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => NAME.test(name))
        .sort()
    : [];
}

/** Outlines that were read, and lines that are none. */
export interface ReadOutlines {
  readonly outlines: readonly Outline[];
  /** A line at the end of a file may be torn. */
  readonly damaged: number;
}

/** The newest outlines of a state folder, in the order of their calls. @param since milliseconds since 1970 */
export function readOutlines(
  state: string,
  { most, since = 0 }: { most: number; since?: number },
): ReadOutlines {
  const folder = outlineFolder(state);
  let outlines: Outline[] = [];
  let damaged = 0;
  for (const name of namesIn(folder).reverse()) {
    if (outlines.length >= most) break;
    const read = parseOutlines(readFileSync(join(folder, name), "utf8"));
    damaged += read.damaged;
    const wanted = read.outlines.filter(({ at }) => at >= since);
    outlines = [...wanted, ...outlines];
    if (wanted.length === 0 && read.outlines.length > 0) break;
  }
  // Workers write at the end of a call, side by side.
  return { outlines: outlines.sort((a, b) => a.at - b.at).slice(-most), damaged };
}

export function parseOutlines(text: string): ReadOutlines {
  const lines = text.split("\n").filter((line) => line !== "");
  const outlines = lines.flatMap((line) => {
    const read = parseJson(line);
    return isOutline(read) && fits(line, read) ? [read] : [];
  });
  return { outlines, damaged: lines.length - outlines.length };
}

function isOutline(value: unknown): value is Outline {
  if (!isObject(value) || value["v"] !== OUTLINE_VERSION) return false;
  const { call, operation, format, model, at, bytes, stream, body, headers } = value;
  return (
    [call, operation, format, model].every((member) => typeof member === "string") &&
    [at, bytes].every((member) => Number.isSafeInteger(member) && Number(member) >= 0) &&
    typeof stream === "boolean" &&
    [body, headers].every((member) => isObject(member))
  );
}

/** A text is no longer than the body that it is of; JSON may spell a letter of one byte with six. */
const LONGEST_SPELLING = 6;

/** Whether the texts of an outline are those of a body of its size: a damaged line could ask for any length. */
function fits(line: string, { bytes, isWhole }: Outline): boolean {
  return isWhole === true || longestText(line) <= bytes * LONGEST_SPELLING;
}
