/** Makes up a value that fits a JSON schema: the smallest sensible one, and always the same for the same seed. */
import type { Json, JsonObject } from "weir";
import { isObject } from "weir";
import { fitNumber } from "./numbers.ts";
import { makeNumber } from "./seed.ts";
import { makeString } from "./strings.ts";

/** Below this depth lists stay empty and what may be null is null, so that recursive schemas come to an end. */
const DEEP = 4;
/** Below this depth there is only null. */
const DEEPEST = 24;
const LONGEST_LIST = 1000;
/** So many values are made up, then all is null: a few nested lists of a client's schema could ask for millions. */
const MOST_VALUES = 5000;

/** Where in the value we are. */
interface Place {
  root: JsonObject;
  seed: string;
  /** JSON pointer; what is made up differs from place to place. */
  path: string;
  depth: number;
  budget: { left: number };
}

/** @param schema JSON schema, `$ref` inside the document only. Keywords nobody can guess from (`not`, `if`) are not read. */
export function makeInstance(schema: JsonObject, seed: string): Json {
  return make(schema, { root: schema, seed, path: "", depth: 0, budget: { left: MOST_VALUES } });
}

function make(given: Json | undefined, place: Place): Json {
  if (place.depth > DEEPEST || place.budget.left-- <= 0) return null;
  if (!isObject(given)) return given === false ? null : nameOf(place);
  const schema = flatten(given, place, 0);
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum) && schema.enum.length > 0)
    return schema.enum[makeNumber(place.seed, place.path, schema.enum.length)]!;
  const type = typeOf(schema, place);
  return exampleOf(schema, type) ?? MAKERS[type](schema, place);
}

type TypeName = "object" | "array" | "string" | "number" | "integer" | "boolean" | "null";

const MAKERS: Record<TypeName, (schema: JsonObject, place: Place) => Json> = {
  object: makeObject,
  array: makeArray,
  string: makeText,
  number: (schema, { seed, path }) => fitNumber(schema, makeNumber(seed, path, 9) + 1, false),
  integer: (schema, { seed, path }) => fitNumber(schema, makeNumber(seed, path, 9) + 1, true),
  boolean: (_schema, { seed, path }) => makeNumber(seed, path, 2) === 1,
  null: () => null,
};

/** A schema without `$ref`, `allOf`, `anyOf` and `oneOf`: all that holds at once, and one of what may hold. */
function flatten(schema: JsonObject, place: Place, steps: number): JsonObject {
  if (steps > DEEPEST || place.budget.left-- <= 0) return {};
  const { $ref: reference, allOf, anyOf, oneOf, ...own } = schema;
  const parts = [
    ...(typeof reference === "string" ? [resolve(reference, place.root)] : []),
    ...(Array.isArray(allOf) ? allOf : []),
    ...[anyOf, oneOf].flatMap((options) => (Array.isArray(options) ? choose(options, place) : [])),
  ];
  return parts
    .filter(isObject)
    .map((part) => flatten(part, place, steps + 1))
    .reduce(merge, own);
}

/** `#/$defs/Node` → what stands there. */
function resolve(reference: string, root: JsonObject): Json | undefined {
  const names = reference.replace(/^#\/?/, "").split("/");
  return names
    .filter((name) => name !== "")
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~").replaceAll("%20", " "))
    .reduce<Json | undefined>(
      (found, name) => (Array.isArray(found) ? found[Number(name)] : memberOf(found, name)),
      root,
    );
}

/** A member an object has of its own: a schema may well speak of a `constructor`. */
function memberOf(value: Json | undefined, name: string): Json | undefined {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** One of several schemas: the first that is not null, and in the deep the first that is. */
function choose(options: readonly Json[], place: Place): Json[] {
  const isNull = (option: Json) => isObject(option) && (option.type === "null" || option.const === null);
  const wanted = options.find((option) => isNull(option) === place.depth >= DEEP) ?? options[0];
  return wanted === undefined ? [] : [wanted];
}

function merge(into: JsonObject, part: JsonObject): JsonObject {
  const merged: JsonObject = { ...into, ...part };
  if (isObject(into.properties) && isObject(part.properties))
    merged.properties = { ...into.properties, ...part.properties };
  if (Array.isArray(into.required) && Array.isArray(part.required))
    merged.required = [...into.required, ...part.required];
  return merged;
}

function typeOf(schema: JsonObject, place: Place): TypeName {
  const types = (Array.isArray(schema.type) ? schema.type : [schema.type]).filter(isTypeName);
  const wanted =
    place.depth >= DEEP && types.includes("null") ? "null" : types.find((type) => type !== "null");
  return wanted ?? types[0] ?? guessType(schema);
}

function isTypeName(value: Json | undefined): value is TypeName {
  return typeof value === "string" && Object.hasOwn(MAKERS, value);
}

const TELLTALES: readonly (readonly [TypeName, readonly string[]])[] = [
  ["object", ["properties", "required", "additionalProperties", "minProperties"]],
  ["array", ["items", "prefixItems", "minItems", "contains"]],
  ["number", ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]],
];

/** A schema without a type gives itself away by its other keywords. */
function guessType(schema: JsonObject): TypeName {
  return (
    TELLTALES.find(([, keywords]) => keywords.some((word) => schema[word] !== undefined))?.[0] ?? "string"
  );
}

/** What the author of the schema shows, where it has the right type. */
function exampleOf(schema: JsonObject, type: TypeName): Json | undefined {
  const shown = [...(Array.isArray(schema.examples) ? schema.examples : []), schema.example, schema.default];
  const plain: readonly TypeName[] = ["string", "number", "integer", "boolean"];
  if (!plain.includes(type)) return undefined;
  return shown.find((value) =>
    type === "integer" ? Number.isInteger(value) : value !== undefined && typeof value === type,
  );
}

/** Required members; all of them where the schema has no `required` list, because then it seldom means none. */
function makeObject(schema: JsonObject, place: Place): Json {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const listed = Array.isArray(schema.required)
    ? schema.required.filter((name) => typeof name === "string")
    : place.depth < DEEP
      ? Object.keys(properties)
      : [];
  const names = [...new Set([...listed, ...fillUp(schema, properties, listed.length)])];
  return Object.fromEntries(
    names.map((name) => [
      name,
      make(memberOf(properties, name) ?? openMember(schema), stepInto(place, name)),
    ]),
  );
}

/** Names that `minProperties` asks for beyond the listed ones. */
function fillUp(schema: JsonObject, properties: JsonObject, listed: number): string[] {
  const least = typeof schema.minProperties === "number" ? Math.min(schema.minProperties, LONGEST_LIST) : 0;
  if (least <= listed) return [];
  const made = Array.from({ length: least }, (_, index) => `key_${index + 1}`);
  return [...Object.keys(properties), ...made].slice(0, least);
}

function openMember(schema: JsonObject): Json {
  return isObject(schema.additionalProperties) ? schema.additionalProperties : {};
}

function makeArray(schema: JsonObject, place: Place): Json {
  const first = [schema.prefixItems, schema.items].find(Array.isArray) ?? [];
  const rest = Array.isArray(schema.items) ? schema.additionalItems : (schema.items ?? schema.contains);
  const taken = schema.uniqueItems === true ? new Set<string>() : undefined;
  const count = countItems(schema, first.length, rest, place);
  return Array.from({ length: count }, (_, index) =>
    makeItem(first[index] ?? rest, stepInto(place, String(index)), taken),
  );
}

function countItems(schema: JsonObject, first: number, rest: Json | undefined, { depth }: Place): number {
  const usual = rest === false || depth >= DEEP ? 0 : 1;
  const least = typeof schema.minItems === "number" ? schema.minItems : usual;
  const most = typeof schema.maxItems === "number" ? schema.maxItems : LONGEST_LIST;
  return Math.min(Math.max(least, first), most, LONGEST_LIST);
}

/** One item; where all must differ, others are made until one does. */
function makeItem(schema: Json | undefined, place: Place, taken: Set<string> | undefined): Json {
  let item = make(schema, place);
  for (let attempt = 1; attempt <= 64 && taken?.has(JSON.stringify(item)); attempt++)
    item = make(schema, { ...place, seed: `${place.seed}/${attempt}` });
  taken?.add(JSON.stringify(item));
  return item;
}

function makeText(schema: JsonObject, place: Place): string {
  const text = makeString(schema, nameOf(place), `${place.seed}${place.path}`);
  place.budget.left -= Math.floor(text.length / 100);
  return text;
}

function stepInto(place: Place, name: string): Place {
  return { ...place, path: `${place.path}/${name}`, depth: place.depth + 1 };
}

/** What a text at this place says: `mock city`; members of lists carry their number. */
function nameOf({ path }: Place): string {
  return [
    "mock",
    ...path
      .split("/")
      .filter((part) => part !== "")
      .slice(-2),
  ].join(" ");
}
