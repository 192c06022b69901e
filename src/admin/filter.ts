/** The calls that an operation is about, as its request names them. */
import { isWithin } from "../ledger/keys/path.ts";
import type { Filter } from "../keeper/reports/shapes.ts";
import { findKey } from "./entries.ts";
import { patternsFor } from "./model-sets.ts";
import { invalid } from "../operator/errors.ts";
import type { AdminRequest } from "./operation.ts";

/** Models as a request names them: one text, which may be a set. */
interface Named {
  model?: string;
  asked?: string;
}
type Patterns = { [Name in keyof Named]: readonly string[] };

/**
 * The filter with the id of its key and the patterns of its models, and without calls that the caller may not see.
 * @throws AdminError 400, 404
 */
export function filterOf<Wanted extends Omit<Filter, "within" | "model"> & Named>(
  given: Pick<AdminRequest, "books" | "caller">,
  { key, model, asked, ...filter }: Wanted,
): Omit<Wanted, "key" | keyof Named> & Pick<Filter, "within" | "key"> & Patterns {
  const { from, to } = filter;
  if (from !== undefined && to !== undefined && to < from) throw invalid("to is before from.", "?to");
  return {
    ...filter,
    within: given.caller.path,
    ...(model !== undefined && { model: anyOf(given, model, "?model") }),
    ...(asked !== undefined && { asked: anyOf(given, asked, "?asked") }),
    ...(key !== undefined && { key: findKey(given, key).id }),
  };
}

/** Patterns of which one matches: `claude*|gpt-*`. @throws AdminError 400 */
function anyOf(given: Pick<AdminRequest, "books">, text: string, path: string): string[] {
  return text
    .split("|")
    .filter((one) => one !== "")
    .flatMap((one) => patternsFor(given, one, path));
}

/** Whether the caller may see a call. One without a key has no path: it belongs to the whole gateway. */
export function seesCall(
  { caller }: Pick<AdminRequest, "caller">,
  { path = "/" }: { path?: string },
): boolean {
  return isWithin(path, caller.path);
}
