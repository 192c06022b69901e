/** Options as the process of the tools needs them. */
import { Secret } from "../../../core/secret.ts";

/** The same value with its secrets as texts. */
export function revealed<Value>(value: Value): Value {
  if (value instanceof Secret) return value.reveal() as Value;
  if (Array.isArray(value)) return value.map(revealed) as Value;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, revealed(one)])) as Value;
}
