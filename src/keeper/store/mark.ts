/**
 * The facts about the books that are kept outside their file, so that a file that is lost, emptied, damaged or replaced by an older one
 * neither opens the gateway nor forgets a hard budget: `weir.mark` beside `weir.db`, as JSON.
 */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { describeFileError, systemCode } from "../../core/system-error.ts";

export interface Mark {
  /** Calls need a key: the store has or had one. */
  closed: boolean;
  /** A hard budget counts or has counted. */
  hard: boolean;
  /** Commits that the file had at least; one with fewer is an older copy. */
  commits: number;
  /** Version of keys, budgets and limits that the file had at least. */
  version: number;
}

/** The mark that is assumed for books without one. */
export const CAREFUL: Mark = { closed: true, hard: true, commits: 0, version: 0 };
const NOTHING: Mark = { closed: false, hard: false, commits: 0, version: 0 };

/** Path of the mark of a file. It does not begin like the file and its logs, which are moved or removed together. */
export function markPathOf(path: string): string {
  return `${path.replace(/\.db$/, "")}.mark`;
}

export class MarkFile {
  readonly #path: string;
  #known: Mark | undefined;

  /** @param path of the mark */
  constructor(path: string) {
    this.#path = path;
  }

  /** The mark that was read or written last. */
  get known(): Mark {
    return this.#known ?? NOTHING;
  }

  /** @returns undefined where there is none, `unreadable` for anything but a mark */
  read(): Mark | "unreadable" | undefined {
    let text: string;
    try {
      text = readFileSync(this.#path, "utf8");
    } catch (cause) {
      return systemCode(cause) === "ENOENT" ? undefined : "unreadable";
    }
    this.#known = parse(text);
    return this.#known ?? "unreadable";
  }

  /**
   * Adds to what is known, and writes it if it has changed.
   * @param durable the change survives a power cut before this returns @throws Error with one sentence
   */
  note(change: Partial<Mark>, durable = false): void {
    const next = { ...this.known, ...change };
    if (this.#known && JSON.stringify(next) === JSON.stringify(this.#known)) return;
    try {
      this.#write(JSON.stringify(next), durable);
    } catch (cause) {
      throw new Error(`${this.#path} cannot be written (${describeFileError(cause)})`, { cause });
    }
    this.#known = next;
  }

  #write(text: string, durable: boolean): void {
    const fresh = `${this.#path}.new`;
    try {
      const file = openSync(fresh, "w", 0o600);
      try {
        writeSync(file, text);
        if (durable) fsyncSync(file);
      } finally {
        closeSync(file);
      }
      renameSync(fresh, this.#path);
    } catch (cause) {
      rmSync(fresh, { force: true });
      throw cause;
    }
    if (durable) syncFolder(dirname(this.#path));
  }
}

/** Some systems cannot sync a folder. */
function syncFolder(path: string): void {
  try {
    const folder = openSync(path, "r");
    fsyncSync(folder);
    closeSync(folder);
  } catch {
    // The new name of the file may then be lost in a power cut.
  }
}

function parse(text: string): Mark | undefined {
  try {
    const { closed, hard, commits, version } = JSON.parse(text) as Partial<Mark>;
    const isWhole =
      typeof closed === "boolean" &&
      typeof hard === "boolean" &&
      Number.isSafeInteger(commits) &&
      Number.isSafeInteger(version);
    return isWhole ? { closed, hard, commits: commits!, version: version! } : undefined;
  } catch {
    return undefined;
  }
}
