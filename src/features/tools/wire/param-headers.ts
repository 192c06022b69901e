/** Arguments of a tool that its schema wants in headers too: `x-mcp-header` (revision 2026-07-28, Tools). */
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import { decodeValue, encodeValue } from "./header-values.ts";

/** An argument and its header, `Mcp-Param-NAME`. */
export interface ParamHeader {
  readonly path: readonly string[];
  readonly name: string;
}

const MARK = "x-mcp-header";
const PREFIX = "mcp-param-";
const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/;
const TYPES = new Set<unknown>(["string", "integer", "boolean"]);

/** @returns the headers, or the clause that says why the definition of the tool is invalid */
export function paramHeadersOf(inputSchema: Json | undefined): readonly ParamHeader[] | string {
  // Most tools have none, and their schemas may be large.
  if (!JSON.stringify(inputSchema ?? null).includes(`"${MARK}"`)) return [];
  const found: ParamHeader[] = [];
  const fault = read(inputSchema, [], true, found);
  return fault ?? found;
}

function read(
  schema: Json | undefined,
  path: readonly string[],
  isReachable: boolean,
  found: ParamHeader[],
): string | undefined {
  if (Array.isArray(schema)) return firstFault(schema, (one) => read(one, path, false, found));
  if (!isObject(schema)) return undefined;
  if (MARK in schema) {
    const fault = add(schema, path, isReachable, found);
    if (fault) return fault;
  }
  return firstFault(Object.entries(schema), ([keyword, value]) => {
    if (keyword === "properties" && isObject(value))
      return firstFault(Object.entries(value), ([name, one]) =>
        read(one, [...path, name], isReachable, found),
      );
    return VALUES.has(keyword) ? undefined : read(value, [...path, keyword], false, found);
  });
}

/** Keywords whose values are data, not schemas. */
const VALUES = new Set([MARK, "const", "default", "enum", "example", "examples"]);

function add(
  schema: JsonObject,
  path: readonly string[],
  isReachable: boolean,
  found: ParamHeader[],
): string | undefined {
  const name = schema[MARK];
  const at = `the argument ${path.join(".") || "(all)"} has ${MARK}`;
  if (!isReachable || path.length === 0) return `${at}, which only properties of properties may have`;
  if (typeof name !== "string" || !TOKEN.test(name)) return `${at} that is no name of a header`;
  if (!TYPES.has(schema["type"])) return `${at}, but is no string, integer or boolean`;
  if (found.some((one) => one.name.toLowerCase() === name.toLowerCase())) return `${at} that another one has`;
  found.push({ path, name });
  return undefined;
}

function firstFault<Value>(
  values: readonly Value[],
  faultOf: (value: Value) => string | undefined,
): string | undefined {
  for (const value of values) {
    const fault = faultOf(value);
    if (fault) return fault;
  }
  return undefined;
}

/** The headers for arguments. */
export function headersFor(params: readonly ParamHeader[], args: Json | undefined): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const { path, name } of params) {
    const text = textOf(valueAt(args, path));
    if (text !== undefined) headers[PREFIX + name.toLowerCase()] = encodeValue(text);
  }
  return headers;
}

/** @returns the clause that says why headers do not agree with the arguments; undefined where they do */
export function mismatch(
  params: readonly ParamHeader[],
  args: Json | undefined,
  headers: Readonly<Record<string, string>>,
): string | undefined {
  return firstFault(params, ({ path, name }) => {
    const sent = headers[PREFIX + name.toLowerCase()];
    const value = valueAt(args, path);
    const wanted = textOf(value);
    const header = `Mcp-Param-${name}`;
    if (wanted === undefined)
      return sent === undefined ? undefined : `the header ${header} has a value, and the argument has none`;
    if (sent === undefined) return `the header ${header} is missing`;
    const decoded = decodeValue(sent);
    if (decoded === undefined) return `the header ${header} has a value that is not valid`;
    const isSame = typeof value === "number" ? sameNumber(decoded, value) : decoded === wanted;
    return isSame ? undefined : `the header ${header} differs from the argument ${path.join(".")}`;
  });
}

function sameNumber(text: string, value: number): boolean {
  return /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text) && Number(text) === value;
}

function valueAt(args: Json | undefined, path: readonly string[]): Json | undefined {
  let value = args;
  for (const name of path) value = isObject(value) ? value[name] : undefined;
  return value;
}

/** `null` and absent arguments have no header. */
function textOf(value: Json | undefined): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "boolean" || Number.isSafeInteger(value) ? String(value) : undefined;
}
