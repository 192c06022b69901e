/** OpenAI's own document as the judge of chat requests: the part of JSON schema it uses, and no more. */
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";

const FILE = resolve(import.meta.dir, "../../../shared/openapi/openai.openapi.json");

type Schema = Record<string, unknown>;

let loaded: Schema | undefined;

/** Whether the document is there. */
export const haveDocument = existsSync(FILE);

/** The first fault of a chat request, with its path; none when it validates. */
export function chatRequestFaults(body: unknown): string[] {
  loaded ??= JSON.parse(readFileSync(FILE, "utf8")) as Schema;
  const fault = faultOf(body, { $ref: "#/components/schemas/CreateChatCompletionRequest" }, "");
  return fault ? [`OpenAI's document: ${fault}`] : [];
}

function resolveReference(reference: string): Schema {
  const names = reference.slice(2).split("/");
  return names.reduce<Schema>((at, name) => at[name] as Schema, loaded!);
}

type Check = (value: unknown, schema: Schema, path: string) => string | undefined;

/** In the order in which they are tried. */
const CHECKS: Record<string, Check> = {
  $ref: (value, schema, path) => faultOf(value, resolveReference(schema["$ref"] as string), path),
  allOf: (value, schema, path) => firstOf(schema["allOf"] as Schema[], (each) => faultOf(value, each, path)),
  anyOf: (value, schema, path) => faultOfChoice(value, schema["anyOf"] as Schema[], path),
  oneOf: (value, schema, path) => faultOfChoice(value, schema["oneOf"] as Schema[], path),
  type: (value, schema, path) => {
    const types = [schema["type"]].flat() as string[];
    return types.some((type) => isOfType(value, type))
      ? undefined
      : `${path || "body"} is not ${types.join("|")}`;
  },
  enum: (value, schema, path) =>
    (schema["enum"] as unknown[]).includes(value) ? undefined : `${path} is ${JSON.stringify(value)}`,
  minimum: (value, schema, path) =>
    typeof value === "number" && value < (schema["minimum"] as number) ? `${path} is too small` : undefined,
  maximum: (value, schema, path) =>
    typeof value === "number" && value > (schema["maximum"] as number) ? `${path} is too large` : undefined,
  maxLength: (value, schema, path) =>
    typeof value === "string" && value.length > (schema["maxLength"] as number)
      ? `${path} is too long`
      : undefined,
  minItems: (value, schema, path) =>
    Array.isArray(value) && value.length < (schema["minItems"] as number)
      ? `${path} is too short`
      : undefined,
  maxItems: (value, schema, path) =>
    Array.isArray(value) && value.length > (schema["maxItems"] as number) ? `${path} is too long` : undefined,
  items: (value, schema, path) =>
    Array.isArray(value)
      ? firstOf(value.entries(), ([index, item]) =>
          faultOf(item, schema["items"] as Schema, `${path}[${index}]`),
        )
      : undefined,
  required: (value, schema, path) =>
    isObject(value)
      ? firstOf(schema["required"] as string[], (name) =>
          value[name] === undefined ? `${path}.${name} is missing` : undefined,
        )
      : undefined,
  properties: (value, schema, path) =>
    isObject(value)
      ? firstOf(Object.entries(schema["properties"] as Record<string, Schema>), ([name, each]) =>
          value[name] === undefined ? undefined : faultOf(value[name], each, `${path}.${name}`),
        )
      : undefined,
};

function faultOf(value: unknown, schema: Schema, path: string): string | undefined {
  if (value === null && schema["nullable"] === true) return undefined;
  return firstOf(Object.entries(CHECKS), ([keyword, check]) =>
    keyword in schema ? check(value, schema, path) : undefined,
  );
}

/** The document's unions overlap, so that one that fits is enough; the fault that goes deepest is the telling one. */
function faultOfChoice(value: unknown, choices: Schema[], path: string): string | undefined {
  const faults = choices.map((choice) => faultOf(value, choice, path));
  if (faults.includes(undefined)) return undefined;
  return faults.sort((left, right) => depth(right!) - depth(left!))[0];
}

function depth(fault: string): number {
  return fault.split(/[.[]/).length;
}

function firstOf<Item>(items: Iterable<Item>, fault: (item: Item) => string | undefined): string | undefined {
  for (const item of items) {
    const found = fault(item);
    if (found) return found;
  }
  return undefined;
}

function isOfType(value: unknown, type: string): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isObject(value);
  if (type === "integer") return Number.isInteger(value);
  return typeof value === type;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
