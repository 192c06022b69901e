/**
 * Finds members whose names differ from a known name only in case. JSON readers of Go, .NET and others read `MAX_tokens`
 * as `max_tokens`: the provider would read a value that weir has not checked, so weir refuses the request.
 */
import type { Json } from "../../core/json.ts";
import { isObject } from "../../core/json.ts";

/** The known members of an object, with vocabularies for those that are objects or lists of objects. */
export class Vocabulary {
  /** The inner vocabulary; null if there is none. */
  readonly #members: ReadonlyMap<string, Vocabulary | null>;
  /** The flags `i` and `u` compare by simple case folding of Unicode. */
  readonly #folded: RegExp;

  /**
   * @param names separated by white space
   * @param inner vocabularies by member; a member without one holds text, or an object with free names
   */
  constructor(names: string, inner: Readonly<Record<string, Vocabulary | "same">> = {}) {
    const all = [...names.trim().split(/\s+/), ...Object.keys(inner)];
    const of = (name: string) =>
      inner[name] === "same" ? this : ((inner[name] as Vocabulary | undefined) ?? null);
    this.#members = new Map(all.map((name) => [name, of(name)]));
    this.#folded = new RegExp(`^(?:${all.map(RegExp.escape).join("|")})$`, "iu");
  }

  /** Returns the first member whose name differs from a known one only in case. */
  findMisspelled(value: Json): Misspelling | undefined {
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index++) {
        const misspelling = this.findMisspelled(value[index]!);
        if (misspelling) return { ...misspelling, path: [index, ...misspelling.path] };
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
      const misspelling = inner.findMisspelled(member);
      if (misspelling) return { ...misspelling, path: [name, ...misspelling.path] };
    }
    return undefined;
  }

  /**
   * Returns the value with members renamed to names of the vocabulary; the same value if there is nothing to rename.
   * @param spell another spelling of a name @param refuse called for a member whose other spelling is present too; throws
   */
  respelled(
    value: Json,
    spell: (name: string) => string,
    refuse: (name: string, known: string) => never,
  ): Json {
    if (Array.isArray(value)) {
      const items = value.map((item) => this.respelled(item, spell, refuse));
      return items.some((item, index) => item !== value[index]) ? items : value;
    }
    if (!isObject(value)) return value;
    let changed = false;
    const members: [string, Json][] = [];
    for (const name in value) {
      const known = this.#members.has(name) ? name : spell(name);
      const inner = this.#members.get(known);
      const own = inner === undefined ? name : known;
      const member = inner ? inner.respelled(value[name]!, spell, refuse) : value[name]!;
      if (own !== name && own in value) refuse(name, own);
      if (own !== name || member !== value[name]) changed = true;
      members.push([own, member]);
    }
    return changed ? Object.fromEntries(members) : value;
  }

  #nameLike(name: string): string {
    const names = [...this.#members.keys()];
    return names.find((known) => new RegExp(`^${RegExp.escape(known)}$`, "iu").test(name)) ?? name;
  }
}

export interface Misspelling {
  /** From the outermost object inwards, the misspelled name last. */
  path: (string | number)[];
  /** The correct name. */
  known: string;
}
