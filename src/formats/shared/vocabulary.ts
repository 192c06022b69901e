/**
 * The names of members, by level. They decide two things:
 *
 * - A member whose name differs from a known name only in case: JSON readers of Go, .NET and others read `MAX_tokens` as
 *   `max_tokens`. The provider would read a value that weir has not checked, so weir refuses the request.
 * - A member that a translation leaves out: every one that the codec does not read, unless it cannot change the answer.
 */
import type { Json } from "../../core/json.ts";
import { isObject } from "../../core/json.ts";
import type { LeftOut } from "../../core/loss.ts";

/** What becomes of the members that a codec does not read. */
export interface Unread {
  /** Known members that cannot change the answer, each with the reason: weir leaves them out without a report. */
  silent?: Readonly<Record<string, string>>;
  /** Known members without a canonical equivalent, separated by white space. weir reports them. */
  lost?: string;
  /** Values of `type` that the codec reads. It passes or reports an object of another type as a whole. */
  types?: string;
  /** Values of `type` that weir writes anew for a provider of the same format, which gets objects of other types as they are. */
  rebuilt?: string;
  /** The other names are the client's own: one that differs from a known name only in case is no mistake. */
  free?: true;
  /** A provider of the same format gets members that the codec does not read, also in a translation. */
  passed?: true;
}

/** The known members of an object, with vocabularies for those that are objects or lists of objects. */
export class Vocabulary {
  /** The inner vocabulary; null if there is none. */
  readonly #members: ReadonlyMap<string, Vocabulary | null>;
  readonly #silent: ReadonlyMap<string, string>;
  readonly #lost: ReadonlySet<string>;
  readonly #passed: boolean;
  readonly #types: ReadonlySet<string> | undefined;
  readonly #rebuilt: ReadonlySet<string> | undefined;
  readonly #free: boolean;
  /** The flags `i` and `u` compare by simple case folding of Unicode. */
  readonly #folded: RegExp;

  /**
   * @param names those that the codec reads, separated by white space
   * @param inner vocabularies by member; a member without one holds text, or an object with free names
   */
  constructor(
    names: string,
    inner: Readonly<Record<string, Vocabulary | "same">> = {},
    { silent = {}, lost = "", passed, types, rebuilt, free }: Unread = {},
  ) {
    this.#silent = new Map(Object.entries(silent));
    this.#lost = new Set(words(lost));
    this.#passed = passed === true;
    this.#free = free === true;
    this.#types = setOf(types);
    this.#rebuilt = setOf(rebuilt);
    const all = [...words(names), ...Object.keys(inner), ...this.#silent.keys(), ...this.#lost];
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
        if (!this.#free && this.#folded.test(name)) return { path: [name], known: this.#nameLike(name) };
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

  /**
   * The members that a translation leaves out and that no codec reports by itself.
   * @param sameFormat the provider speaks the format of the request
   */
  *leftOut(value: Json, sameFormat: boolean, path = ""): Generator<LeftOut> {
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index++)
        yield* this.leftOut(value[index]!, sameFormat, `${path}[${index}]`);
      return;
    }
    if (!isObject(value) || !isAmong(value.type, this.#types)) return;
    if (sameFormat && !isAmong(value.type, this.#rebuilt)) return;
    const isPassed = sameFormat && this.#passed;
    for (const name in value) {
      const member = value[name];
      if (member == null || this.#silent.has(name)) continue;
      const own = path === "" ? name : `${path}.${name}`;
      const inner = this.#members.get(name);
      if (inner === undefined) {
        if (!isPassed) yield { loss: "unknown", path: own };
      } else if (this.#lost.has(name)) {
        if (!isPassed && !isEmpty(member)) yield { loss: "dropped", path: own };
      } else if (inner) yield* inner.leftOut(member, sameFormat, own);
    }
  }

  /** The members that weir leaves out without a report, with their reasons. @param path of the object in the request */
  *silent(path = ""): Generator<{ path: string; reason: string }> {
    const at = (name: string) => (path === "" ? name : `${path}.${name}`);
    for (const [name, reason] of this.#silent) yield { path: at(name), reason };
    for (const [name, inner] of this.#members)
      if (inner && inner !== this && !this.#silent.has(name)) yield* inner.silent(at(name));
  }

  #nameLike(name: string): string {
    const names = [...this.#members.keys()];
    return names.find((known) => new RegExp(`^${RegExp.escape(known)}$`, "iu").test(name)) ?? name;
  }
}

/** Whether an object has one of the types, or none at all. @param types absent for all */
function isAmong(type: Json | undefined, types: ReadonlySet<string> | undefined): boolean {
  return types === undefined || typeof type !== "string" || types.has(type);
}

function setOf(names: string | undefined): ReadonlySet<string> | undefined {
  return names === undefined ? undefined : new Set(words(names));
}

function words(names: string): string[] {
  return names.split(/\s+/).filter((name) => name !== "");
}

/** Whether a value asks for nothing. */
function isEmpty(value: Json): boolean {
  if (value === "" || (Array.isArray(value) && value.length === 0)) return true;
  return isObject(value) && Object.keys(value).length === 0;
}

export interface Misspelling {
  /** From the outermost object inwards, the misspelled name last. */
  path: (string | number)[];
  /** The correct name. */
  known: string;
}
