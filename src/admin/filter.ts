/** The calls that an operation is about, as its request names them. */
import { isWithin } from "../ledger/keys/path.ts";
import type { Filter } from "../keeper/books/reports/types.ts";
import { findKey } from "./entries.ts";
import { invalid } from "./errors.ts";
import type { AdminRequest } from "./operation.ts";

/** The filter with the id of its key, and without calls that the caller may not see. @throws AdminError 400, 404 */
export function filterOf<Wanted extends Omit<Filter, "within">>(
  given: Pick<AdminRequest, "books" | "caller">,
  { key, ...filter }: Wanted,
): Omit<Wanted, "key"> & Pick<Filter, "within" | "key"> {
  const { from, to } = filter;
  if (from !== undefined && to !== undefined && to < from) throw invalid("to is before from.", "?to");
  return {
    ...filter,
    within: given.caller.path,
    ...(key !== undefined && { key: findKey(given, key).id }),
  };
}

/** Whether the caller may see a call. One without a key has no path: it belongs to the whole gateway. */
export function seesCall(
  { caller }: Pick<AdminRequest, "caller">,
  { path = "/" }: { path?: string },
): boolean {
  return isWithin(path, caller.path);
}
