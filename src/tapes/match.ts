/** Finds the recorded answer to a request by what the request means. */
import type { TapeEntry } from "../gateway/recording/entry.ts";
import { diffLines } from "./diff.ts";
import { looseLines } from "./loose.ts";
import type { Meaning } from "../gateway/recording/meaning.ts";
import { GENERATE } from "../gateway/recording/request.ts";

/** A request that looks for its answer. */
export interface Wanted {
  operation: string;
  format: string;
  stream: boolean;
  meaning: Meaning;
}

export class Tape {
  readonly entries: readonly TapeEntry[];
  /** Entries by the part of the meaning that every dialect states. */
  readonly #byLines = new Map<string, TapeEntry[]>();
  /** The same, without what differs between two runs. */
  readonly #byLooseLines = new Map<string, TapeEntry[]>();
  readonly #used = new Set<TapeEntry>();

  readonly #ignored: readonly RegExp[];

  /** @param ignored patterns of what does not count in requests */
  constructor(entries: readonly TapeEntry[], ignored: readonly RegExp[] = []) {
    this.entries = entries;
    this.#ignored = ignored;
    for (const entry of entries) {
      const { operation, request } = entry;
      add(this.#byLines, keyOf(operation, request), entry);
      add(this.#byLooseLines, this.#looseKeyOf(operation, request), entry);
    }
  }

  /** Number of entries that no request has asked for; messages that want no answer do not count. */
  get unused(): number {
    return this.entries.filter((entry) => counts(entry) && !this.#used.has(entry)).length;
  }

  /** Whether a request has asked for each entry of an operation. */
  isSpent(operation: string): boolean {
    return this.entries.every((entry) => entry.operation !== operation || this.#used.has(entry));
  }

  /**
   * Equal requests get their answers in the order in which they were recorded; further ones get the last answer. An answer of
   * the same dialect that was streamed alike comes before others. Requests that differ only in dates, and in times and ids
   * that tools print, count as equal if none is equal in full, as do the operator's patterns.
   * @param once an answer that was given is not given again
   */
  find(wanted: Wanted, once = false): TapeEntry | undefined {
    const { operation, meaning } = wanted;
    return (
      this.#choose(this.#byLines.get(keyOf(operation, meaning)), wanted, once) ??
      this.#choose(this.#byLooseLines.get(this.#looseKeyOf(operation, meaning)), wanted, once)
    );
  }

  #choose(alike: readonly TapeEntry[] = [], wanted: Wanted, once: boolean): TapeEntry | undefined {
    const equal = alike.filter((entry) => hasEqualOptions(entry, wanted));
    const kinds = [
      equal.filter(({ format, stream }) => format === wanted.format && stream === wanted.stream),
      equal.filter(({ format }) => format === wanted.format),
      wanted.operation === GENERATE ? equal : [],
    ];
    const candidates = kinds.find((kind) => kind.length > 0);
    const found =
      candidates?.find((entry) => !this.#used.has(entry)) ?? (once ? undefined : candidates?.at(-1));
    if (found) this.#used.add(found);
    return found;
  }

  /** The recorded request that has most in common with another. @returns undefined for an empty tape */
  nearest(wanted: Wanted): { entry: TapeEntry; diff: string[] } | undefined {
    const lines = scriptOf(wanted.meaning);
    let best: { entry: TapeEntry; score: number } | undefined;
    for (const entry of this.entries) {
      if (entry.operation !== wanted.operation) continue;
      const score = likeness(scriptOf(entry.request), lines) + (entry.format === wanted.format ? 0.01 : 0);
      if (!best || score > best.score) best = { entry, score };
    }
    if (!best) return undefined;
    const { entry } = best;
    const options = sharedOptions(entry, wanted);
    const [before, after] = [entry.request, wanted.meaning].map((meaning) =>
      scriptOf({ ...meaning, lines: looseLines(meaning.lines, this.#ignored) }, options),
    );
    return { entry, diff: diffLines(before!, after!) };
  }

  #looseKeyOf(operation: string, meaning: Meaning): string {
    return keyOf(operation, { ...meaning, lines: looseLines(meaning.lines, this.#ignored) });
  }
}

/** Whether somebody waits for the answer. */
export function counts({ tool }: TapeEntry): boolean {
  return tool === undefined || tool.id !== undefined;
}

function keyOf(operation: string, { model, lines }: Meaning): string {
  return [operation, model, ...lines].join("\n");
}

function add(map: Map<string, TapeEntry[]>, key: string, entry: TapeEntry): void {
  const entries = map.get(key);
  if (entries) entries.push(entry);
  else map.set(key, [entry]);
}

/** In one dialect all options must be equal; between two dialects those that both requests state. */
function hasEqualOptions(entry: TapeEntry, wanted: Wanted): boolean {
  return sharedOptions(entry, wanted).every(
    (name) => entry.request.options[name] === wanted.meaning.options[name],
  );
}

/** The names of the options that count. */
function sharedOptions({ format, request }: TapeEntry, wanted: Wanted): string[] {
  const [ours, theirs] = [Object.keys(request.options), Object.keys(wanted.meaning.options)];
  if (format === wanted.format) return [...new Set([...ours, ...theirs])].sort();
  return ours.filter((name) => theirs.includes(name));
}

/** A request as lines, with the options of these names. */
function scriptOf({ model, lines, options }: Meaning, names = Object.keys(options)): string[] {
  const stated = names.flatMap((name) => (options[name] === undefined ? [] : [`${name}: ${options[name]}`]));
  return [`model: ${model}`, ...stated, ...lines];
}

/** The share of lines that two requests have in common, between 0 and 1. */
function likeness(a: readonly string[], b: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const line of a) counts.set(line, (counts.get(line) ?? 0) + 1);
  let common = 0;
  for (const line of b) {
    const left = counts.get(line) ?? 0;
    if (left === 0) continue;
    counts.set(line, left - 1);
    common++;
  }
  return common / Math.max(a.length, b.length, 1);
}
