/** Whether a JSON schema says the same on the other side. */
import { canonical } from "./pieces.ts";

type Schema = Record<string, unknown>;

/**
 * What is different. `loose`: only what every provider can enforce is compared (types, members, required ones, values),
 * because constraints a provider does not know are moved into descriptions, and `oneOf` becomes `anyOf`.
 */
export function schemaFaults(own: unknown, other: unknown, loose: boolean): string[] {
  const [left, right] = loose ? [core(own), core(other)] : [whole(own), whole(other)];
  if (canonical(left) === canonical(right)) return [];
  return [`${canonical(left).slice(0, 80)} became ${canonical(right).slice(0, 80)}`];
}

/** A schema that says nothing is the one of an object without members. */
function whole(schema: unknown): Schema {
  const { properties, ...rest } = objectOf(schema);
  const members = objectOf(properties);
  return { type: "object", ...rest, ...(Object.keys(members).length > 0 && { properties: members }) };
}

const KEPT = ["type", "enum", "const", "$ref"];

function core(value: unknown): unknown {
  const schema = objectOf(value);
  const kept: Schema = {};
  for (const name of KEPT) if (schema[name] !== undefined) kept[name] = schema[name];
  const required = schema["required"];
  if (Array.isArray(required) && required.length > 0) kept["required"] = [...required].sort();
  const branches = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(branches)) kept["anyOf"] = branches.map(core);
  if (Array.isArray(schema["allOf"])) kept["allOf"] = schema["allOf"].map(core);
  if (schema["items"] !== undefined) kept["items"] = core(schema["items"]);
  for (const name of ["properties", "$defs", "definitions"]) {
    const members = Object.entries(objectOf(schema[name])).map(([key, member]) => [key, core(member)]);
    if (members.length > 0) kept[name] = Object.fromEntries(members);
  }
  if (kept["properties"] !== undefined) kept["type"] ??= "object";
  return kept;
}

function objectOf(value: unknown): Schema {
  return typeof value === "object" && value !== null ? (value as Schema) : {};
}
