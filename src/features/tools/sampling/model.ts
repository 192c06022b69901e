/** Which model answers a server. */
import type { ListedModel } from "../../../core/model-listing.ts";
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";

/** Hints that are read, and the longest one. */
const MOST_HINTS = 10;
const LONGEST_HINT = 200;

/** The hints of a request, the best one first. */
export function hintsOf({ modelPreferences }: JsonObject): string[] {
  const given: readonly Json[] =
    isObject(modelPreferences) && Array.isArray(modelPreferences["hints"]) ? modelPreferences["hints"] : [];
  return given.slice(0, MOST_HINTS).flatMap((hint) => {
    const name = isObject(hint) ? hint["name"] : undefined;
    return typeof name === "string" && name !== "" && name.length <= LONGEST_HINT ? [name.toLowerCase()] : [];
  });
}

/**
 * The first hint decides that is the name of a model, or a part of one. @param models what the caller may use
 * @returns undefined if no hint fits
 */
export function hinted(hints: readonly string[], models: readonly ListedModel[]): string | undefined {
  const able = models.filter(({ facts }) => facts?.output?.includes("text") ?? true);
  for (const hint of hints) {
    const names = able.map(({ id }) => id);
    const found =
      names.find((id) => id.toLowerCase() === hint) ?? names.find((id) => id.toLowerCase().includes(hint));
    if (found !== undefined) return found;
  }
  return undefined;
}
