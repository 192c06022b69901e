/** Makes up a value that fits a JSON schema: the smallest sensible one, and always the same for the same seed. */
import type { Json, JsonObject } from "weir";
import { isObject } from "weir";
import { countNumber, fitNumber } from "./numbers.ts";
import { samplePattern } from "./pattern.ts";
import { memberOf, resolveReference } from "./references.ts";
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
  /** The number of the item, in a list whose items must all differ. */
  ordinal?: number;
}

/** @param schema JSON schema, `$ref` inside the document only. Keywords nobody can guess from (`not`, `if`) are not read. */
export function makeInstance(schema: JsonObject, seed: string): Json {
  return make(schema, { root: schema, seed, path: "", depth: 0, budget: { left: MOST_VALUES } });
}

function make(given: Json | undefined, place: Place): Json {
  if (place.budget.left-- <= 0 || place.depth > DEEPEST) return null;
  if (!isObject(given)) return given === false ? null : nameOf(place);
  const schema = flatten(given, place, 0);
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum) && schema.enum.length > 0)
    return schema.enum[pick(place, schema.enum.length)]!;
  const type = typeOf(schema, place);
  return exampleOf(schema, type) ?? MAKERS[type](schema, place);
}

type TypeName = "object" | "array" | "string" | "number" | "integer" | "boolean" | "null";

const MAKERS: Record<TypeName, (schema: JsonObject, place: Place) => Json> = {
  object: makeObject,
  array: makeArray,
  string: makeText,
  number: (schema, place) => makeAmount(schema, place, false),
  integer: (schema, place) => makeAmount(schema, place, true),
  boolean: (_schema, place) => pick(place, 2) === 1,
  null: () => null,
};

function makeAmount(schema: JsonObject, place: Place, whole: boolean): number {
  if (place.ordinal !== undefined) return countNumber(schema, place.ordinal, whole);
  return fitNumber(schema, pick(place, 9) + 1, whole);
}

/** A whole number from 0 to `below` - 1. */
function pick({ seed, path, ordinal }: Place, below: number): number {
  return ordinal === undefined ? makeNumber(seed, path, below) : ordinal % below;
}

/** A schema without `$ref`, `allOf`, `anyOf` and `oneOf`: all that holds at once, and one of what may hold. */
function flatten(schema: JsonObject, place: Place, steps: number): JsonObject {
  if (place.budget.left <= 0 || steps > DEEPEST) return {};
  // Joining costs what there is to join.
  place.budget.left -= 1 + (isObject(schema.properties) ? Object.keys(schema.properties).length / 50 : 0);
  const { $ref: reference, allOf, anyOf, oneOf, ...own } = schema;
  const parts = [
    ...(typeof reference === "string" ? [resolveReference(reference, place.root)] : []),
    ...(Array.isArray(allOf) ? allOf : []),
    ...[anyOf, oneOf].flatMap((options) => (Array.isArray(options) ? choose(options, place) : [])),
  ];
  return parts
    .filter(isObject)
    .map((part) => flatten(part, place, steps + 1))
    .reduce(merge, own);
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
  const made: [string, Json][] = [];
  for (const name of names) {
    if (place.budget.left <= 0) break;
    made.push([name, make(memberOf(properties, name) ?? openMember(schema), stepInto(place, name))]);
  }
  return Object.fromEntries(made);
}

/** Names that `minProperties` asks for beyond the listed ones. */
function fillUp(schema: JsonObject, properties: JsonObject, listed: number): string[] {
  const least = typeof schema.minProperties === "number" ? Math.min(schema.minProperties, LONGEST_LIST) : 0;
  if (least <= listed) return [];
  const [pattern] = Object.keys(isObject(schema.patternProperties) ? schema.patternProperties : {});
  const made = Array.from({ length: least }, (_, index) => {
    const sampled = pattern === undefined ? undefined : samplePattern(pattern, index + 1, index + 1);
    return sampled ?? `key_${index + 1}`;
  });
  return [...Object.keys(properties), ...made].slice(0, least);
}

/** The schema of a member that is not among the properties. */
function openMember(schema: JsonObject): Json {
  if (isObject(schema.additionalProperties)) return schema.additionalProperties;
  return (isObject(schema.patternProperties) ? Object.values(schema.patternProperties)[0] : undefined) ?? {};
}

function makeArray(schema: JsonObject, place: Place): Json {
  const first = [schema.prefixItems, schema.items].find(Array.isArray) ?? [];
  const rest = Array.isArray(schema.items) ? schema.additionalItems : (schema.items ?? schema.contains);
  const count = countItems(schema, first.length, rest, place);
  const items: Json[] = [];
  for (let index = 0; index < count && place.budget.left > 0; index++) {
    const inside = stepInto(place, String(index));
    if (schema.uniqueItems === true) inside.ordinal = index;
    items.push(make(first[index] ?? rest, inside));
  }
  return items;
}

function countItems(schema: JsonObject, first: number, rest: Json | undefined, { depth }: Place): number {
  const usual = rest === false || depth >= DEEP ? 0 : 1;
  const least = typeof schema.minItems === "number" ? schema.minItems : usual;
  const most = typeof schema.maxItems === "number" ? schema.maxItems : LONGEST_LIST;
  return Math.min(Math.max(least, first), most, LONGEST_LIST);
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
  return ["mock", ...path.split("/").slice(1).slice(-2)].join(" ");
}
