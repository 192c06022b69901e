/** Kinds of values that several options share. */
import { Type } from "@sinclair/typebox";
import type { Secret } from "../../core/secret.ts";

/** A section with a fixed set of options: an unknown one is an error. */
export const CLOSED = { additionalProperties: false };

export const secret = (description: string) =>
  Type.Unsafe<Secret>(Type.String({ writeOnly: true, description }));

/** A duration of at most one day. */
export const milliseconds = (fallback: number, description: string) =>
  Type.Integer({ minimum: 1, maximum: 86_400_000, default: fallback, description });

export const oneOf = <const Word extends string>(words: readonly Word[], options: object) =>
  Type.Unsafe<Word>(
    Type.Union(
      words.map((word) => Type.Literal(word)),
      options,
    ),
  );

/** Headers that the gateway sets itself; another value would break the request's framing (RFC 9110, RFC 9112). */
const OWN_HEADERS = new Set(
  "host connection content-length content-type transfer-encoding te trailer upgrade expect keep-alive accept accept-encoding".split(
    " ",
  ),
);

/** The fault of a header that the config adds to requests. */
export function headerFault(name: string, value: string): string | undefined {
  if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(name))
    return "a header's name must consist of letters, digits and dashes";
  if (OWN_HEADERS.has(name.toLowerCase())) return `header ${name} is set by weir and cannot be configured`;
  return /^[\t\x20-\x7e]*$/.test(value)
    ? undefined
    : `header ${name} must have a value of printable ASCII characters`;
}
