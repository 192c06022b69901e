/** The effect of a host's deviations on the capabilities of its models through weir. */
import type { Abilities, Modality, ModelFacts } from "../../core/model-facts.ts";
import type { Traits } from "../../core/provider.ts";

const ABILITIES = [
  ["tools", "tools"],
  ["parallelToolCalls", "parallelTools"],
  ["forcedToolChoice", "forcedTools"],
  ["jsonMode", "jsonObject"],
] as const satisfies readonly (readonly [keyof Traits, keyof Abilities])[];

/**
 * Abilities that a model does not have at a host that lacks them.
 * @param isProbed the config says it: then it also knows what the host has
 */
export function factsOfTraits(traits: Traits, isProbed: boolean): ModelFacts | undefined {
  const abilities: Abilities = {};
  for (const [trait, ability] of ABILITIES) {
    const value = traits[trait];
    if (value === false || (value === true && isProbed)) abilities[ability] = value;
  }
  const { jsonSchema } = traits;
  if (jsonSchema === "json-object" || jsonSchema === "prompt") abilities.jsonSchema = false;
  if (jsonSchema === "native" && isProbed) abilities.jsonSchema = true;
  return Object.keys(abilities).length > 0 ? { abilities } : undefined;
}

/** The facts without the kinds of content that the host refuses. */
export function withoutRefused(facts: ModelFacts | undefined, traits: Traits): ModelFacts | undefined {
  const refused: Modality[] = [];
  if (traits.images === false) refused.push("image");
  if (traits.files === false) refused.push("file");
  if (!facts?.input || refused.length === 0) return facts;
  return { ...facts, input: facts.input.filter((kind) => !refused.includes(kind)) };
}
