/** What a sender writes of a user or group: read by the attributes that weir knows; others are kept as they are. */
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import {
  type Attribute,
  type Attributes,
  attributesOf,
  coreOf,
  ENTERPRISE,
  extensionOf,
  isSame,
  type Kind,
  partOf,
} from "./attributes.ts";
import { invalid, quoted, ScimFault } from "./fault.ts";

/** Most characters of a document as JSON, and of a name. */
const MAX_DOCUMENT = 65_536;
const MAX_NAME = 255;
/** PostgreSQL has no NUL in texts. */
export const CONTROL = /\p{Cc}/u;

/** Members that weir writes itself, or never keeps. */
const LEFT_OUT = new Set(["id", "meta", "groups", "password", "schemas", "__proto__"]);

/** Member of an object; none that it inherits. */
export function own(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** A document from the body of a request. Members without a value, which are the same as none, are left out. */
export function documentOf(kind: Kind, given: JsonObject): JsonObject {
  const document: JsonObject = {};
  const take = (object: JsonObject) => {
    for (const [name, value] of Object.entries(object)) {
      const folded = name.toLowerCase();
      if (LEFT_OUT.has(folded)) continue;
      if (folded === coreOf(kind).toLowerCase() && isObject(value)) take(value);
      else if (folded.startsWith("urn:")) put(document, urnOf(name), extended(name, value));
      else
        put(document, attributesOf(kind).get(folded)?.name ?? name, valueOf(attributesOf(kind), name, value));
    }
  };
  take(given);
  return document;
}

/** The name of an extension as weir writes it. */
export const urnOf = (name: string) => (isSame(name, ENTERPRISE) ? ENTERPRISE : name);

function extended(urn: string, value: Json | undefined): Json | undefined {
  const known = extensionOf(urn);
  if (!known || !isObject(value)) return value;
  const made: JsonObject = {};
  for (const [name, one] of Object.entries(value))
    if (name !== "__proto__")
      put(made, known.get(name.toLowerCase())?.name ?? name, valueOf(known, name, one));
  return made;
}

/** Sets a member, or removes it if there is no value. */
export function put(object: JsonObject, name: string, value: Json | undefined): void {
  if (isNothing(value)) delete object[name];
  else object[name] = value;
}

const isNothing = (value: Json | undefined) =>
  value === undefined ||
  value === null ||
  (typeof value === "object" && Object.keys(value as object).length === 0);

/** The value of an attribute, as weir keeps it. @throws ScimFault */
export function valueOf(known: Attributes, name: string, value: Json | undefined): Json | undefined {
  const attribute = known.get(name.toLowerCase());
  if (!attribute || value === undefined || value === null) return value;
  if (!attribute.multiValued) return singleOf(attribute, value);
  const list = Array.isArray(value) ? value : [value];
  return list.flatMap((one) => {
    const single = singleOf(attribute, one);
    return isNothing(single) ? [] : [single!];
  });
}

/** One value: some senders write booleans as texts, and a complex value as its `value` alone, or as a list of one. */
export function singleOf(attribute: Attribute, value: Json): Json | undefined {
  const { type, name, subAttributes } = attribute;
  if (value === null) return undefined;
  if (type === "boolean") return booleanOf(name, value);
  if (!subAttributes) return value;
  if (Array.isArray(value) && value.length === 1) return singleOf(attribute, value[0]!);
  if (typeof value === "string" && partOf(attribute, "value")) return { value };
  if (!isObject(value)) throw invalid("invalidValue", `${name} must be an object.`);
  const made: JsonObject = {};
  for (const [key, one] of Object.entries(value)) {
    if (key === "__proto__" || one === undefined) continue;
    const part = partOf(attribute, key);
    put(made, part?.name ?? key, part ? singleOf(part, one) : one);
  }
  return made;
}

function booleanOf(name: string, value: Json): boolean {
  if (typeof value === "boolean") return value;
  const text = typeof value === "string" ? value.toLowerCase() : "";
  if (text === "true" || text === "false") return text === "true";
  throw invalid("invalidValue", `${name} must be true or false.`);
}

/** A text that a document must have, or may have. @throws ScimFault */
export function nameIn(document: JsonObject, name: string, isRequired: boolean): string | undefined {
  const value = own(document, name);
  if (value === undefined && !isRequired) return undefined;
  if (typeof value !== "string" || value.trim() === "" || value.length > MAX_NAME || CONTROL.test(value))
    throw invalid("invalidValue", `${name} must be a text of 1 to ${MAX_NAME} characters.`);
  return value;
}

/** @throws ScimFault */
export function expectSmall(document: JsonObject): string {
  const text = JSON.stringify(document);
  if (text.length > MAX_DOCUMENT)
    throw new ScimFault(413, undefined, `A resource may have ${MAX_DOCUMENT} characters at most.`);
  return text;
}

/** The URNs of what a document has. */
export function schemasOf(kind: Kind, document: JsonObject): string[] {
  return [coreOf(kind), ...Object.keys(document).filter((name) => /^urn:/i.test(name))];
}

/** The part of a resource that a request wants (RFC 7644 3.9). */
export interface Wanted {
  readonly attributes?: readonly string[];
  readonly excluded?: readonly string[];
}

/** Members that are always there. */
const ALWAYS = new Set(["id", "schemas", "meta"]);

/** A resource with what is wanted of it. */
export function selected(kind: Kind, resource: JsonObject, { attributes, excluded }: Wanted): JsonObject {
  if (!attributes && !excluded) return resource;
  const paths = (attributes ?? excluded ?? []).map((path) => stepsOf(kind, path));
  const made: JsonObject = {};
  for (const [name, value] of Object.entries(resource)) {
    const own = paths.filter(([first]) => isSame(first, name)).map(([, second]) => second);
    const isWhole = own.includes(undefined);
    const parts = own.filter((part) => part !== undefined);
    if (ALWAYS.has(name)) made[name] = value;
    else if (attributes) {
      if (isWhole) made[name] = value;
      else if (parts.length > 0)
        put(
          made,
          name,
          partsOf(value, (part) => parts.some((one) => isSame(one, part))),
        );
    } else if (!isWhole)
      put(
        made,
        name,
        parts.length === 0 ? value : partsOf(value, (part) => !parts.some((one) => isSame(one, part))),
      );
  }
  return made;
}

/** The name of a member, and of a part of it. */
function stepsOf(kind: Kind, path: string): readonly [string, string?] {
  const text = path.trim();
  const core = `${coreOf(kind)}:`.toLowerCase();
  const short = text.toLowerCase().startsWith(core) ? text.slice(core.length) : text;
  if (isSame(short, ENTERPRISE)) return [ENTERPRISE];
  if (/^urn:/i.test(short)) {
    const at = short.lastIndexOf(":");
    return [short.slice(0, at), short.slice(at + 1).split(".")[0]!];
  }
  const [first = "", second] = short.split(".");
  return second === undefined ? [first] : [first, second];
}

function partsOf(value: Json | undefined, isWanted: (part: string) => boolean): Json | undefined {
  if (Array.isArray(value)) return value.map((one) => partsOf(one, isWanted) ?? null);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([part]) => isWanted(part)));
}

/** @throws ScimFault for a body that is no JSON object */
export function bodyOf(text: string): JsonObject {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw invalid("invalidSyntax", "The body is not valid JSON.");
  }
  if (!isObject(body)) throw invalid("invalidSyntax", "The body must be a JSON object.");
  return body;
}

/** A member by its name in any case. */
export function memberOf(object: JsonObject, name: string): Json | undefined {
  const found = Object.keys(object).find((one) => isSame(one, name));
  return found === undefined ? undefined : object[found];
}

export const unknownPath = (path: string) => invalid("invalidPath", `There is no attribute ${quoted(path)}.`);
