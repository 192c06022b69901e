/** Converts written values: texts of flags and variables, references in the file, secrets. */
import type { TSchema } from "@sinclair/typebox";
import { Secret } from "../core/secret.ts";
import type { Path } from "./error.ts";
import type { References } from "./references.ts";
import { holdsSecret, memberOf } from "./shape.ts";
import { type Sources, substitute } from "./substitute.ts";

/** Converts a text to the schema's type. A text that does not fit stays a text, and the schema check reports it. */
export function readText(schema: TSchema | undefined, text: string): unknown {
  if (schema?.["type"] === "integer" && /^[+-]?\d{1,15}$/.test(text)) return Number(text);
  if (schema?.["type"] === "boolean" && /^(true|false)$/i.test(text)) return text.toLowerCase() === "true";
  return text;
}

/**
 * A copy of a file's value with every reference replaced.
 * @throws ConfigError for a variable that is not set or a file that cannot be read
 */
export function substituteAll(
  value: unknown,
  schema: TSchema | undefined,
  sources: Sources,
  locate: (path: Path) => string,
  path: Path = [],
): unknown {
  if (typeof value === "string") {
    if (!value.includes("${")) return value;
    const secret = schema !== undefined && holdsSecret(schema);
    const text = substitute(value, sources, { at: () => locate(path), path, secret });
    return text === value ? value : readText(schema, text);
  }
  const member = (step: string | number, inner: unknown) =>
    substituteAll(inner, schema && memberOf(schema, step), sources, locate, [...path, step]);
  if (Array.isArray(value)) return value.map((item, index) => member(index, item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, member(key, inner)]));
}

/**
 * A copy in which every text that the schema marks as secret is wrapped in a {@link Secret}.
 * @param references whose values the texts follow
 */
export function sealSecrets(schema: TSchema, value: unknown, references?: References): unknown {
  if (typeof value === "string")
    return schema["writeOnly"] === true ? new Secret(references?.live(value) ?? value.trim()) : value;
  const member = (step: string | number, inner: unknown) => {
    // A secret whose members have no schema is secret in all of them.
    const memberSchema = memberOf(schema, step) ?? (schema["writeOnly"] === true ? schema : undefined);
    return memberSchema === undefined ? inner : sealSecrets(memberSchema, inner, references);
  };
  if (Array.isArray(value)) return value.map((item, index) => member(index, item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, member(key, inner)]));
}

/** Freezes a value and everything in it. */
export function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}
