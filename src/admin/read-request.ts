/** Reads query and body of a request and checks them against the schemas of the operation. */
import type { TObject, TSchema } from "@sinclair/typebox";
import { Value, type ValueError } from "@sinclair/typebox/value";
import { AdminError, invalid } from "../operator/errors.ts";

/** Most bytes of a body. */
const MAX_BODY = 1024 * 1024;

/** @throws AdminError 400 for an unknown, repeated or invalid parameter */
export function readQuery(schema: TObject, search: URLSearchParams): Record<string, unknown> {
  const query: Record<string, unknown> = {};
  for (const [name, text] of search) {
    const member = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
    if (member === undefined) throw invalid(`There is no parameter ${quoted(name)}.`, `?${name}`);
    if (name in query) throw invalid(`The parameter ${quoted(name)} is given twice.`, `?${name}`);
    query[name] = parameterOf(member, text);
  }
  const complete = Value.Default(schema, query);
  check(schema, complete, "?");
  return complete as Record<string, unknown>;
}

/** @throws AdminError 400, 413 or 415 */
export async function readBody(schema: TSchema, request: Request, optional: boolean): Promise<unknown> {
  if (Number(request.headers.get("content-length") ?? 0) > MAX_BODY) throw tooLarge();
  const text = await request.text();
  if (text.length > MAX_BODY) throw tooLarge();
  if (text === "" && optional) return Value.Default(schema, {});
  if (text === "") throw invalid("The request needs a JSON body.");
  if (!request.headers.has("content-type"))
    throw new AdminError(415, "unsupported_media_type", "The body needs content-type application/json.");
  const body = Value.Default(schema, parse(text));
  check(schema, body, "");
  return body;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw invalid("The body is not valid JSON.");
  }
}

function check(schema: TSchema, value: unknown, prefix: "" | "?"): void {
  if (Value.Check(schema, value)) return;
  const fault = Value.Errors(schema, value).First();
  const pointer = fault?.path ?? "";
  const path = prefix === "?" ? `?${pointer.slice(1)}` : pointer || "/";
  throw invalid(`${path}: ${fault ? describe(fault) : "not valid"}.`, path);
}

/** The expectation. The value itself is never repeated: it may be a key. */
function describe({ schema, message }: ValueError): string {
  const variants: TSchema[] = schema["anyOf"] ?? [];
  const words = variants.flatMap(({ const: word }): unknown[] => (word === undefined ? [] : [word]));
  if (words.length > 0 && words.length === variants.length) return `expected one of ${words.join(", ")}`;
  // A regular expression says nothing to people.
  if (schema["pattern"] !== undefined) return `expected ${schema["x-expects"] ?? "another text"}`;
  return message[0]!.toLowerCase() + message.slice(1);
}

/** Parameters are text; numbers and lists are written in it. */
function parameterOf(schema: TSchema, text: string): unknown {
  const type: unknown = schema["type"];
  if (type === "array")
    return text
      .split(",")
      .map((part) => part.trim())
      .filter((part) => part !== "");
  if ((type === "integer" || type === "number") && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  if (type === "boolean" && (text === "true" || text === "false")) return text === "true";
  return text;
}

function tooLarge(): AdminError {
  return new AdminError(413, "request_too_large", `The body must have at most ${MAX_BODY} bytes.`);
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 60));
}
