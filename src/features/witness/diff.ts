/** `diff A B`: the two sides, found and compared. */
import type { Sql } from "../../keeper/store/sql.ts";
import type { DiffView } from "./contracts.ts";
import type { Observation } from "./observation.ts";
import { placeOf } from "./places.ts";
import { compare } from "./sides.ts";

/** @throws Error with a sentence */
export async function diffOf(sql: Sql, a: string, b: string, model: string | undefined): Promise<DiffView> {
  const one = await placeOf(sql, a, model);
  const other = await placeOf(sql, b, model ?? (a.startsWith("wit_") ? one[0].model : undefined));
  const [older, newer] = one[0].number <= other[0].number ? [one, other] : [other, one];
  const [before, after] = [older.at(-1)!, newer.at(-1)!];
  if (before.model !== after.model)
    throw new Error(`${before.id} is of ${before.model}, and ${after.id} of ${after.model}.`);
  return { ...headOf(before, after), ...compare(before, after) } as DiffView;
}

function headOf(before: Observation, after: Observation) {
  return { model: after.model, before: before.id, after: after.id, beforeAt: before.at, afterAt: after.at };
}
