/** The beginning of prompts, which a provider keeps for later requests: explicit caches of the Gemini API. */
import type { CacheAnswer, CacheRequest } from "../../core/cached-content.ts";
import { KindFault, type ModelKind } from "../../core/model-kind.ts";
import { caches, sizeOf } from "./dialect.ts";
import { keeps } from "./keeps.ts";
import { cacheRoute } from "./route.ts";

function complete(answer: CacheAnswer): CacheAnswer {
  if (answer.usage?.input === undefined) throw new KindFault("did not say how many tokens it keeps");
  return answer;
}

export const cache: ModelKind<CacheRequest, CacheAnswer> = {
  id: "cache",
  lacks: "keeps no prompts",
  mock: "chat",
  routes: [cacheRoute],
  dialects: [caches],
  keeps,
  sizeOf,
  complete,
};
