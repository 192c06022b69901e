/** The keywords of JSON Schema. */
import { slowness } from "../../../config/slow-expression.ts";
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";

/** Something that is wrong with a value. */
export interface SchemaFault {
  /** `to[0].name`; empty: the value itself. Members that the schema does not name are `*`. */
  readonly path: string;
  readonly clause: string;
}

/** The check that runs. */
export interface Checking {
  /** @returns the faults; empty: the value is valid */
  of(schema: Json | undefined, value: Json, path: string, depth: number): SchemaFault[];
  accepts(schema: Json | undefined, value: Json, depth: number): boolean;
  /** The schema that a reference within the document means. @returns undefined: it means none */
  resolve(reference: string): Json | undefined;
}

interface Given {
  /** What the schema says at the keyword. */
  readonly given: Json;
  readonly schema: JsonObject;
  readonly value: Json;
  readonly path: string;
  readonly depth: number;
  readonly check: Checking;
}

type Rule = (at: Given) => SchemaFault[];

const NONE: SchemaFault[] = [];

const below = (path: string, name: string) => (path === "" ? name : `${path}.${name}`);

/** A fault unless something holds. */
const must = (holds: boolean, path: string, clause: string): SchemaFault[] =>
  holds ? NONE : [{ path, clause }];

const list = (given: Json): Json[] => (Array.isArray(given) ? given : []);

/** A rule for numbers. */
const ofNumber =
  (holds: (value: number, limit: number) => boolean, words: string): Rule =>
  ({ given, value, path }) =>
    typeof value !== "number" || typeof given !== "number"
      ? NONE
      : must(holds(value, given), path, `must be ${words} ${given}`);

/** A rule for how many there are of something. */
const ofSize =
  (sizeOf: (value: Json) => number | undefined, isLeast: boolean, what: string): Rule =>
  ({ given, value, path }) => {
    const size = sizeOf(value);
    if (size === undefined || typeof given !== "number") return NONE;
    return must(
      isLeast ? size >= given : size <= given,
      path,
      `must have at ${isLeast ? "least" : "most"} ${given} ${what}`,
    );
  };

const characters = (value: Json) => (typeof value === "string" ? [...value].length : undefined);
const items = (value: Json) => (Array.isArray(value) ? value.length : undefined);
const members = (value: Json) => (isObject(value) ? Object.keys(value).length : undefined);

const TYPES: Readonly<Record<string, (value: Json) => boolean>> = {
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  integer: (value) => typeof value === "number" && Number.isInteger(value),
  boolean: (value) => typeof value === "boolean",
  object: isObject,
  array: Array.isArray,
  null: (value) => value === null,
};

const expressions = new Map<string, RegExp | undefined>();
const MOST_EXPRESSIONS = 1_000;

/** @returns undefined: it is no expression, or one that could take exponential time */
function expressionOf(source: string): RegExp | undefined {
  if (expressions.has(source)) return expressions.get(source);
  if (expressions.size >= MOST_EXPRESSIONS) expressions.clear();
  let expression: RegExp | undefined;
  try {
    if (slowness(source) === undefined) expression = new RegExp(source, "u");
  } catch {
    expression = undefined;
  }
  expressions.set(source, expression);
  return expression;
}

function typeRule({ given, value, path }: Given): SchemaFault[] {
  const names = (Array.isArray(given) ? given : [given]).map((one) => String(one).toLowerCase());
  const known = names.filter((name) => Object.hasOwn(TYPES, name));
  if (known.length === 0) return NONE;
  return must(
    known.some((name) => TYPES[name]!(value)),
    path,
    `must be of the type ${known.join(" or ")}`,
  );
}

function additional({ given, schema, value, path, depth, check }: Given): SchemaFault[] {
  if (!isObject(value) || given === true) return NONE;
  const named = isObject(schema["properties"]) ? schema["properties"] : {};
  const patterns = Object.keys(isObject(schema["patternProperties"]) ? schema["patternProperties"] : {});
  const others = Object.keys(value).filter(
    (name) => !Object.hasOwn(named, name) && !patterns.some((source) => expressionOf(source)?.test(name)),
  );
  if (given === false) return must(others.length === 0, path, "has a member that the schema does not name");
  return others.flatMap((name) => check.of(given, value[name]!, below(path, "*"), depth));
}

function itemsRule({ given, schema, value, path, depth, check }: Given): SchemaFault[] {
  if (!Array.isArray(value)) return NONE;
  if (Array.isArray(given)) return prefix(given, value, path, depth, check);
  const from = list(schema["prefixItems"] ?? []).length;
  return value.slice(from).flatMap((item, at) => check.of(given, item, `${path}[${from + at}]`, depth));
}

const prefix = (given: Json[], value: Json[], path: string, depth: number, check: Checking) =>
  given.flatMap((schema, at) =>
    at < value.length ? check.of(schema, value[at]!, `${path}[${at}]`, depth) : NONE,
  );

function exclusive(limit: "minimum" | "maximum", isMore: boolean): Rule {
  return ({ given, schema, value, path }) => {
    // Draft 4 says here whether the other keyword excludes its value.
    const bound = given === true ? schema[limit] : given;
    if (typeof value !== "number" || typeof bound !== "number") return NONE;
    return must(
      isMore ? value > bound : value < bound,
      path,
      `must be ${isMore ? "more" : "less"} than ${bound}`,
    );
  };
}

function isMultiple(value: number, of: number): boolean {
  const times = value / of;
  return Math.abs(times - Math.round(times)) < 1e-9;
}

export const RULES: Readonly<Record<string, Rule>> = {
  type: typeRule,
  enum: ({ given, value, path }) =>
    must(
      list(given).some((one) => Bun.deepEquals(one, value)),
      path,
      `must be one of ${JSON.stringify(given)}`,
    ),
  const: ({ given, value, path }) =>
    must(Bun.deepEquals(given, value), path, `must be ${JSON.stringify(given)}`),
  required: ({ given, value, path }) =>
    isObject(value)
      ? list(given).flatMap((name) =>
          must(
            typeof name !== "string" || Object.hasOwn(value, name),
            below(path, String(name)),
            "is required",
          ),
        )
      : NONE,
  properties: ({ given, value, path, depth, check }) =>
    isObject(value) && isObject(given)
      ? Object.entries(given).flatMap(([name, schema]) =>
          Object.hasOwn(value, name) ? check.of(schema, value[name]!, below(path, name), depth) : NONE,
        )
      : NONE,
  patternProperties: ({ given, value, path, depth, check }) =>
    isObject(value) && isObject(given)
      ? Object.entries(given).flatMap(([source, schema]) =>
          Object.keys(value)
            .filter((name) => expressionOf(source)?.test(name))
            .flatMap((name) => check.of(schema, value[name]!, below(path, "*"), depth)),
        )
      : NONE,
  additionalProperties: additional,
  propertyNames: ({ given, value, path, depth, check }) =>
    must(
      !isObject(value) || Object.keys(value).every((name) => check.accepts(given, name, depth)),
      path,
      "has a member with a name that the schema does not permit",
    ),
  dependentRequired: ({ given, value, path }) =>
    isObject(value) && isObject(given)
      ? Object.entries(given).flatMap(([name, others]) =>
          Object.hasOwn(value, name)
            ? list(others!).flatMap((other) =>
                must(
                  Object.hasOwn(value, String(other)),
                  below(path, String(other)),
                  `is required with ${name}`,
                ),
              )
            : NONE,
        )
      : NONE,
  items: itemsRule,
  prefixItems: ({ given, value, path, depth, check }) =>
    Array.isArray(value) && Array.isArray(given) ? prefix(given, value, path, depth, check) : NONE,
  contains: ({ given, value, path, depth, check }) =>
    must(
      !Array.isArray(value) || value.some((item) => check.accepts(given, item, depth)),
      path,
      "must have an item that the schema describes",
    ),
  uniqueItems: ({ given, value, path }) =>
    must(
      given !== true || !Array.isArray(value) || new Set(value.map(canonical)).size === value.length,
      path,
      "must have no item twice",
    ),
  minItems: ofSize(items, true, "items"),
  maxItems: ofSize(items, false, "items"),
  minProperties: ofSize(members, true, "members"),
  maxProperties: ofSize(members, false, "members"),
  minLength: ofSize(characters, true, "characters"),
  maxLength: ofSize(characters, false, "characters"),
  pattern: ({ given, value, path }) => {
    const expression = typeof given === "string" ? expressionOf(given) : undefined;
    return typeof value === "string" && expression
      ? must(expression.test(value), path, `must match ${JSON.stringify(given)}`)
      : NONE;
  },
  minimum: ofNumber((value, limit) => value >= limit, "at least"),
  maximum: ofNumber((value, limit) => value <= limit, "at most"),
  exclusiveMinimum: exclusive("minimum", true),
  exclusiveMaximum: exclusive("maximum", false),
  multipleOf: ofNumber(isMultiple, "a multiple of"),
  allOf: ({ given, value, path, depth, check }) =>
    list(given).flatMap((schema) => check.of(schema, value, path, depth)),
  anyOf: ({ given, value, path, depth, check }) => {
    const all = list(given);
    // Of a single alternative the faults say more.
    if (all.length === 1) return check.of(all[0], value, path, depth);
    return must(
      all.some((schema) => check.accepts(schema, value, depth)),
      path,
      "must be as one of the schemas of anyOf",
    );
  },
  oneOf: ({ given, value, path, depth, check }) =>
    must(
      list(given).filter((schema) => check.accepts(schema, value, depth)).length === 1,
      path,
      "must be as exactly one of the schemas of oneOf",
    ),
  not: ({ given, value, path, depth, check }) =>
    must(!check.accepts(given, value, depth), path, "must not be as the schema of not"),
  if: ({ given, schema, value, path, depth, check }) =>
    check.of(schema[check.accepts(given, value, depth) ? "then" : "else"], value, path, depth),
  $ref: ({ given, value, path, depth, check }) =>
    typeof given === "string" ? check.of(check.resolve(given), value, path, depth) : NONE,
};

/** The same text for equal values. */
function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const names = Object.keys(value).toSorted();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name] ?? null)}`).join(",")}}`;
}
