/**
 * JSON schemas as Anthropic's constrained output takes them. What it does not know is moved into the
 * description, where the model still reads it.
 */
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";

export interface Sanitised {
  schema: JsonObject;
  /** A constraint was moved or changed. */
  changed: boolean;
  /** The schema refers to itself, which cannot be compiled; `schema` is the original then. */
  recursive: boolean;
  /** Members of objects that may be left out, and members of several types: limited over all strict schemas. */
  optional: number;
  unions: number;
}

type Findings = Omit<Sanitised, "schema">;

/** Keywords that pass as they are. */
const PLAIN = new Set(["type", "enum", "const", "description", "title", "default", "required", "$ref"]);
/** Keywords that hold schemas by name. */
const MAPS = new Set(["properties", "$defs", "definitions"]);
/** Keywords that hold a schema or a list of them. */
const NESTED = new Set(["items", "anyOf", "oneOf", "allOf"]);
/** Keywords that say nothing of the value, and the one `closeObject` writes anew. */
const SKIPPED = new Set(["$schema", "$id", "$comment", "$anchor", "additionalProperties"]);

const FORMATS = new Set<Json>([
  "date-time",
  "time",
  "date",
  "duration",
  "email",
  "hostname",
  "uri",
  "ipv4",
  "ipv6",
  "uuid",
]);

/** Look-around, named groups, back references and word boundaries cannot be compiled. */
const HARD_PATTERN = /\(\?(?!:)|\\[bB1-9]/;

/** Keywords of which only some values are known. */
const PARTLY_KNOWN: ReadonlyMap<string, (value: Json) => boolean> = new Map(
  Object.entries<(value: Json) => boolean>({
    format: (value) => FORMATS.has(value),
    pattern: (value) => typeof value === "string" && !HARD_PATTERN.test(value),
    minItems: (value) => value === 0 || value === 1,
  }),
);

/** @param schema the schema of an answer or of a strict tool; it is not changed. */
export function sanitiseSchema(schema: JsonObject): Sanitised {
  const found: Findings = { changed: false, recursive: isRecursive(schema), optional: 0, unions: 0 };
  return { schema: found.recursive ? schema : sanitise(schema, found), ...found };
}

function sanitise(schema: JsonObject, found: Findings): JsonObject {
  const members: [string, Json][] = [];
  const moved: string[] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    if (value === undefined || SKIPPED.has(keyword)) continue;
    if (MAPS.has(keyword)) members.push([keyword, sanitiseMap(value, found)]);
    else if (NESTED.has(keyword))
      members.push([keyword === "oneOf" ? "anyOf" : keyword, sanitiseNested(value, found)]);
    else if (PLAIN.has(keyword) || PARTLY_KNOWN.get(keyword)?.(value)) members.push([keyword, value]);
    else moved.push(`${keyword}: ${JSON.stringify(value)}`);
  }
  const kept: JsonObject = Object.fromEntries(members);
  if (isObjectSchema(schema)) closeObject(schema, kept, moved);
  if (schema.oneOf !== undefined || moved.length > 0) found.changed = true;
  if (moved.length > 0) kept.description = withNote(kept.description, moved);
  countMembers(kept, found);
  return kept;
}

function sanitiseMap(value: Json, found: Findings): Json {
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([name, inner]) => [name, sanitiseNested(inner ?? {}, found)]);
  return Object.fromEntries(entries) as JsonObject;
}

function sanitiseNested(value: Json, found: Findings): Json {
  if (Array.isArray(value)) return value.map((item) => sanitiseNested(item, found));
  return isObject(value) ? sanitise(value, found) : value;
}

function isObjectSchema({ type, properties }: JsonObject): boolean {
  return type === "object" || (Array.isArray(type) && type.includes("object")) || isObject(properties);
}

/** Every object must be closed. One that was meant to be open, like a dictionary, says so in its description. */
function closeObject(schema: JsonObject, kept: JsonObject, moved: string[]): void {
  const { additionalProperties } = schema;
  const isDictionary = !isObject(schema.properties) && additionalProperties !== false;
  if (isObject(additionalProperties) || additionalProperties === true || isDictionary)
    moved.push(`additionalProperties: ${JSON.stringify(additionalProperties ?? true)}`);
  kept.additionalProperties = false;
}

function withNote(description: Json | undefined, moved: readonly string[]): string {
  const note = `{${moved.join(", ")}}`;
  return typeof description === "string" && description !== "" ? `${description}\n\n${note}` : note;
}

function countMembers({ properties, required }: JsonObject, found: Findings): void {
  if (!isObject(properties)) return;
  const names = new Set(Array.isArray(required) ? required : []);
  for (const [name, member] of Object.entries(properties)) {
    if (!names.has(name)) found.optional++;
    if (isObject(member) && (Array.isArray(member.type) || Array.isArray(member.anyOf))) found.unions++;
  }
}

/** Whether following its references ever comes back to where it began. */
function isRecursive(root: JsonObject): boolean {
  const open = new Set<string>();
  const closed = new Set<string>();
  const visit = (value: Json | undefined): boolean => {
    if (Array.isArray(value)) return value.some(visit);
    if (!isObject(value)) return false;
    if (typeof value.$ref === "string" && follow(value.$ref)) return true;
    return Object.entries(value).some(
      ([key, inner]) => key !== "$defs" && key !== "definitions" && visit(inner),
    );
  };
  const follow = (reference: string): boolean => {
    if (reference === "#" || open.has(reference)) return true;
    if (closed.has(reference)) return false;
    open.add(reference);
    const recursive = visit(resolve(root, reference));
    open.delete(reference);
    closed.add(reference);
    return recursive;
  };
  return visit(root);
}

function resolve(root: JsonObject, reference: string): Json | undefined {
  if (!reference.startsWith("#/")) return undefined;
  let at: Json | undefined = root;
  for (const part of reference.slice(2).split("/")) {
    if (!isObject(at)) return undefined;
    at = at[part.replaceAll("~1", "/").replaceAll("~0", "~")];
  }
  return at;
}

/**
 * A schema whose root is an object without alternatives, as tool declarations need it: the members of `anyOf`, `oneOf` and
 * `allOf` at the root are merged, and only what every branch requires stays required.
 */
export function flattenRoot(schema: JsonObject): { schema: JsonObject; changed: boolean } {
  const { anyOf, oneOf, allOf, ...rest } = schema;
  const branches = [anyOf, oneOf, allOf].flatMap((list) =>
    Array.isArray(list) ? list.filter(isObject) : [],
  );
  if (branches.length === 0) return { schema: { type: "object", ...schema }, changed: false };
  const flat = branches.map((branch) => flattenRoot(branch).schema);
  const members = [...flat, rest].flatMap((branch) => Object.entries(propertiesOf(branch)));
  const properties: JsonObject = Object.fromEntries(members);
  const required = [...new Set([...namesIn(rest.required), ...commonNames(flat, Array.isArray(allOf))])];
  return {
    schema: { type: "object", ...rest, properties, ...(required.length > 0 && { required }) },
    changed: true,
  };
}

function propertiesOf({ properties }: JsonObject): JsonObject {
  return isObject(properties) ? properties : {};
}

function namesIn(required: Json | undefined): string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
}

/** Names every alternative requires; with `allOf` each branch holds, so that any name does. */
function commonNames(branches: readonly JsonObject[], all: boolean): string[] {
  const lists = branches.map((branch) => namesIn(branch.required));
  if (all) return lists.flat();
  return (lists[0] ?? []).filter((name) => lists.every((list) => list.includes(name)));
}
