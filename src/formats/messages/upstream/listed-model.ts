/** Facts about one model of a list: `GET /v1/models` of the Anthropic API. */
import type { JsonObject } from "../../../core/json.ts";
import type { Abilities, Modality, ModelFacts } from "../../../core/model-facts.ts";
import { at, dayAt, flagsAt, knownAbilities, knownFacts, nameAt, wholeAt } from "../../shared/listed.ts";

const FLAGS: readonly (readonly [keyof Abilities, string])[] = [
  ["jsonSchema", "capabilities.structured_outputs.supported"],
  ["reasoning", "capabilities.thinking.supported"],
  ["webSearch", "capabilities.server_tools.web_search.supported"],
];

export function factsIn(entry: JsonObject): ModelFacts | undefined {
  return knownFacts({
    name: nameAt(entry, ["display_name"]),
    contextWindow: wholeAt(entry, ["max_input_tokens"]),
    maxOutput: wholeAt(entry, ["max_tokens"]),
    input: inputOf(entry),
    abilities: knownAbilities(flagsAt(entry, FLAGS)),
    created: createdOf(entry),
    deprecatedOn: dayAt(entry, ["retires_at"]),
  });
}

function inputOf(entry: JsonObject): readonly Modality[] | undefined {
  const { image, file } = flagsAt(entry, [
    ["image", "capabilities.image_input.supported"],
    ["file", "capabilities.pdf_input.supported"],
  ]);
  if (image === undefined) return undefined;
  return ["text", ...(image ? (["image"] as const) : []), ...(file ? (["file"] as const) : [])];
}

/** 1970 stands for a date that is not known. */
function createdOf(entry: JsonObject): number | undefined {
  const seconds = Date.parse(String(at(entry, "created_at"))) / 1000;
  return seconds > 0 ? seconds : undefined;
}
