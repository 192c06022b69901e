/**
 * A JSON schema in the subset of OpenAPI that Google takes in `parameters` and `responseSchema`
 * (https://ai.google.dev/api/caching#Schema). Google refuses the whole request for a keyword that it does not know; weir
 * describes such a constraint in words.
 */
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { memoized } from "../../shared/memoized.ts";
import { mapMembers } from "./sub-schemas.ts";

export interface OpenapiSchema {
  schema: JsonObject;
  /** A constraint is described and not enforced, or a recursive schema is cut. */
  described: boolean;
}

/** Pure; the result is cached by the text of the schema. */
export function openapiSchema(schema: JsonObject): OpenapiSchema {
  return converted(JSON.stringify(schema));
}

const converted = memoized((text: string): OpenapiSchema => {
  const root = JSON.parse(text) as JsonObject;
  const converter = new Converter(root);
  const schema = converter.convert(root, []);
  return { schema, described: converter.described };
});

/** Keywords that are kept as they are. */
const KEPT: ReadonlySet<string> = new Set([
  "title",
  "default",
  "minimum",
  "maximum",
  "pattern",
  "example",
  "propertyOrdering",
]);
/** Numbers that are strings on the wire: they are 64 bits wide. */
const COUNTS: ReadonlySet<string> = new Set([
  "minItems",
  "maxItems",
  "minLength",
  "maxLength",
  "minProperties",
  "maxProperties",
]);
const FORMATS: ReadonlySet<string> = new Set(["enum", "date-time", "int32", "int64", "float", "double"]);
/** Keywords whose loss changes nothing that a model reads. */
const SILENT: ReadonlySet<string> = new Set([
  "$schema",
  "$id",
  "$comment",
  "$defs",
  "definitions",
  "$ref",
  "additionalProperties",
  "strict",
  "examples",
  "readOnly",
  "writeOnly",
  "deprecated",
  "nullable",
]);
/** Keywords that `convert` reads itself. */
const READ: ReadonlySet<string> = new Set([
  "type",
  "const",
  "enum",
  "anyOf",
  "oneOf",
  "allOf",
  "properties",
  "required",
  "items",
  "format",
  "description",
]);
const TYPES: ReadonlySet<string> = new Set(["STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT"]);

class Converter {
  described = false;
  readonly #root: JsonObject;

  constructor(root: JsonObject) {
    this.#root = root;
  }

  /** @param refs the references that lead to this schema */
  convert(given: Json, refs: readonly string[]): JsonObject {
    if (!isObject(given)) return { type: "OBJECT" };
    const { schema, trail } = this.#resolve(given, refs);
    if (!schema) return this.#cut(given);
    const merged = this.#mergeAll(schema, trail);
    const notes: string[] = [];
    const result: JsonObject = {};
    this.#addType(merged, result, trail, notes);
    this.#addEnum(merged, result, notes);
    this.#addMembers(merged, result, trail);
    for (const [keyword, value] of Object.entries(merged))
      if (value !== undefined) this.#addKeyword(keyword, value, result, notes);
    if (notes.length > 0) this.described = true;
    const description = [merged.description, ...notes].filter(
      (text) => typeof text === "string" && text !== "",
    );
    if (description.length > 0) result.description = description.join(" ");
    return result;
  }

  /** Follows `$ref`; keywords beside it win. No schema: the reference is recursive or leads nowhere. */
  #resolve(given: JsonObject, refs: readonly string[]): { schema?: JsonObject; trail: readonly string[] } {
    let schema = given;
    let trail = refs;
    while (typeof schema.$ref === "string") {
      const { $ref, ...beside } = schema;
      const target = trail.includes($ref) ? undefined : this.#find($ref);
      if (!target) return { trail };
      trail = [...trail, $ref];
      schema = { ...target, ...beside };
    }
    return { schema, trail };
  }

  #find(ref: string): JsonObject | undefined {
    if (!ref.startsWith("#")) return undefined;
    let value: Json | undefined = this.#root;
    for (const step of ref.slice(1).split("/").slice(1)) {
      const name = decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
      if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
      value = value[name];
    }
    return isObject(value) ? value : undefined;
  }

  #cut({ description }: JsonObject): JsonObject {
    this.described = true;
    const note = "A nested value of the same kind.";
    return { type: "OBJECT", description: typeof description === "string" ? `${description} ${note}` : note };
  }

  /** Joins `allOf`: properties and required names are united, of other keywords the first counts. */
  #mergeAll(schema: JsonObject, refs: readonly string[]): JsonObject {
    const { allOf, ...own } = schema;
    if (!Array.isArray(allOf)) return own;
    let merged: JsonObject = own;
    for (const member of allOf) {
      const part = isObject(member) ? this.#resolve(member, refs).schema : undefined;
      if (part) merged = join(merged, this.#mergeAll(part, refs));
      else this.described = true;
    }
    return merged;
  }

  /** `type`, and the alternatives that a list of types or `anyOf` gives. */
  #addType(schema: JsonObject, result: JsonObject, refs: readonly string[], notes: string[]): void {
    const types = (Array.isArray(schema.type) ? schema.type : [schema.type])
      .filter((type) => typeof type === "string")
      .map((type) => type.toUpperCase());
    const known = types.filter((type) => TYPES.has(type));
    if (types.includes("NULL") || schema.nullable === true) result.nullable = true;
    if (known.length === 1) result.type = known[0]!;
    else if (known.length > 1) result.anyOf = known.map((type) => ({ type }));
    else if (types.includes("NULL")) result.type = "STRING";
    const branches = [schema.anyOf, schema.oneOf].find((list) => Array.isArray(list));
    if (Array.isArray(branches)) this.#addBranches(branches, result, refs);
    if (Array.isArray(schema.anyOf) && Array.isArray(schema.oneOf))
      notes.push(describe("oneOf", schema.oneOf));
  }

  #addBranches(branches: readonly Json[], result: JsonObject, refs: readonly string[]): void {
    const others = branches.filter((branch) => !isNull(branch));
    if (others.length < branches.length) result.nullable = true;
    const list = others.map((branch) => this.convert(branch, refs));
    if (list.length === 1) Object.assign(result, { ...list[0], ...result });
    else if (list.length > 1) result.anyOf = list;
  }

  #addEnum(schema: JsonObject, result: JsonObject, notes: string[]): void {
    const values = Array.isArray(schema.enum) ? schema.enum : "const" in schema ? [schema.const!] : undefined;
    if (!values) return;
    if (values.includes(null)) result.nullable = true;
    const present = values.filter((value) => value !== null);
    const [kind] = present.map((value) => typeof value);
    if (present.length === 0) return;
    if (kind === "object" || present.some((value) => typeof value !== kind)) {
      notes.push(describe("one of", present));
      return;
    }
    result.enum = present.map(String);
    result.format = "enum";
    if (result.anyOf === undefined)
      result.type ??= kind === "number" ? "NUMBER" : kind === "boolean" ? "BOOLEAN" : "STRING";
  }

  #addMembers(schema: JsonObject, result: JsonObject, refs: readonly string[]): void {
    if (isObject(schema.properties)) {
      const properties = mapMembers(schema.properties, (inner) => this.convert(inner, refs));
      if (Object.keys(properties).length > 0) result.properties = properties;
      if (result.anyOf === undefined) result.type ??= "OBJECT";
      const { required } = schema;
      if (Array.isArray(required)) {
        const named = required.filter((name) => typeof name === "string" && Object.hasOwn(properties, name));
        if (named.length > 0) result.required = named;
      }
    }
    if (isObject(schema.items)) result.items = this.convert(schema.items, refs);
    if (result.type === "ARRAY") result.items ??= { type: "OBJECT" };
  }

  #addKeyword(keyword: string, value: Json, result: JsonObject, notes: string[]): void {
    if (READ.has(keyword) && keyword !== "format") return;
    if (keyword === "format") {
      if (typeof value !== "string") return;
      if (FORMATS.has(value)) result.format ??= value;
      else notes.push(`Format: ${value}.`);
    } else if (KEPT.has(keyword)) result[keyword] ??= value;
    else if (COUNTS.has(keyword)) result[keyword] ??= String(value);
    else if (!SILENT.has(keyword)) notes.push(describe(keyword, value));
  }
}

function describe(keyword: string, value: Json): string {
  return `Constraint ${keyword}: ${JSON.stringify(value)}.`;
}

function isNull(branch: Json): boolean {
  return isObject(branch) && branch.type === "null";
}

function join(first: JsonObject, second: JsonObject): JsonObject {
  const joined = { ...second, ...first };
  if (isObject(first.properties) && isObject(second.properties))
    joined.properties = { ...second.properties, ...first.properties };
  if (Array.isArray(first.required) && Array.isArray(second.required))
    joined.required = [...new Set([...first.required, ...second.required])];
  return joined;
}
