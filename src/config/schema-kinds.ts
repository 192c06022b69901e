/** Kinds of values that several options share. */
import { Type } from "@sinclair/typebox";
import type { Secret } from "../core/secret.ts";

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
