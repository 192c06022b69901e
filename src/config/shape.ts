/** Checks a value against its schema and describes the faults. */
import type { TSchema } from "@sinclair/typebox";
import { Value, ValueErrorType, type ValueError } from "@sinclair/typebox/value";
import { ConfigError, type Fault, type Path } from "./error.ts";
import { isSection, listOptions } from "./options.ts";
import { describeLeftOut } from "../core/left-out.ts";
import { suggest } from "../core/suggest.ts";

/** All faults. @param base path of the value inside the configuration */
export function findFaults(schema: TSchema, value: unknown, base: Path = []): Fault[] {
  if (Value.Check(schema, value)) return [];
  return [...Value.Errors(schema, value)].flatMap(inside).map((error) => toFault(error, schema, base));
}

/**
 * Throws the fault of the first file, and in it that with the lowest line number.
 * @param files names of the files in their order
 */
export function throwFirst(
  faults: readonly Fault[],
  locate: (path: Path) => string,
  files: readonly string[] = [],
): void {
  const places = faults.map((fault) => {
    const at = locate(fault.path);
    const line = /:?(\d+)$/.exec(at);
    return { fault, at, file: files.indexOf(at.slice(0, line?.index)), line: Number(line?.[1] ?? 0) };
  });
  const [first] = places.toSorted((a, b) => a.file - b.file || a.line - b.line);
  if (first) throw new ConfigError(first.at, first.fault.clause, first.fault.path);
}

/** For a union, reports the errors of its object variant when the value is an object: they are more precise. */
function inside(error: ValueError): ValueError[] {
  if (error.type !== ValueErrorType.Union || !isGroup(error.value)) return [error];
  const variants: TSchema[] = error.schema["anyOf"];
  const group = variants.findIndex((variant) => variant["type"] === "object");
  const errors = error.errors[group];
  return errors === undefined ? [error] : [...errors].flatMap(inside);
}

function toFault(error: ValueError, root: TSchema, base: Path): Fault {
  const path = [...base, ...readPointer(error.path, root)];
  if (error.type === ValueErrorType.ObjectAdditionalProperties)
    return mayBeSecret(path, error)
      ? { path: path.slice(0, -1), clause: `${nameOf(path.slice(0, -1))} holds an unknown option` }
      : { path, clause: unknownOption(path, error, root) };
  const name = nameOf(path);
  if (error.type === ValueErrorType.ObjectRequiredProperty) return { path, clause: `${name} is missing` };
  return {
    path,
    clause: `${name} must be ${expected(error.schema)}, but is ${actual(error.schema, error.value)}`,
  };
}

/**
 * Whether an unknown name may be a credential, as in `keys: [{"alice:secret": …}]`. Messages do not repeat names in
 * objects that hold secrets, unless the name looks like an option.
 */
function mayBeSecret(path: Path, { schema }: ValueError): boolean {
  return holdsSecret(schema) && !/^[A-Za-z_-]{1,30}$/.test(String(path.at(-1)));
}

function unknownOption(path: Path, error: ValueError, root: TSchema): string {
  const name = String(path.at(-1));
  const leftOut = path.length === 1 ? describeLeftOut("sections", name) : undefined;
  if (leftOut !== undefined) return leftOut;
  const siblings = Object.keys(error.schema["properties"] ?? {});
  const near = suggest(name, siblings);
  if (near !== undefined) return `unknown option ${name}, did you mean ${near}?`;
  const elsewhere = new Map(
    listOptions(root).map((option) => [String(option.path.at(-1)), option.path.join(".")]),
  );
  const leaf = suggest(name, elsewhere.keys());
  return `unknown option ${name}${leaf === undefined ? "" : `, did you mean ${elsewhere.get(leaf)}?`}`;
}

/** The last step of a path, with the list's name when it is an index: `keys[0]`. */
export function nameOf(path: Path): string {
  const last = path.at(-1);
  if (last === undefined) return "the configuration";
  if (typeof last === "string") return last;
  return `${nameOf(path.slice(0, -1))}[${last}]`;
}

/** The values that a schema accepts, for messages: `an integer between 0 and 65535`. */
export function expected(schema: TSchema): string {
  const words: unknown = schema["x-expects"];
  if (typeof words === "string") return words;
  const variants: TSchema[] | undefined = schema["anyOf"];
  if (variants) return `one of ${variants.map((variant) => String(variant["const"])).join(", ")}`;
  const kind = { integer: "an integer", number: "a number" }[String(schema["type"])];
  if (kind !== undefined) return kind + rangeOf(schema);
  if (schema["type"] === "object")
    return isSection(schema) ? "a group of options" : "a map of names to values";
  return (
    { boolean: "true or false", array: "a list", string: "a text" }[String(schema["type"])] ??
    "something else"
  );
}

/** ` between 0 and 65535`, ` of at least 1`; empty without limits. */
function rangeOf({ minimum, maximum }: TSchema): string {
  if (minimum === undefined) return maximum === undefined ? "" : ` of at most ${maximum}`;
  return maximum === undefined ? ` of at least ${minimum}` : ` between ${minimum} and ${maximum}`;
}

/** The value that was found, for messages; a text that may be secret is not repeated. */
function actual(schema: TSchema, value: unknown): string {
  if (value === null || value === undefined) return "empty";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (typeof value === "object") return "a map";
  if (holdsSecret(schema)) return nameless(schema, value);
  if (typeof value === "string") return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
  return String(value);
}

/** The kind of a value, without the value. */
function nameless(schema: TSchema, value: unknown): string {
  if (typeof value !== "string") return `a ${typeof value}`;
  return schema["type"] === "string" ? "another text" : "a text";
}

/** Whether a value of the schema is a secret or may contain one. */
export function holdsSecret(schema: TSchema): boolean {
  const parts: (TSchema | undefined)[] = [
    ...(schema["anyOf"] ?? []),
    ...Object.values<TSchema>(schema["properties"] ?? {}),
    ...Object.values<TSchema>(schema["patternProperties"] ?? {}),
    schema["items"],
  ];
  return schema["writeOnly"] === true || parts.some((part) => part !== undefined && holdsSecret(part));
}

function isGroup(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** JSON pointer to path; steps into lists become numbers. */
function readPointer(pointer: string, root: TSchema): Path {
  const path: (string | number)[] = [];
  let schema: TSchema | undefined = root;
  for (const part of pointer.split("/").slice(1)) {
    const step = part.replaceAll("~1", "/").replaceAll("~0", "~");
    const inList: boolean = schema?.["type"] === "array";
    path.push(inList ? Number(step) : step);
    schema = schema === undefined ? undefined : memberOf(schema, step);
  }
  return path;
}

/** The schema of a member of a group, a map or a list. */
export function memberOf(schema: TSchema, step: string | number): TSchema | undefined {
  if (schema["type"] === "array") return schema["items"];
  const properties: Record<string, TSchema> = schema["properties"] ?? {};
  if (Object.hasOwn(properties, step)) return properties[step];
  const patterns: Record<string, TSchema> = schema["patternProperties"] ?? {};
  const variants: TSchema[] = schema["anyOf"] ?? [];
  const members = variants.map((variant) => memberOf(variant, step));
  const others: TSchema | boolean | undefined = schema["additionalProperties"];
  const any = typeof others === "object" ? [others] : [];
  return [...members, ...Object.values(patterns), ...any].find((member) => member !== undefined);
}
