/** Kinds of values that options share. */
import { Type } from "@sinclair/typebox";
import type { Secret } from "../core/secret.ts";

/** A group that knows all its members: a misspelt one is a mistake. */
export const CLOSED = { additionalProperties: false };

export const secret = (description: string) =>
  Type.Unsafe<Secret>(Type.String({ writeOnly: true, description }));

/** A duration up to a day. */
export const milliseconds = (fallback: number, description: string) =>
  Type.Integer({ minimum: 1, maximum: 86_400_000, default: fallback, description });

export const oneOf = <const Word extends string>(words: readonly Word[], options: object) =>
  Type.Unsafe<Word>(
    Type.Union(
      words.map((word) => Type.Literal(word)),
      options,
    ),
  );
