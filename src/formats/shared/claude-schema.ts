/**
 * Converts JSON schemas to the subset that Anthropic enforces. Other keywords move into the description, where the model
 * still reads them (src/formats/README.md#structured-answers).
 */
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import type { Tool } from "../../core/chat.ts";
import type { ClaudeContext } from "./claude-reasoning.ts";
import { toolPath } from "./paths.ts";

export interface Sanitised {
  schema: JsonObject;
  /** A constraint was moved or changed. */
  changed: boolean;
  /** The schema refers to itself, which Anthropic refuses; `schema` is then the original. */
  recursive: boolean;
  /** Numbers of optional members and of members with several types; both are limited over all strict schemas. */
  optional: number;
  unions: number;
}

type Findings = Omit<Sanitised, "schema">;

/** Keywords that pass unchanged. */
const PLAIN = new Set(["type", "enum", "const", "description", "title", "default", "required", "$ref"]);
/** Keywords whose value maps names to schemas. */
const MAPS = new Set(["properties", "$defs", "definitions"]);
/** Keywords whose value is a schema or a list of schemas. */
const NESTED = new Set(["items", "anyOf", "oneOf", "allOf"]);
/** Keywords that do not constrain the value, and the one that `closeObject` replaces. */
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

/** Anthropic refuses look-around, named groups, back references and word boundaries. */
const UNSUPPORTED_PATTERN = /\(\?(?!:)|\\[bB1-9]/;

/** Keywords of which Anthropic supports only some values. */
const PARTLY_SUPPORTED: ReadonlyMap<string, (value: Json) => boolean> = new Map(
  Object.entries<(value: Json) => boolean>({
    format: (value) => FORMATS.has(value),
    pattern: (value) => typeof value === "string" && !UNSUPPORTED_PATTERN.test(value),
    minItems: (value) => value === 0 || value === 1,
  }),
);

/** @param schema schema of an answer or of a strict tool; not modified */
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
    else if (PLAIN.has(keyword) || PARTLY_SUPPORTED.get(keyword)?.(value)) members.push([keyword, value]);
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

/** Closes an object, as Anthropic requires; notes in the description that it was open. */
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

/** Whether the references of a schema form a cycle. */
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
 * Merges `anyOf`, `oneOf` and `allOf` at the root, because Anthropic requires a plain object there for tools. Only what
 * every alternative requires stays required.
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

/** Returns the names that every alternative requires; with `allOf`, those that any branch requires. */
function commonNames(branches: readonly JsonObject[], all: boolean): string[] {
  const lists = branches.map((branch) => namesIn(branch.required));
  if (all) return lists.flat();
  return (lists[0] ?? []).filter((name) => lists.every((list) => list.includes(name)));
}

/** Anthropic's limits over all strict schemas of a request. */
const STRICT_LIMITS = { tools: 20, optional: 24, unions: 16 };

/** Limits the number and size of the schemas of strict tools (src/formats/README.md#tools). */
export class StrictBudget {
  readonly #context: ClaudeContext;
  #tools = 0;
  #optional = 0;
  #unions = 0;

  constructor(context: ClaudeContext) {
    this.#context = context;
  }

  /** Returns the schema in the form that Anthropic enforces; `undefined` if it exceeds the limits. */
  admit(schema: JsonObject, tool: Tool): JsonObject | undefined {
    const { facts, reportLoss } = this.#context;
    const clean = sanitiseSchema(schema);
    const fits =
      facts.schemas &&
      !clean.recursive &&
      this.#tools + 1 <= STRICT_LIMITS.tools &&
      this.#optional + clean.optional <= STRICT_LIMITS.optional &&
      this.#unions + clean.unions <= STRICT_LIMITS.unions;
    if (!fits) {
      reportLoss("dropped", toolPath(tool, "strict"), "the schema is not enforced");
      return undefined;
    }
    this.#tools++;
    this.#optional += clean.optional;
    this.#unions += clean.unions;
    if (clean.changed)
      reportLoss("converted", toolPath(tool, "parameters"), "constraints are described, not enforced");
    return clean.schema;
  }
}
