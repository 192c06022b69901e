/** Paths of input items as the client wrote them, also after stored items came before them. */
import type { Json } from "../../../core/json.ts";

/** Number of stored items at the beginning of an input. */
const added = new WeakMap<readonly Json[], number>();

/** The input behind stored items. */
export function behindStored(stored: readonly Json[], own: readonly Json[]): Json[] {
  const all = [...stored, ...own];
  added.set(all, stored.length);
  return all;
}

/** The path of an item; for a stored one, the member that names the answer it belongs to. */
export function itemPath(items: readonly Json[], index: number): string {
  const own = index - (added.get(items) ?? 0);
  return own < 0 ? "previous_response_id" : `input[${own}]`;
}
