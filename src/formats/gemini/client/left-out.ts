/** Finds the members of a request that a translation leaves out. */
import type { JsonObject } from "../../../core/json.ts";
import type { LeftOut } from "../../../core/loss.ts";
import { camelCased, spelledIn } from "./spelling.ts";
import { REQUEST } from "./vocabulary.ts";

/** @returns the paths as the client spelled them */
export function* leftOut(given: JsonObject, sameFormat: boolean): Generator<LeftOut> {
  for (const { loss, path } of REQUEST.leftOut(camelCased(given), sameFormat))
    yield { loss, path: spelledIn(given, path) };
}
