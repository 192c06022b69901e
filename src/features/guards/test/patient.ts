/** Time for services that a test asks: the default of one second is short on a busy machine. */
import type { Json, JsonObject } from "../../../core/json.ts";
import { ASKED } from "../ask/section.ts";

/** @returns the guards, each that asks with a timeout of 20 seconds unless it names its own */
export function patient(guards: JsonObject): JsonObject {
  const patientOf = (guard: Json): Json =>
    asks(guard) ? { timeout: "20s", ...(guard as JsonObject) } : guard;
  return Object.fromEntries(Object.entries(guards).map(([name, guard]) => [name, patientOf(guard!)]));
}

function asks(guard: Json): boolean {
  if (typeof guard !== "object" || guard === null || Array.isArray(guard)) return false;
  const { find } = guard;
  return ASKED.some((option) => option in guard) || (Array.isArray(find) && find.some(asks));
}
