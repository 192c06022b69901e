/** A rehearsal: each outline through both sides, and what differs. */
import type { Outline } from "../outline/outline.ts";
import { type Cause, CAUSES, type Difference, differences } from "./compare.ts";
import type { Facts } from "./facts.ts";

/** A call that would not be what it was. */
export interface Changed {
  readonly outline: Outline;
  readonly differences: readonly Difference[];
}

/** A call of which a side cannot know what becomes of it: a text decides. */
export interface Unknown {
  readonly call: string;
  readonly why: readonly string[];
}

/** Calls that differ alike. */
export interface Group {
  readonly cause: Cause;
  readonly what: string;
  calls: number;
  /** Number of the first of them in the list of changed calls, from 1. */
  readonly first: number;
  /** Nano-dollars of all of them, where prices are the cause. */
  before: number;
  after: number;
}

export interface Rehearsed {
  readonly calls: number;
  readonly same: number;
  readonly changed: readonly Changed[];
  readonly unknown: readonly Unknown[];
  /** Sorted by cause, the largest first. */
  readonly groups: readonly Group[];
}

/** Adds up what is found for one call after the other. */
export class Rehearsal {
  #calls = 0;
  readonly #changed: Changed[] = [];
  readonly #unknown: Unknown[] = [];
  readonly #groups = new Map<string, Group>();

  get calls(): number {
    return this.#calls;
  }

  add(outline: Outline, before: Facts, after: Facts): void {
    this.#calls++;
    const why = new Set([...(outline.unknown ?? []), ...(before.unknown ?? []), ...(after.unknown ?? [])]);
    if (why.size > 0) {
      this.#unknown.push({ call: outline.call, why: [...why] });
      return;
    }
    const found = differences(before, after);
    if (found.length === 0) return;
    this.#changed.push({ outline, differences: found });
    for (const difference of found) this.#count(difference);
  }

  #count({ cause, what, before, after }: Difference): void {
    const key = `${cause} ${what}`;
    let group = this.#groups.get(key);
    if (!group)
      this.#groups.set(
        key,
        (group = { cause, what, calls: 0, first: this.#changed.length, before: 0, after: 0 }),
      );
    group.calls++;
    if (cause !== "price") return;
    group.before += Number(before ?? 0);
    group.after += Number(after ?? 0);
  }

  get result(): Rehearsed {
    const rank = ({ cause }: Group) => CAUSES.indexOf(cause);
    return {
      calls: this.#calls,
      same: this.#calls - this.#changed.length - this.#unknown.length,
      changed: this.#changed,
      unknown: this.#unknown,
      groups: [...this.#groups.values()].sort((a, b) => rank(a) - rank(b) || b.calls - a.calls),
    };
  }
}
