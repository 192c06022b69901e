/** JSON whose numbers keep the text in which they were written. */
import type { Json } from "./json.ts";

/** Numbers that a JSON number of JavaScript may not hold: many digits, or an exponent. */
const RISKY = /\d{16}|\d[eE][+-]?\d/;

/**
 * Parses JSON so that writing it again gives the same numbers: a 64-bit integer stays one.
 * @returns such numbers as objects with the member `rawJSON`
 * @throws SyntaxError
 */
export function parseExact(text: string): Json {
  if (!RISKY.test(text)) return JSON.parse(text) as Json;
  return JSON.parse(text, exact as (key: string, value: unknown) => unknown) as Json;
}

/** The same with every number whose text would change, such as `0.10`. */
export function parseWithNumbers(text: string): Json {
  return JSON.parse(text, exact as (key: string, value: unknown) => unknown) as Json;
}

function exact(_key: string, value: unknown, { source }: { source?: string } = {}): unknown {
  return typeof value === "number" && source !== undefined && source !== String(value)
    ? (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(source)
    : value;
}
