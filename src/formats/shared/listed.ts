/** Reads entries of lists of models, which hosts write with members of their own. */
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import type { Abilities, Modality, ModelFacts } from "../../core/model-facts.ts";
import { MODALITIES } from "../../core/modalities.ts";

/** The value at a path such as `meta.n_ctx`. */
export function at(entry: JsonObject, path: string): Json | undefined {
  let value: Json | undefined = entry;
  for (const name of path.split(".")) value = isObject(value) ? value[name] : undefined;
  return value;
}

/** The first path with a positive integer. */
export function wholeAt(entry: JsonObject, paths: readonly string[]): number | undefined {
  return paths.map((path) => at(entry, path)).find(isPositive);
}

function isPositive(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

/** Longer names are texts. */
const MAX_NAME = 200;

/** The first path with a name for people. */
export function nameAt(entry: JsonObject, paths: readonly string[]): string | undefined {
  const isName = (value: unknown) => typeof value === "string" && value !== "" && value.length <= MAX_NAME;
  return paths.map((path) => at(entry, path)).find(isName) as string | undefined;
}

/** The day of the first path with a date: `2026-12-31` of `2026-12-31T00:00:00Z`. */
export function dayAt(entry: JsonObject, paths: readonly string[]): string | undefined {
  const days = paths.map((path) => at(entry, path)).map((value) => DAY.exec(String(value))?.[1]);
  return days.find((day) => day !== undefined);
}

const DAY = /^(\d{4}-\d{2}-\d{2})(?:T|$)/;

/** The value `true` or `false` at its path. */
export function flagsAt<Name extends string>(
  entry: JsonObject,
  paths: readonly (readonly [Name, string])[],
): Partial<Record<Name, boolean>> {
  const known = paths.map(([name, path]) => [name, at(entry, path)] as const);
  return Object.fromEntries(known.filter(([, value]) => typeof value === "boolean")) as Partial<
    Record<Name, boolean>
  >;
}

/** The modalities that a list names; undefined if it is none. */
export function modalitiesIn(value: Json | undefined): Modality[] | undefined {
  const known = Array.isArray(value) ? MODALITIES.filter((kind) => value.includes(kind)) : [];
  return known.length > 0 ? known : undefined;
}

/** Facts without members that are unknown; undefined if nothing is known. */
export function knownFacts(facts: { [Name in keyof ModelFacts]: ModelFacts[Name] | undefined }):
  ModelFacts | undefined {
  const known = Object.entries(facts).filter(([, value]) => value !== undefined);
  return known.length > 0 ? (Object.fromEntries(known) as ModelFacts) : undefined;
}

/** The abilities; undefined if none is known. */
export function knownAbilities(abilities: Abilities): Abilities | undefined {
  return Object.keys(abilities).length > 0 ? abilities : undefined;
}

/** Stands for a date of release that is not known, where clients need one. Unix seconds. */
export const SOME_DATE = 1_700_000_000;
