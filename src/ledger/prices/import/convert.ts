/** Turns entries of LiteLLM's price map into lines of the snapshot: numbers, names and limits, under the names of weir. */
import type { BucketPrices, PriceSet } from "../../charge.ts";
import { DOLLAR } from "../../money.ts";
import type { SnapshotLine } from "../snapshot.ts";
import { SOURCES } from "./providers.ts";

/** An entry of the map; its members differ from model to model. */
export type MapEntry = Readonly<Record<string, unknown>>;

/** Kinds of models that weir can call, or whose prices it needs for the day when it can. */
export const MODES = new Set([
  ...["chat", "completion", "responses", "embedding", "rerank", "moderation"],
  ...["image_generation", "audio_transcription", "audio_speech", "realtime"],
]);

/** Kinds of models that give no tokens. */
const GIVE_NOTHING = new Set<unknown>(["embedding", "rerank"]);

/** What models without a price of tokens are charged by: the unit of weir, and members with dollars a unit, the first that is a price. */
const UNITS: Readonly<Record<string, readonly [unit: string, ...members: string[]]>> = {
  rerank: ["search", "input_cost_per_query"],
  // Some vendors' images are named as what goes in.
  image_generation: ["image", "output_cost_per_image", "input_cost_per_image"],
  audio_transcription: ["second", "input_cost_per_second"],
  audio_speech: ["character", "input_cost_per_character"],
};

/** Providers that say that they charge nothing for moderations: elsewhere zero is what the map does not know. */
const MODERATE_FREE = new Set(["openai"]);

/** Members of an entry, in dollars a token, by bucket. What follows them names a context tier and a service tier. */
const MEMBERS: Readonly<Record<keyof BucketPrices, readonly string[]>> = {
  input: ["input_cost_per_token"],
  cacheRead: ["cache_read_input_token_cost", "input_cost_per_token_cache_hit"],
  cacheReadAudio: ["cache_read_input_audio_token_cost"],
  cacheWrite: ["cache_creation_input_token_cost"],
  cacheWrite1h: ["cache_creation_input_token_cost_above_1hr"],
  output: ["output_cost_per_token"],
  reasoning: ["output_cost_per_reasoning_token"],
  audioIn: ["input_cost_per_audio_token"],
  audioOut: ["output_cost_per_audio_token"],
  imageIn: ["input_cost_per_image_token"],
  imageOut: ["output_cost_per_image_token"],
};

/** Service tiers that a call through weir can get. */
const SERVED = ["priority", "flex", "ultrafast"];

const TIER = /_above_(\d+)k_tokens/;

/** @returns undefined for models that weir cannot call or whose price is not in the map */
export function convert(key: string, entry: MapEntry): SnapshotLine | undefined {
  const provider = providerOf(entry.litellm_provider);
  if (provider === undefined || !MODES.has(String(entry.mode))) return undefined;
  const model = modelOf(key, provider);
  if (model === undefined) return undefined;
  const set = setOf(entry, "");
  // Zero in the map is what it does not know, a preview that became dearer later, or a part that is charged as another model.
  if (!set.input || !(set.output || GIVE_NOTHING.has(entry.mode)))
    return withoutTokens(provider, model, entry, set);
  set.output ??= 0;
  const served = SERVED.map((name) => [name, servedSet(entry, name, set)] as const).filter(
    ([, prices]) => prices.input !== undefined && prices.output !== undefined,
  );
  const per = searchFees(provider, entry);
  return {
    provider,
    model,
    ...set,
    ...(served.length > 0 && { served: Object.fromEntries(served) }),
    ...factorsOf(entry),
    ...(per && { per }),
    ...limitsOf(entry),
  };
}

/** A model that is charged by units, or not at all. Where the map has prices of some tokens, it does not say what the others cost. */
function withoutTokens(
  provider: string,
  model: string,
  entry: MapEntry,
  set: PriceSet,
): SnapshotLine | undefined {
  if (Object.keys(set).length > 0) return undefined;
  if (entry.mode === "moderation" && MODERATE_FREE.has(provider))
    return { provider, model, input: 0, output: 0 };
  const [unit, ...members] = UNITS[String(entry.mode)] ?? [];
  const dollars = members.map((member) => entry[member]).find((one) => typeof one === "number" && one > 0);
  if (unit === undefined || dollars === undefined) return undefined;
  return { provider, model, units: { [unit]: Math.round((dollars as number) * 1e12) } };
}

/** Most tokens of a request and of an answer. */
export function limitsOf(entry: MapEntry): Pick<SnapshotLine, "maxOutput" | "window"> {
  return {
    // The map repeats the window there.
    ...(entry.mode !== "rerank" && whole("maxOutput", entry.max_output_tokens)),
    ...whole("window", entry.max_input_tokens),
  };
}

/** The provider of weir for a provider of the map. */
export function providerOf(name: unknown): string | undefined {
  if (typeof name !== "string") return undefined;
  const family = name.replace(/-.*/, "");
  return Object.keys(SOURCES).find((provider) => SOURCES[provider]!.from.includes(family));
}

/** Names of price classes by size, which are no models. */
const SIZES = /^(together-ai|fireworks-ai)-/;

/** The name of the model at a provider of weir; undefined for what is no model. */
export function modelOf(key: string, provider: string): string | undefined {
  const { prefix, noSlash } = SOURCES[provider]!;
  const model = key.startsWith(prefix) ? key.slice(prefix.length) : key;
  return (noSlash && model.includes("/")) || SIZES.test(model) ? undefined : model;
}

/**
 * The prices of a service tier. Where the map has no flex prices for long requests, these are as much above those of short ones as
 * the usual prices are: Google's flex prices are half of the usual ones at every length.
 */
function servedSet(entry: MapEntry, name: string, usual: PriceSet): PriceSet {
  const set = setOf(entry, `_${name}`);
  if (name !== "flex" || set.tiers || !usual.tiers) return set;
  const { tiers: _tiers, ...prices } = set;
  const buckets = Object.entries(prices) as [keyof BucketPrices, number][];
  const tiers = usual.tiers.map((tier) => {
    const scaled = buckets.map(([bucket, price]) => {
      const factor = (tier[bucket] ?? 0) / (usual[bucket] ?? 0);
      return [bucket, Number.isFinite(factor) && factor > 0 ? Math.round(price * factor) : price] as const;
    });
    return { above: tier.above, ...(Object.fromEntries(scaled) as BucketPrices) };
  });
  return { ...set, tiers };
}

/** Providers that charge a request of exactly this length as a longer one. */
const FROM_EDGE = new Set(["xai"]);

function setOf(entry: MapEntry, served: string): PriceSet {
  if (Array.isArray(entry.tiered_pricing) && served === "") return listedTiers(entry.tiered_pricing);
  const set: PriceSet = bucketsOf(entry, "", served);
  const limits = new Set(Object.keys(entry).flatMap((name) => TIER.exec(name)?.[1] ?? []));
  const tiers = [...limits]
    .map((thousands) => ({
      above: Number(thousands) * 1000 - Number(FROM_EDGE.has(String(entry.litellm_provider))),
      ...bucketsOf(entry, `_above_${thousands}k_tokens`, served),
    }))
    .filter(({ input, output }) => input !== undefined && output !== undefined);
  return { ...set, ...(tiers.length > 0 && { tiers: tiers.sort((one, other) => one.above - other.above) }) };
}

/** Alibaba's tiers: a list of prices with the range of input tokens that each is for. */
function listedTiers(list: readonly unknown[]): PriceSet {
  const tiers = list
    .filter((tier): tier is MapEntry & { range: [number, number] } => Array.isArray((tier as MapEntry).range))
    .map((tier) => ({ above: tier.range[0], ...bucketsOf(tier, "", "") }))
    .sort((one, other) => one.above - other.above);
  const [first, ...rest] = tiers;
  if (!first) return {};
  const { above: _above, ...prices } = first;
  return { ...prices, ...(rest.length > 0 && { tiers: rest }) };
}

function bucketsOf(entry: MapEntry, above: string, served: string): BucketPrices {
  const prices: BucketPrices = {};
  for (const [bucket, members] of Object.entries(MEMBERS) as [keyof BucketPrices, readonly string[]][])
    for (const member of members) {
      const dollars = entry[`${member}${above}${served}`];
      if (typeof dollars === "number" && dollars > 0) prices[bucket] ??= Math.round(dollars * 1e12);
    }
  return prices;
}

/** Factors for all tokens: by region at Anthropic, OpenAI and Google, by speed at Anthropic. */
function factorsOf(entry: MapEntry): Pick<SnapshotLine, "regions" | "speeds"> {
  const { us, fast } = (entry.provider_specific_entry ?? {}) as { us?: unknown; fast?: unknown };
  const anywhere = entry.regional_endpoint_uplift_multiplier;
  const regions = {
    ...factor("us", us ?? entry.regional_processing_uplift_multiplier_us),
    ...factor("eu", entry.regional_processing_uplift_multiplier_eu),
    ...(isFactor(anywhere) && { global: 1, "*": anywhere }),
  };
  const speeds = factor("fast", fast);
  return {
    ...(Object.keys(regions).length > 0 && { regions }),
    ...(Object.keys(speeds).length > 0 && { speeds }),
  };
}

function factor(name: string, value: unknown): Record<string, number> {
  return isFactor(value) ? { [name]: value } : {};
}

function isFactor(value: unknown): value is number {
  return typeof value === "number" && value > 1;
}

/** Providers that charge a request once for all its searches, unless the map says that they charge each. */
const ONCE = new Set(["gemini", "vertex"]);

/** The map has three prices for three sizes of search; vendors use the medium one unless they are asked. */
function searchFees(
  provider: string,
  { search_context_cost_per_query: costs, web_search_billing_unit: unit }: MapEntry,
): SnapshotLine["per"] {
  const dollars = (costs as Record<string, unknown> | undefined)?.search_context_size_medium;
  if (typeof dollars !== "number" || dollars <= 0) return undefined;
  const nano = Math.round(dollars * DOLLAR);
  return ONCE.has(provider) && unit !== "per_query" ? { searched: nano } : { search: nano };
}

function whole(name: "maxOutput" | "window", value: unknown): { maxOutput?: number; window?: number } {
  const tokens = Number(value);
  return Number.isInteger(tokens) && tokens > 0 ? { [name]: tokens } : {};
}
