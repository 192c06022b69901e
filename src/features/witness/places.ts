/** Finds the observations that a person names: by id, by a time, or by a day. */
import type { Sql } from "../../keeper/store/sql.ts";
import type { Observation } from "./observation.ts";
import { between, byId, newest } from "./rows.ts";

const DAY_MS = 86_400_000;

/** What one side of a comparison stands for, the oldest first; at least one. */
export type Place = readonly [Observation, ...Observation[]];

/** @throws Error with a sentence if there is nothing there */
export async function placeOf(sql: Sql, word: string, model: string | undefined): Promise<Place> {
  if (word.startsWith("wit_")) {
    const found = await byId(sql, word);
    if (!found) throw new Error(`There is no observation ${word.slice(0, 40)}.`);
    return [found];
  }
  const at = Date.parse(word);
  if (Number.isNaN(at))
    throw new Error(
      `${word.slice(0, 40)} is no id of an observation, no time and no day such as 2026-11-29.`,
    );
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(word);
  const named = model ?? (await onlyModel(sql, isDay ? at + DAY_MS : at + 1));
  const [first, ...rest] = isDay
    ? await between(sql, named, at, at + DAY_MS)
    : await newest(sql, { model: named, limit: 1, until: at + 1 });
  if (!first) throw new Error(`There is no observation of ${named} ${isDay ? "on" : "before"} ${word}.`);
  return [first, ...rest];
}

/** @throws Error with a sentence if there are several */
async function onlyModel(sql: Sql, until: number): Promise<string> {
  const rows = await sql.all<{ model: string }>(
    "SELECT DISTINCT model FROM witness_observations WHERE at < $1 ORDER BY model LIMIT 3",
    [until],
  );
  if (rows.length === 1) return rows[0]!.model;
  if (rows.length === 0) throw new Error("There is no observation from before that time.");
  throw new Error(`Name one of the models with --model, such as ${rows[0]!.model}.`);
}
