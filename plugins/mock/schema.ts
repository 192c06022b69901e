/** Generates a small value that matches a JSON schema; equal seeds give equal values. */
import type { Json, JsonObject } from "weir";
import { isObject } from "weir";
import { countNumber, fitNumber } from "./numbers.ts";
import { samplePattern } from "./pattern.ts";
import { memberOf, resolveReference } from "./references.ts";
import { makeNumber } from "./seed.ts";
import { makeString } from "./strings.ts";

/** Below this depth lists are empty and nullable values are null, so that recursive schemas end. */
const NULL_DEPTH = 4;
/** Below this depth every value is null. */
const MAX_DEPTH = 24;
const MAX_LIST = 1000;
/** Maximum number of values; further ones are null. A few nested lists of a schema could require millions. */
const MAX_VALUES = 5000;

/** The current position in the value. */
interface Position {
  root: JsonObject;
  seed: string;
  /** JSON pointer; generated values depend on it. */
  path: string;
  depth: number;
  budget: { left: number };
  /** Index of the item in a list with `uniqueItems`. */
  ordinal?: number;
}

/** @param schema JSON schema, `$ref` inside the document only. The keywords `not` and `if` are ignored. */
export function makeInstance(schema: JsonObject, seed: string): Json {
  return make(schema, { root: schema, seed, path: "", depth: 0, budget: { left: MAX_VALUES } });
}

function make(given: Json | undefined, position: Position): Json {
  if (position.budget.left-- <= 0 || position.depth > MAX_DEPTH) return null;
  if (!isObject(given)) return given === false ? null : textAt(position);
  const schema = flatten(given, position, 0);
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum) && schema.enum.length > 0)
    return schema.enum[pick(position, schema.enum.length)]!;
  const type = typeOf(schema, position);
  return exampleOf(schema, type) ?? MAKERS[type](schema, position);
}

type TypeName = "object" | "array" | "string" | "number" | "integer" | "boolean" | "null";

const MAKERS: Record<TypeName, (schema: JsonObject, position: Position) => Json> = {
  object: makeObject,
  array: makeArray,
  string: makeText,
  number: (schema, position) => makeAmount(schema, position, false),
  integer: (schema, position) => makeAmount(schema, position, true),
  boolean: (_schema, position) => pick(position, 2) === 1,
  null: () => null,
};

function makeAmount(schema: JsonObject, position: Position, whole: boolean): number {
  if (position.ordinal !== undefined) return countNumber(schema, position.ordinal, whole);
  return fitNumber(schema, pick(position, 9) + 1, whole);
}

/** Returns an integer from 0 to `below` - 1. */
function pick({ seed, path, ordinal }: Position, below: number): number {
  return ordinal === undefined ? makeNumber(seed, path, below) : ordinal % below;
}

/** Resolves `$ref`, merges `allOf`, and merges one alternative of `anyOf` and `oneOf`. */
function flatten(schema: JsonObject, position: Position, steps: number): JsonObject {
  if (position.budget.left <= 0 || steps > MAX_DEPTH) return {};
  // Large schemas use more of the budget, because merging them takes longer.
  position.budget.left -= 1 + (isObject(schema.properties) ? Object.keys(schema.properties).length / 50 : 0);
  const { $ref: reference, allOf, anyOf, oneOf, ...own } = schema;
  const parts = [
    ...(typeof reference === "string" ? [resolveReference(reference, position.root)] : []),
    ...(Array.isArray(allOf) ? allOf : []),
    ...[anyOf, oneOf].flatMap((options) => (Array.isArray(options) ? choose(options, position) : [])),
  ];
  return parts
    .filter(isObject)
    .map((part) => flatten(part, position, steps + 1))
    .reduce(merge, own);
}

/** Chooses an alternative: the first that is not null, or at depth `NULL_DEPTH` the first that is null. */
function choose(options: readonly Json[], position: Position): Json[] {
  const isNull = (option: Json) => isObject(option) && (option.type === "null" || option.const === null);
  const wanted = options.find((option) => isNull(option) === position.depth >= NULL_DEPTH) ?? options[0];
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

function typeOf(schema: JsonObject, position: Position): TypeName {
  const types = (Array.isArray(schema.type) ? schema.type : [schema.type]).filter(isTypeName);
  const wanted =
    position.depth >= NULL_DEPTH && types.includes("null") ? "null" : types.find((type) => type !== "null");
  return wanted ?? types[0] ?? guessType(schema);
}

function isTypeName(value: Json | undefined): value is TypeName {
  return typeof value === "string" && Object.hasOwn(MAKERS, value);
}

const TYPE_KEYWORDS: readonly (readonly [TypeName, readonly string[]])[] = [
  ["object", ["properties", "required", "additionalProperties", "minProperties"]],
  ["array", ["items", "prefixItems", "minItems", "contains"]],
  ["number", ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]],
];

/** Guesses the type of a schema without one by its keywords. */
function guessType(schema: JsonObject): TypeName {
  return (
    TYPE_KEYWORDS.find(([, keywords]) => keywords.some((word) => schema[word] !== undefined))?.[0] ?? "string"
  );
}

/** Returns an example or default of the schema if it has the right type. */
function exampleOf(schema: JsonObject, type: TypeName): Json | undefined {
  const shown = [...(Array.isArray(schema.examples) ? schema.examples : []), schema.example, schema.default];
  const plain: readonly TypeName[] = ["string", "number", "integer", "boolean"];
  if (!plain.includes(type)) return undefined;
  return shown.find((value) =>
    type === "integer" ? Number.isInteger(value) : value !== undefined && typeof value === type,
  );
}

/** Generates the required members, or all members if the schema has no `required` list. */
function makeObject(schema: JsonObject, position: Position): Json {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const listed = Array.isArray(schema.required)
    ? schema.required.filter((name) => typeof name === "string")
    : position.depth < NULL_DEPTH
      ? Object.keys(properties)
      : [];
  const names = [...new Set([...listed, ...fillUp(schema, properties, listed.length)])];
  const made: [string, Json][] = [];
  for (const name of names) {
    if (position.budget.left <= 0) break;
    made.push([name, make(memberOf(properties, name) ?? openMember(schema), stepInto(position, name))]);
  }
  return Object.fromEntries(made);
}

/** Returns the names that `minProperties` requires beyond the listed ones. */
function fillUp(schema: JsonObject, properties: JsonObject, listed: number): string[] {
  const least = typeof schema.minProperties === "number" ? Math.min(schema.minProperties, MAX_LIST) : 0;
  if (least <= listed) return [];
  const [pattern] = Object.keys(isObject(schema.patternProperties) ? schema.patternProperties : {});
  const made = Array.from({ length: least }, (_, index) => {
    const sampled = pattern === undefined ? undefined : samplePattern(pattern, index + 1, index + 1);
    return sampled ?? `key_${index + 1}`;
  });
  return [...Object.keys(properties), ...made].slice(0, least);
}

/** Returns the schema of a member that is not in `properties`. */
function openMember(schema: JsonObject): Json {
  if (isObject(schema.additionalProperties)) return schema.additionalProperties;
  return (isObject(schema.patternProperties) ? Object.values(schema.patternProperties)[0] : undefined) ?? {};
}

function makeArray(schema: JsonObject, position: Position): Json {
  const first = [schema.prefixItems, schema.items].find(Array.isArray) ?? [];
  const rest = Array.isArray(schema.items) ? schema.additionalItems : (schema.items ?? schema.contains);
  const count = countItems(schema, first.length, rest, position);
  const items: Json[] = [];
  for (let index = 0; index < count && position.budget.left > 0; index++) {
    const inside = stepInto(position, String(index));
    if (schema.uniqueItems === true) inside.ordinal = index;
    items.push(make(first[index] ?? rest, inside));
  }
  return items;
}

function countItems(schema: JsonObject, first: number, rest: Json | undefined, { depth }: Position): number {
  const usual = rest === false || depth >= NULL_DEPTH ? 0 : 1;
  const least = typeof schema.minItems === "number" ? schema.minItems : usual;
  const most = typeof schema.maxItems === "number" ? schema.maxItems : MAX_LIST;
  return Math.min(Math.max(least, first), most, MAX_LIST);
}

function makeText(schema: JsonObject, position: Position): string {
  const text = makeString(schema, textAt(position), `${position.seed}${position.path}`);
  position.budget.left -= Math.floor(text.length / 100);
  return text;
}

function stepInto(position: Position, name: string): Position {
  return { ...position, path: `${position.path}/${name}`, depth: position.depth + 1 };
}

/** Returns the text for this position, such as `mock city`; items of lists contain their index. */
function textAt({ path }: Position): string {
  return ["mock", ...path.split("/").slice(1).slice(-2)].join(" ");
}
