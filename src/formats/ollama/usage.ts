/** Token counts of this format: the input in one sum, whether or not a cache held it. */
import type { Usage } from "../../core/events.ts";
import type { JsonObject } from "../../core/json.ts";

export function encodeUsage({ input, cacheRead, cacheWrite, output }: Usage): JsonObject {
  return { prompt_eval_count: input + cacheRead + cacheWrite, eval_count: output };
}
