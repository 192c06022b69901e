/** Where hosts of the format listen, and how they list models. */
import type { DefaultEndpoint } from "../../core/default-endpoint.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { list } from "../shared/read.ts";
import { bareModelName } from "../shared/resource-name.ts";
import type { ModelFacts } from "../../core/model-facts.ts";
import { flagsAt, knownAbilities, knownFacts, nameAt, wholeAt } from "../shared/listed.ts";

const METHODS = {
  json: "/models/{model}:generateContent",
  stream: "/models/{model}:streamGenerateContent?alt=sse",
  modelFor: bareModelName,
};

export const endpoint: DefaultEndpoint = {
  path: METHODS,
  // Like Google's SDK, weir expects a base URL without the version.
  alone: {
    path: { ...METHODS, json: `/v1beta${METHODS.json}`, stream: `/v1beta${METHODS.stream}` },
    models: "/v1beta/models?pageSize=1000",
    auth: (key) => ({ "x-goog-api-key": key }),
    namesIn: (list: JsonObject) => entriesIn(list)?.map(nameOf),
    entriesIn,
  },
};

function entriesIn({ models }: JsonObject): readonly Json[] | undefined {
  return Array.isArray(models) ? models : undefined;
}

/** The name of a model that answers: without `models/`. Models that only embed are left out. */
function nameOf(model: Json): string | undefined {
  if (!isObject(model) || typeof model.name !== "string") return undefined;
  const methods = list(model.supportedGenerationMethods);
  if (methods.length > 0 && !methods.includes("generateContent")) return undefined;
  return bareModelName(model.name);
}

/** Facts about the model of an entry of `models.list`. */
export function factsIn(entry: JsonObject): ModelFacts | undefined {
  return knownFacts({
    name: nameAt(entry, ["displayName"]),
    contextWindow: wholeAt(entry, ["inputTokenLimit"]),
    maxOutput: wholeAt(entry, ["outputTokenLimit"]),
    abilities: knownAbilities(flagsAt(entry, [["reasoning", "thinking"]])),
  });
}
