/** What a list of models tells of one of them: `models.list` of the Gemini API. */
import type { JsonObject } from "../../../core/json.ts";
import type { ModelFacts } from "../../../core/model-facts.ts";
import { flagsAt, knownAbilities, knownFacts, nameAt, wholeAt } from "../../shared/listed.ts";

export function factsIn(entry: JsonObject): ModelFacts | undefined {
  return knownFacts({
    name: nameAt(entry, ["displayName"]),
    contextWindow: wholeAt(entry, ["inputTokenLimit"]),
    maxOutput: wholeAt(entry, ["outputTokenLimit"]),
    abilities: knownAbilities(flagsAt(entry, [["reasoning", "thinking"]])),
  });
}
