/**
 * The names of the members of a request, by level, read from its schema. They decide two things:
 *
 * - A member whose name differs from a known name only in case: JSON readers of Go, .NET and others read `MAX_tokens` as
 *   `max_tokens`. The provider would read a value that weir has not checked, so weir refuses the request.
 * - A member that a translation leaves out: every one that the codec does not read, unless it cannot change the answer.
 *
 * A schema checks and publishes some members only. The others are beside them under symbols, which validation and the JSON of
 * the schema do not see.
 */
import type { TSchema } from "@sinclair/typebox";
import type { Json, JsonObject } from "../../core/json.ts";
import { isObject } from "../../core/json.ts";
import type { LeftOut } from "../../core/loss.ts";
import { anything, optional } from "./schema.ts";

const KNOWN = Symbol("known");
const SILENT = Symbol("silent");
const LOST = Symbol("lost");

/** A member of which weir knows the name alone. */
const PLAIN = anything();

/** `same`: objects like the one that has the member. */
type Member = TSchema | "same";

/** Members whose shape the schema does not check, and what becomes of all members that the codec does not read. */
interface Known {
  /** Members that the codec reads, separated by white space: text, or objects with names of the client. */
  read?: string;
  /** Members that the codec reads: objects and lists of objects. */
  inner?: Readonly<Record<string, Member>>;
  /** Members as {@link silent} marks them, each with the reason. */
  silent?: Readonly<Record<string, string>>;
  /** Members as {@link lost} marks them, separated by white space. */
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

/** The part of a schema that the vocabulary reads. */
interface Shape extends TSchema {
  properties?: Readonly<Record<string, TSchema>>;
  anyOf?: readonly TSchema[];
  items?: TSchema;
  [KNOWN]?: Known;
  [SILENT]?: string;
  [LOST]?: true;
}

/** An optional member that cannot change the answer: weir leaves it out without a report. */
export function silent(reason: string, schema: TSchema): TSchema {
  return { ...optional(schema), [SILENT]: reason };
}

/** An optional member without a canonical equivalent: weir reports it. */
export function lost(schema: TSchema): TSchema {
  return { ...optional(schema), [LOST]: true };
}

/** Adds names to the schema of an object, or of a union for all its alternatives. @param known text: what the codec reads */
export function named<Schema extends TSchema>(schema: Schema, known: Known | string): Schema {
  return { ...schema, [KNOWN]: typeof known === "string" ? { read: known } : known };
}

/** An object, or a list of objects, whose members have names and no checked shape. */
export function names(known: Known | string): TSchema {
  return named(anything(), known);
}

/** All that the schemas of an object say about its members. */
interface Level extends Pick<Known, "free" | "passed"> {
  /** With the vocabulary of each object or list of objects; null for text, and for objects with names of the client. */
  members: ReadonlyMap<string, Vocabulary | null>;
  silent: ReadonlyMap<string, string>;
  /** What becomes of each member in a translation: its vocabulary if it has one, null if it is read as it is. */
  fates: ReadonlyMap<string, Vocabulary | null | "silent" | "lost">;
  types: ReadonlySet<string> | undefined;
  rebuilt: ReadonlySet<string> | undefined;
  /** The flags `i` and `u` compare by simple case folding of Unicode. */
  folded: RegExp;
}

/** The known members of an object, with vocabularies for those that are objects or lists of objects. */
export class Vocabulary {
  readonly #schemas: readonly TSchema[];
  #found: Level | undefined;

  /** @param schemas of the object, or of its alternatives */
  constructor(...schemas: readonly TSchema[]) {
    this.#schemas = schemas;
  }

  /** Read from the schemas at the first use, because a start needs none of them. */
  get #level(): Level {
    return (this.#found ??= this.#read());
  }

  #read(): Level {
    const shapes = [...new Set(this.#schemas.flatMap(shapesOf))];
    const schemas = new Map<string, Member[]>();
    const silent = new Map<string, string>();
    const lost = new Set<string>();
    for (const [name, member] of shapes.flatMap(membersOf)) {
      schemas.set(name, [...(schemas.get(name) ?? []), member]);
      if (member === "same") continue;
      const { [SILENT]: reason, [LOST]: isLost }: Shape = member;
      if (reason !== undefined) silent.set(name, reason);
      if (isLost) lost.add(name);
    }
    const innerOf = (name: string, members: readonly Member[]) =>
      silent.has(name) || lost.has(name) ? null : this.#innerOf(members);
    const members = new Map([...schemas].map(([name, members]) => [name, innerOf(name, members)]));
    const { free, passed, types, rebuilt }: Known = Object.assign({}, ...shapes.map((shape) => shape[KNOWN]));
    return {
      members,
      silent,
      fates: new Map(
        [...members].map(([name, inner]) => [
          name,
          silent.has(name) ? "silent" : lost.has(name) ? "lost" : inner,
        ]),
      ),
      free,
      passed,
      types: setOf(types),
      rebuilt: setOf(rebuilt),
      folded: new RegExp(`^(?:${[...schemas.keys()].map(RegExp.escape).join("|")})$`, "iu"),
    };
  }

  #innerOf(members: readonly Member[]): Vocabulary | null {
    const schemas = members.filter((member) => member !== "same");
    if (schemas.length < members.length) return this;
    const hasNames = schemas.flatMap(shapesOf).some((shape) => membersOf(shape).length > 0);
    return hasNames ? new Vocabulary(...schemas) : null;
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
    const { members, free, folded } = this.#level;
    for (const name in value) {
      const inner = members.get(name);
      if (inner === null) continue;
      if (inner === undefined) {
        if (!free && folded.test(name)) return { path: [name], known: this.#nameLike(name) };
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
    const { members } = this.#level;
    let changed = false;
    const entries: [string, Json][] = [];
    for (const name in value) {
      const known = members.has(name) ? name : spell(name);
      const inner = members.get(known);
      const own = inner === undefined ? name : known;
      const member = inner ? inner.respelled(value[name]!, spell, refuse) : value[name]!;
      if (own !== name && own in value) refuse(name, own);
      if (own !== name || member !== value[name]) changed = true;
      entries.push([own, member]);
    }
    return changed ? Object.fromEntries(entries) : value;
  }

  /**
   * The members that a translation leaves out and that no codec reports by itself.
   * @param sameFormat the provider speaks the format of the request
   */
  leftOut(value: Json, sameFormat: boolean): Iterable<LeftOut> {
    return this.#leavesOut(value, sameFormat) ? this.#listLeftOut(value, sameFormat, "") : NONE;
  }

  /** Most requests have no such member, and need no paths. */
  #leavesOut(value: Json, sameFormat: boolean): boolean {
    if (Array.isArray(value)) {
      for (const item of value) if (this.#leavesOut(item, sameFormat)) return true;
      return false;
    }
    if (!isObject(value)) return false;
    const level = this.#level;
    if (!reads(level, value, sameFormat)) return false;
    const isPassed = sameFormat && level.passed === true;
    for (const name in value) {
      const member = value[name];
      if (member == null) continue;
      const fate = level.fates.get(name);
      if (fate === null || fate === "silent") continue;
      if (fate === undefined || fate === "lost") {
        if (!isPassed && (fate === undefined || !isEmpty(member))) return true;
      } else if (typeof member === "object" && fate.#leavesOut(member, sameFormat)) return true;
    }
    return false;
  }

  *#listLeftOut(value: Json, sameFormat: boolean, path: string): Generator<LeftOut> {
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index++)
        yield* this.#listLeftOut(value[index]!, sameFormat, `${path}[${index}]`);
      return;
    }
    if (!isObject(value)) return;
    const level = this.#level;
    if (!reads(level, value, sameFormat)) return;
    const isPassed = sameFormat && level.passed === true;
    for (const name in value) {
      const member = value[name];
      const fate = level.fates.get(name);
      if (member == null || fate === null || fate === "silent") continue;
      const own = path === "" ? name : `${path}.${name}`;
      if (fate === undefined) {
        if (!isPassed) yield { loss: "unknown", path: own };
      } else if (fate === "lost") {
        if (!isPassed && !isEmpty(member)) yield { loss: "dropped", path: own };
      } else yield* fate.#listLeftOut(member, sameFormat, own);
    }
  }

  /** The members that weir leaves out without a report, with their reasons. @param path of the object in the request */
  *silent(path = ""): Generator<{ path: string; reason: string }> {
    const at = (name: string) => (path === "" ? name : `${path}.${name}`);
    const { members, silent } = this.#level;
    for (const [name, reason] of silent) yield { path: at(name), reason };
    for (const [name, inner] of members) if (inner && inner !== this) yield* inner.silent(at(name));
  }

  /** The names of all members by the level that they belong to. @param path of the object in the request */
  *levels(path = ""): Generator<{ path: string; names: readonly string[] }> {
    const { members } = this.#level;
    yield { path, names: [...members.keys()] };
    for (const [name, inner] of members)
      if (inner && inner !== this) yield* inner.levels(path === "" ? name : `${path}.${name}`);
  }

  #nameLike(name: string): string {
    const names = [...this.#level.members.keys()];
    return names.find((known) => new RegExp(`^${RegExp.escape(known)}$`, "iu").test(name)) ?? name;
  }
}

/** The schema and its parts: alternatives, and the items of a list. */
function shapesOf(schema: TSchema): Shape[] {
  const { anyOf = [], items }: Shape = schema;
  return [schema, ...anyOf.flatMap(shapesOf), ...(items ? shapesOf(items) : [])];
}

/** The members that a schema checks, and those of which it has the names alone. */
function membersOf({ properties = {}, [KNOWN]: known = {} }: Shape): [string, Member][] {
  const left = Object.entries(known.silent ?? {});
  return [
    ...Object.entries(properties),
    ...words(known.read).map((name): [string, Member] => [name, PLAIN]),
    ...Object.entries(known.inner ?? {}),
    ...left.map(([name, reason]): [string, Member] => [name, silent(reason, PLAIN)]),
    ...words(known.lost).map((name): [string, Member] => [name, lost(PLAIN)]),
  ];
}

const NONE: readonly LeftOut[] = [];

/** Whether the codec reads the members of an object; it passes or reports others as a whole. */
function reads({ types, rebuilt }: Level, { type }: JsonObject, sameFormat: boolean): boolean {
  return isAmong(type, types) && (!sameFormat || isAmong(type, rebuilt));
}

/** Whether an object has one of the types, or none at all. @param types absent for all */
function isAmong(type: Json | undefined, types: ReadonlySet<string> | undefined): boolean {
  return types === undefined || typeof type !== "string" || types.has(type);
}

function setOf(names: string | undefined): ReadonlySet<string> | undefined {
  return names === undefined ? undefined : new Set(words(names));
}

function words(names = ""): string[] {
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
