/** Lets a call pass two tapes. */
import type { CallTape } from "./tape.ts";

/** @param outer gets what the client gets */
export function bothTapes(outer: CallTape | undefined, inner: CallTape | undefined): CallTape | undefined {
  if (!outer || !inner) return outer ?? inner;
  return {
    isAlone: outer.isAlone || inner.isAlone,
    take: (taped, open) => outer.take(taped, () => inner.take(taped, open)),
  };
}
