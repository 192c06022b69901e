/** Which era servers over HTTP were found to speak, also after a restart. A file of hashes: nothing in it is secret. */
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isObject, parseJson } from "../../../core/json.ts";
import type { Era } from "../wire/revisions.ts";

const FILE = "eras.json";
/** A server that learned another era still answers in the old one: then nothing contradicts. Milliseconds. */
const KEEP_MS = 86_400_000;
const MOST = 1_000;

interface Verdict {
  readonly era: Era;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** What a verdict is about. */
export interface Question {
  readonly url: string;
  /** That of the client. */
  readonly preferred: Era;
}

export class Verdicts {
  readonly #file: string | undefined;
  readonly #info: (sentence: string) => void;
  #known: Map<string, Verdict> | undefined;

  /** @param folder undefined: it is kept in memory alone */
  constructor(folder: string | undefined, info: (sentence: string) => void) {
    this.#file = folder === undefined ? undefined : join(folder, FILE);
    this.#info = info;
  }

  get(question: Question): Era | undefined {
    const verdict = this.#all.get(keyOf(question));
    return verdict && isFresh(verdict) ? verdict.era : undefined;
  }

  /** Replaces an earlier one. */
  set(question: Question, era: Era): void {
    const key = keyOf(question);
    if (this.get(question) === era) return;
    const others = [...this.#all].filter(([name, verdict]) => name !== key && isFresh(verdict));
    this.#known = new Map([...others.slice(1 - MOST), [key, { era, at: Date.now() }]]);
    this.#write();
  }

  get #all(): Map<string, Verdict> {
    return (this.#known ??= new Map(this.#read().slice(-MOST)));
  }

  #read(): [string, Verdict][] {
    if (this.#file === undefined || !existsSync(this.#file)) return [];
    try {
      const value = parseJson(readFileSync(this.#file, "utf8"));
      const entries = isObject(value) ? Object.entries(value) : [];
      if (!isObject(value) || !entries.every(isEntry)) throw new Error("it has something else in it");
      return entries as unknown as [string, Verdict][];
    } catch (cause) {
      this.#info(`tools: the file ${FILE} is ignored: ${(cause as Error).message}`);
      return [];
    }
  }

  #write(): void {
    if (this.#file === undefined) return;
    try {
      const draft = `${this.#file}.${randomBytes(6).toString("hex")}.new`;
      writeFileSync(draft, JSON.stringify(Object.fromEntries(this.#known!)), { mode: 0o600 });
      renameSync(draft, this.#file);
    } catch (cause) {
      this.#info(`tools: the file ${FILE} cannot be written: ${(cause as Error).message}`);
    }
  }
}

function keyOf({ url, preferred }: Question): string {
  return new Bun.CryptoHasher("sha256").update(JSON.stringify([url, preferred])).digest("hex");
}

function isEntry([, value]: [string, unknown]): boolean {
  if (!isObject(value)) return false;
  const { era, at } = value;
  return (era === "modern" || era === "legacy") && typeof at === "number";
}

/** A clock that was wrong may have dated it later than now. */
function isFresh({ at }: Verdict): boolean {
  const age = Date.now() - at;
  return age >= 0 && age < KEEP_MS;
}
