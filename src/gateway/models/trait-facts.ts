/** What the deviations of a host mean for what its models can do through weir. */
import type { Abilities, Modality, ModelFacts } from "../../core/model-facts.ts";
import type { Traits } from "../../core/provider.ts";

/** Abilities that a model does not have at a host that lacks them. */
export function factsOfTraits(traits: Traits): ModelFacts | undefined {
  const { parallelToolCalls, forcedToolChoice, jsonSchema } = traits;
  const abilities: Abilities = {
    ...(parallelToolCalls === false && { parallelTools: false }),
    ...(forcedToolChoice === false && { forcedTools: false }),
    ...((jsonSchema === "json-object" || jsonSchema === "prompt") && { jsonSchema: false }),
    ...(jsonSchema === "prompt" && { jsonObject: false }),
  };
  return Object.keys(abilities).length > 0 ? { abilities } : undefined;
}

/** The facts without the kinds of content that the host refuses. */
export function withoutRefused(facts: ModelFacts | undefined, traits: Traits): ModelFacts | undefined {
  const refused: Modality[] = [
    ...(traits.images === false ? (["image"] as const) : []),
    ...(traits.files === false ? (["file"] as const) : []),
  ];
  if (!facts?.input || refused.length === 0) return facts;
  return { ...facts, input: facts.input.filter((kind) => !refused.includes(kind)) };
}
