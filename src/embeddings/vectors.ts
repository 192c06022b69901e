/** Reads vectors of unchecked JSON. */
import type { Json } from "../core/json.ts";

/** The value if it is a list of numbers. */
export function vector(value: Json | undefined): number[] | undefined {
  return Array.isArray(value) && value.every((item) => typeof item === "number") ? value : undefined;
}

/** The vectors of a list; `undefined` if one item has none. */
export function vectorsOf(
  items: Json | undefined,
  read: (item: Json) => ArrayLike<number> | undefined,
): ArrayLike<number>[] | undefined {
  if (!Array.isArray(items)) return undefined;
  const vectors = items.map(read);
  return vectors.every((found) => found !== undefined) ? vectors : undefined;
}
