/**
 * Members whose names differ from a known one in case only. JSON readers of Go, .NET and others take `MAX_tokens` for
 * `max_tokens`: what weir checked would not be what the provider reads, so a request with such a member is refused.
 */
import type { Json } from "../../core/json.ts";
import { isObject } from "../../core/json.ts";

/** The members of an object, and the vocabularies of those that are objects or lists of objects themselves. */
export class Vocabulary {
  /** Without an inner vocabulary: null. */
  readonly #members: ReadonlyMap<string, Vocabulary | null>;
  /** With the flags `i` and `u` a pattern compares by the simple case folding of Unicode. */
  readonly #folded: RegExp;

  /**
   * @param names separated by white space
   * @param inner vocabularies by member; a member without one holds text, or a schema or map with names of its own
   */
  constructor(names: string, inner: Readonly<Record<string, Vocabulary | "same">> = {}) {
    const all = [...names.trim().split(/\s+/), ...Object.keys(inner)];
    const of = (name: string) =>
      inner[name] === "same" ? this : ((inner[name] as Vocabulary | undefined) ?? null);
    this.#members = new Map(all.map((name) => [name, of(name)]));
    this.#folded = new RegExp(`^(?:${all.map(RegExp.escape).join("|")})$`, "iu");
  }

  /** The place of the first member that only looks like a known one; nothing when there is none. */
  oddMember(value: Json): OddMember | undefined {
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index++) {
        const odd = this.oddMember(value[index]!);
        if (odd) return { ...odd, path: [index, ...odd.path] };
      }
      return undefined;
    }
    if (!isObject(value)) return undefined;
    for (const name in value) {
      const inner = this.#members.get(name);
      if (inner === null) continue;
      if (inner === undefined) {
        if (this.#folded.test(name)) return { path: [name], known: this.#nameLike(name) };
        continue;
      }
      const member = value[name]!;
      if (typeof member !== "object") continue;
      const odd = inner.oddMember(member);
      if (odd) return { ...odd, path: [name, ...odd.path] };
    }
    return undefined;
  }

  #nameLike(name: string): string {
    const names = [...this.#members.keys()];
    return names.find((known) => new RegExp(`^${RegExp.escape(known)}$`, "iu").test(name)) ?? name;
  }
}

export interface OddMember {
  /** From the outermost object inwards, the odd name last. */
  path: (string | number)[];
  /** The name that it looks like. */
  known: string;
}
