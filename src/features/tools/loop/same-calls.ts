/** Finds a model that calls the same tool with the same arguments again and again, and learns nothing new. */
import { isObject, type Json } from "../../../core/json.ts";
import type { Outcome } from "./results.ts";

/** So many equal calls with equal results are a loop. */
const MOST = 3;

export class SameCalls {
  readonly #seen = new Map<string, { result: bigint; count: number }>();

  /** @param input arguments @returns whether the calls go round in circles */
  note(name: string, input: Json, { text, isError }: Outcome): boolean {
    const key = `${name} ${canonicalText(input)}`;
    const result = Bun.hash.wyhash(`${isError} ${text}`) as bigint;
    const earlier = this.#seen.get(key);
    const count = earlier?.result === result ? earlier.count + 1 : 1;
    this.#seen.set(key, { result, count });
    return count >= MOST;
  }
}

/** JSON in which the order of members does not count. */
export function canonicalText(value: Json): string {
  return JSON.stringify(value, (_, inner: Json) =>
    isObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );
}
