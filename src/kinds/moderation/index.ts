/** Judgements of texts and images by the rules of a vendor. */
import { isObject } from "../../core/json.ts";
import { KindFault, type ModelKind } from "../../core/model-kind.ts";
import type { ModerationAnswer, ModerationRequest } from "../../core/moderation.ts";
import { moderationDialects } from "./dialects.ts";
import { moderationRoutes } from "./routes.ts";
import { sizeOfInputs } from "./size.ts";

function isResult(result: unknown): boolean {
  if (!isObject(result) || !isObject(result["categories"]) || !isObject(result["scores"] ?? {})) return false;
  return Object.values(result["categories"]).every((value) => typeof value === "boolean" || value === null);
}

/** A result for each input: one that is missing would pass as innocent. */
function complete(answer: ModerationAnswer, { inputs }: ModerationRequest): ModerationAnswer {
  // A program of a plugin may give anything.
  if (!Array.isArray(answer.results) || !answer.results.every(isResult))
    throw new KindFault("sent results without categories");
  if (answer.results.length !== inputs.length)
    throw new KindFault(`sent ${answer.results.length} results for ${inputs.length} inputs`);
  return answer;
}

export const moderation: ModelKind<ModerationRequest, ModerationAnswer> = {
  id: "moderation",
  lacks: "judges no texts",
  mock: "moderation",
  gives: [],
  routes: moderationRoutes,
  dialects: moderationDialects,
  sizeOf: sizeOfInputs,
  complete,
};
