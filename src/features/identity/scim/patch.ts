/** Operations of PATCH (RFC 7644 3.5.2), also as Entra and Okta write them. */
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import { type Attribute, attributesOf, extensionOf, isSame, type Kind, partOf } from "./attributes.ts";
import { documentOf, expectSmall, memberOf, own, put, singleOf, unknownPath, valueOf } from "./document.ts";
import { invalid, quoted } from "./fault.ts";
import { isNamed, readPath, type Target } from "./path.ts";

type Name = "add" | "replace" | "remove";

export interface Operation {
  readonly op: Name;
  readonly path?: string;
  readonly value?: Json;
}

const MOST_OPERATIONS = 1_000;

/** @throws ScimFault */
export function operationsIn(body: JsonObject): Operation[] {
  const list = memberOf(body, "Operations");
  if (!Array.isArray(list) || list.length === 0 || list.length > MOST_OPERATIONS)
    throw invalid("invalidSyntax", `The body needs Operations, a list of 1 to ${MOST_OPERATIONS}.`);
  return list.map((one) => {
    if (!isObject(one)) throw invalid("invalidSyntax", "An operation must be an object.");
    const [named, path, value] = ["op", "path", "value"].map((name) => memberOf(one, name));
    const op = typeof named === "string" ? named.toLowerCase() : "";
    if (op !== "add" && op !== "replace" && op !== "remove")
      throw invalid("invalidSyntax", "op must be add, replace or remove.");
    if (path !== undefined && path !== null && typeof path !== "string")
      throw invalid("invalidPath", "path must be a text.");
    const isWhole = path === undefined || path === null || path === "";
    if (op === "remove" && isWhole) throw invalid("noTarget", "remove needs a path.");
    if (op !== "remove" && value === undefined) throw invalid("invalidValue", `${op} needs a value.`);
    return { op, ...(!isWhole && { path: path as string }), ...(value !== undefined && { value }) };
  });
}

/** Takes what happens to the members of a group, which are no part of its document. */
export type TakeMembers = (op: Name, target: Target, value: Json | undefined) => void;

/** Members that an operation without a path may repeat, and that nobody may change. */
const FIXED = new Set(["id", "schemas", "meta", "groups"]);

export class Patch {
  readonly #kind: Kind;
  readonly #id: string;
  readonly #document: JsonObject;
  /** Undefined for users. */
  readonly #members: TakeMembers | undefined;

  constructor(kind: Kind, id: string, document: JsonObject, members?: TakeMembers) {
    this.#kind = kind;
    this.#id = id;
    this.#document = structuredClone(document);
    this.#members = members;
  }

  /** The document after the operations. @throws ScimFault; then nothing is changed */
  apply(operations: readonly Operation[]): JsonObject {
    for (const { op, path, value } of operations) {
      if (path === undefined) this.#whole(op, value);
      else this.#at(op, readPath(this.#kind, path, this.#document), value, path);
      // Not only at the end: values of a long list are compared with each other.
      expectSmall(this.#document);
    }
    return documentOf(this.#kind, this.#document);
  }

  /** Without a path the value has the attributes, some senders write them with dots. */
  #whole(op: Name, value: Json | undefined): void {
    if (!isObject(value)) throw invalid("invalidValue", "Without a path, the value must be an object.");
    for (const [name, one] of Object.entries(value)) {
      if (FIXED.has(name.toLowerCase())) {
        if (isSame(name, "id") && one !== this.#id) throw invalid("mutability", "id cannot be changed.");
        continue;
      }
      if (/^urn:/i.test(name) || this.#isKnown(name))
        this.#at(op, readPath(this.#kind, name, this.#document), one, name);
      else if (/^[a-z]/i.test(name)) put(this.#document, name, one);
    }
  }

  #isKnown(name: string): boolean {
    const [first = ""] = name.split(/[.[]/);
    return attributesOf(this.#kind).has(first.toLowerCase());
  }

  #at(op: Name, target: Target, value: Json | undefined, path: string): void {
    const { schema, attribute: name } = target;
    if (schema === undefined && isSame(name!, "password")) return;
    if (schema === undefined && FIXED.has(name!.toLowerCase()))
      throw invalid("mutability", `${quoted(path)} cannot be changed.`);
    if (schema === undefined && this.#members && isSame(name!, "members"))
      return this.#members(op, target, value);
    if (schema === undefined) return this.#in(this.#document, op, target, value, path);
    if (name === undefined) return this.#extension(op, schema, value);
    const found = own(this.#document, schema);
    const container = isObject(found) ? found : {};
    this.#in(container, op, target, value, path);
    put(this.#document, schema, container);
  }

  #extension(op: Name, schema: string, value: Json | undefined): void {
    if (op === "remove") return put(this.#document, schema, undefined);
    if (!isObject(value)) throw invalid("invalidValue", "The value of an extension must be an object.");
    for (const [attribute, one] of Object.entries(value))
      if (/^[a-z]/i.test(attribute) && !isSame(attribute, "schemas"))
        this.#at(op, { schema, attribute }, one, attribute);
  }

  /** @throws ScimFault for an attribute that neither weir knows nor the resource has */
  #in(container: JsonObject, op: Name, target: Target, value: Json | undefined, path: string): void {
    const { schema, conditions, part } = target;
    const known = schema === undefined ? attributesOf(this.#kind) : extensionOf(schema);
    const attribute = known?.get(target.attribute!.toLowerCase());
    const name = attribute?.name ?? Object.keys(container).find((one) => isSame(one, target.attribute!));
    if (name === undefined && known) throw unknownPath(path);
    if (!attribute) {
      if (conditions || part !== undefined) throw unknownPath(path);
      return put(container, name ?? target.attribute!, op === "remove" ? undefined : value);
    }
    if (part !== undefined && !partOf(attribute, part)) throw unknownPath(path);
    if (conditions && !attribute.multiValued) throw unknownPath(path);
    if (conditions || part !== undefined) return changeParts(container, attribute, op, target, value);
    changeWhole(container, attribute, op, value);
  }
}

/** An attribute with all its values. */
function changeWhole(container: JsonObject, attribute: Attribute, op: Name, value: Json | undefined): void {
  const { name, multiValued, subAttributes } = attribute;
  const former = own(container, name);
  const made = valueOf(new Map([[name.toLowerCase(), attribute]]), name, value);
  if (op === "remove") {
    const isPart = multiValued && Array.isArray(made) && made.length > 0 && Array.isArray(former);
    const kept = isPart ? former.filter((one) => !made.some((gone) => isAlike(one, gone))) : undefined;
    return put(container, name, kept);
  }
  if (multiValued && op === "add" && Array.isArray(former) && Array.isArray(made)) {
    const added = made.filter((one) => !former.some((there) => Bun.deepEquals(there, one)));
    return put(container, name, withOnePrimary(former, added));
  }
  // A complex attribute keeps the parts that are not given.
  if (!multiValued && subAttributes && isObject(former) && isObject(made))
    return put(container, name, { ...former, ...made });
  put(container, name, made);
}

/** Whether a value of a list is one that a request lists: by its `value`, else as a whole. */
function isAlike(one: Json, given: Json): boolean {
  const value = (of: Json) => (isObject(of) ? own(of, "value") : of);
  return value(given) === undefined ? Bun.deepEquals(one, given) : value(one) === value(given);
}

/** A new primary value takes the place of the former one. */
function withOnePrimary(former: readonly Json[], added: readonly Json[]): Json[] {
  const hasPrimary = added.some((one) => isObject(one) && one["primary"] === true);
  const kept = former.map((one) =>
    hasPrimary && isObject(one) && one["primary"] === true ? { ...one, primary: false } : one,
  );
  return [...kept, ...added];
}

/** Some values of an attribute, or a part of them. */
function changeParts(
  container: JsonObject,
  attribute: Attribute,
  op: Name,
  { conditions = [], part }: Target,
  value: Json | undefined,
): void {
  const { name, multiValued } = attribute;
  const former = own(container, name);
  if (!multiValued) {
    const made = isObject(former) ? { ...former } : {};
    return put(container, name, changed(made, attribute, op, part, value));
  }
  const list = Array.isArray(former) ? former : [];
  const isMeant = (one: Json) => isNamed(one, conditions);
  if (op === "remove" && part === undefined)
    return put(
      container,
      name,
      list.filter((one) => !isMeant(one)),
    );
  if (op !== "remove" && !list.some(isMeant)) {
    // Entra changes the address of work of a user without one, and expects that it is there then.
    const begun: JsonObject = {};
    for (const { path, value: wanted } of conditions)
      put(begun, partOf(attribute, path)?.name ?? path, wanted);
    const made = changed(singleOf(attribute, begun) as JsonObject, attribute, op, part, value);
    return put(container, name, [...list, made!]);
  }
  const after = list.map((one) =>
    isMeant(one) && isObject(one) ? (changed({ ...one }, attribute, op, part, value) ?? null) : one,
  );
  put(
    container,
    name,
    after.filter((one) => one !== null),
  );
}

/** One value after a change of it, or of a part. @returns undefined if nothing is left */
function changed(
  one: JsonObject,
  attribute: Attribute,
  op: Name,
  part: string | undefined,
  value: Json | undefined,
): JsonObject | undefined {
  if (part === undefined) {
    const given = value === undefined ? undefined : singleOf(attribute, value);
    return isObject(given) ? { ...one, ...given } : one;
  }
  const known = partOf(attribute, part)!;
  const made = op === "remove" || value === undefined ? undefined : singleOf(known, value);
  put(one, known.name, made);
  return Object.keys(one).length === 0 ? undefined : one;
}
