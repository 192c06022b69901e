/**
 * Facts about one model of a list (`GET /models`). OpenAI's has names only; the hosts that speak the format add
 * members of their own. Read 2026-11: lists of GitHub Copilot, llama.cpp, Mistral and Perplexity, and the descriptions of
 * Groq's, OpenRouter's, Together's and vLLM's.
 */
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import type { Abilities, Modality, ModelFacts, ModelPrices } from "../../../core/model-facts.ts";
import { OPTIONS } from "../client/options.ts";
import {
  dayAt,
  flagsAt,
  knownAbilities,
  knownFacts,
  modalitiesIn,
  nameAt,
  wholeAt,
  at,
} from "../../shared/listed.ts";

/** The setting of a running server precedes the ability of the model. */
const WINDOW = [
  "max_model_len",
  "meta.n_ctx",
  "context_length",
  "context_window",
  "max_context_length",
  "capabilities.limits.max_context_window_tokens",
  "max_input_tokens",
];

const MAX_OUTPUT = [
  "top_provider.max_completion_tokens",
  "max_completion_tokens",
  "max_output_tokens",
  "capabilities.limits.max_output_tokens",
];

const FLAGS: readonly (readonly [keyof Abilities, string])[] = [
  ["tools", "capabilities.function_calling"],
  ["reasoning", "capabilities.reasoning"],
  ["tools", "capabilities.supports.tool_calls"],
  ["parallelTools", "capabilities.supports.parallel_tool_calls"],
  ["jsonSchema", "capabilities.supports.structured_outputs"],
];

/** Names in `supported_parameters`, which is complete: what it does not name, the model does not have. */
const PARAMETERS: readonly (readonly [keyof Abilities, string])[] = [
  ["tools", "tools"],
  ["parallelTools", "parallel_tool_calls"],
  ["forcedTools", "tool_choice"],
  ["jsonSchema", "structured_outputs"],
  ["jsonObject", "response_format"],
  ["reasoning", "reasoning"],
  ["sampling", "temperature"],
];

/** `created` is left out: to some hosts it is the moment of the request. */
export function factsIn(entry: JsonObject): ModelFacts | undefined {
  return knownFacts({
    name: nameAt(entry, ["display_name", "name"]),
    contextWindow: wholeAt(entry, WINDOW),
    maxOutput: wholeAt(entry, MAX_OUTPUT),
    input: inputOf(entry),
    output: modalitiesIn(at(entry, "architecture.output_modalities")),
    does: textsIn(entry["does"]),
    abilities: knownAbilities({ ...flagsAt(entry, FLAGS), ...abilitiesIn(entry["supported_parameters"]) }),
    options: optionsIn(entry["supported_parameters"]),
    prices: pricesIn(entry["pricing"]),
    deprecatedOn: dayAt(entry, ["deprecation", "expiration_date", "shutdown_date"]),
  });
}

function inputOf(entry: JsonObject): readonly Modality[] | undefined {
  const named = modalitiesIn(at(entry, "architecture.input_modalities"));
  if (named) return named;
  const { image, audio } = flagsAt(entry, [
    ["image", "capabilities.vision"],
    ["image", "capabilities.supports.vision"],
    ["audio", "capabilities.audio"],
  ]);
  if (image === undefined) return undefined;
  return ["text", ...(image ? (["image"] as const) : []), ...(audio ? (["audio"] as const) : [])];
}

/** What another weir does with the model. */
function textsIn(list: Json | undefined): readonly string[] | undefined {
  return Array.isArray(list) && list.every((one) => typeof one === "string") ? list : undefined;
}

function abilitiesIn(parameters: Json | undefined): Abilities {
  if (!Array.isArray(parameters)) return {};
  return Object.fromEntries(PARAMETERS.map(([ability, name]) => [ability, parameters.includes(name)]));
}

/** A host that takes reasoning in OpenRouter's form takes an effort too. */
function optionsIn(parameters: Json | undefined): readonly string[] | undefined {
  if (!Array.isArray(parameters)) return undefined;
  const isNamed = (name: string) =>
    parameters.includes(name) || (name === EFFORT && parameters.includes("reasoning"));
  return Object.keys(OPTIONS).filter(isNamed);
}

const EFFORT = "reasoning_effort";

/** OpenRouter's members, in dollars a token, an image, a request or a search. */
const PRICES: readonly (readonly [keyof ModelPrices, string])[] = [
  ["input", "prompt"],
  ["output", "completion"],
  ["cacheRead", "input_cache_read"],
  ["cacheWrite", "input_cache_write"],
  ["reasoning", "internal_reasoning"],
  ["image", "image"],
  ["request", "request"],
  ["search", "web_search"],
];

/** The members of hosts that write dollars a million tokens. */
const PRICES_A_MILLION: readonly (readonly [keyof ModelPrices, string])[] = [
  ["input", "input"],
  ["output", "output"],
  ["cacheRead", "cache_read"],
  ["cacheWrite", "cache_write"],
];

/** Prices whose unit is certain: by the names of the members, by `unit`, or by `hourly`, which Together adds. */
function pricesIn(pricing: Json | undefined): ModelPrices | undefined {
  if (!isObject(pricing)) return undefined;
  if (pricing["prompt"] !== undefined) return pricesOf(pricing, PRICES, 1);
  const isMillion = pricing["unit"] === "usd_per_1m_tokens" || pricing["hourly"] !== undefined;
  const prices = isMillion ? pricesOf(pricing, PRICES_A_MILLION, 1_000_000) : undefined;
  // Together has zero for models without a price by tokens.
  return prices && prices.input + prices.output > 0 ? prices : undefined;
}

/** A negative price means that it depends on the request. */
function pricesOf(
  pricing: JsonObject,
  members: readonly (readonly [keyof ModelPrices, string])[],
  tokens: number,
): ModelPrices | undefined {
  const known = members
    .map(([name, member]) => [name, Number(pricing[member] ?? Number.NaN) / tokens] as const)
    .filter(([, dollars]) => Number.isFinite(dollars) && dollars >= 0);
  const prices = Object.fromEntries(known) as Partial<ModelPrices>;
  return prices.input !== undefined && prices.output !== undefined ? (prices as ModelPrices) : undefined;
}
