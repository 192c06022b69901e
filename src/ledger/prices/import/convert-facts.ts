/** Turns entries of LiteLLM's price map into lines with facts beside prices: what models take, give and can do. */
import type { Abilities, Modality } from "../../../core/model-facts.ts";
import { MODALITIES } from "../../../core/modalities.ts";
import type { FactLine } from "../fact-line.ts";
import type { Snapshot } from "../snapshot.ts";
import { type MapEntry, modelOf, limitsOf, MODES, providerOf } from "./convert.ts";

/** Members of an entry, by ability; the first that is `true` or `false` counts. */
const ABILITIES: readonly (readonly [ability: keyof Abilities, members: readonly string[]])[] = [
  ["tools", ["supports_function_calling"]],
  ["parallelTools", ["supports_parallel_function_calling"]],
  ["forcedTools", ["supports_forced_tool_use", "supports_tool_choice"]],
  ["jsonSchema", ["supports_native_structured_output", "supports_response_schema"]],
  ["reasoning", ["supports_reasoning"]],
  ["sampling", ["supports_sampling_params"]],
  ["promptCaching", ["supports_prompt_caching"]],
  ["webSearch", ["supports_web_search"]],
];

/** Members that add a modality to text. */
const TAKES: readonly (readonly [Modality, string])[] = [
  ["image", "supports_vision"],
  ["audio", "supports_audio_input"],
  ["video", "supports_video_input"],
  ["file", "supports_pdf_input"],
];

/** @returns undefined for models that weir cannot call, and for those about which the map says nothing */
export function convertFacts(key: string, entry: MapEntry): FactLine | undefined {
  const provider = providerOf(entry.litellm_provider);
  if (provider === undefined || !MODES.has(String(entry.mode))) return undefined;
  const model = modelOf(key, provider);
  if (model === undefined) return undefined;
  const values = ABILITIES.map(([ability, members]) => {
    const value = members.map((member) => entry[member]).find((one) => typeof one === "boolean");
    return [ability, value] as const;
  });
  const named = (wanted: boolean) => values.filter(([, value]) => value === wanted).map(([name]) => name);
  const facts = {
    ...words("in", inputOf(entry)),
    ...words("out", outputOf(entry)),
    ...doesOf(entry),
    ...words("can", named(true)),
    ...words("cannot", named(false)),
    ...limitsOf(entry),
    ...until(entry.deprecation_date),
  };
  return Object.keys(facts).length > 0 ? { provider, model, ...facts } : undefined;
}

/** Without limits that the price book has for the model: they are read from there. */
export function withoutKnown(line: FactLine, prices: Snapshot): FactLine | undefined {
  const rule = prices.lookup(line.provider, line.model);
  const { window, maxOutput, ...rest } = line;
  const left = {
    ...rest,
    ...(window !== rule?.window && { window }),
    ...(maxOutput !== rule?.maxOutput && { maxOutput }),
  };
  return Object.keys(left).length > 2 ? left : undefined;
}

/** Unknown if the map does not say whether the model takes images: then it seldom says what else it takes. */
function inputOf(entry: MapEntry): Modality[] {
  const named = modalities(entry.supported_modalities);
  if (named.length === 0 && typeof entry.supports_vision !== "boolean") return [];
  const added = TAKES.filter(([, member]) => entry[member] === true).map(([kind]) => kind);
  return MODALITIES.filter((kind) => kind === "text" || named.includes(kind) || added.includes(kind));
}

/** What models do whose output does not show it, by their kind in the map. */
const DOES: Readonly<Record<string, string>> = {
  rerank: "rerank",
  moderation: "moderation",
  audio_transcription: "transcription",
  audio_speech: "speech",
  realtime: "realtime",
};

function doesOf({ mode }: MapEntry): { does?: string } {
  const does = DOES[String(mode)];
  return does === undefined ? {} : { does };
}

/** Output of a model by its kind, unless the map names it. */
function outputOf(entry: MapEntry): Modality[] {
  if (entry.mode === "embedding") return ["embedding"];
  if (entry.mode === "rerank" || entry.mode === "moderation") return [];
  if (entry.mode === "audio_speech") return ["audio"];
  const named = modalities(entry.supported_output_modalities);
  if (named.length > 0) return named;
  if (entry.mode === "image_generation") return ["image"];
  return entry.supports_audio_output === true ? ["text", "audio"] : ["text"];
}

function modalities(value: unknown): Modality[] {
  return Array.isArray(value) ? MODALITIES.filter((kind) => value.includes(kind)) : [];
}

function words<Name extends "in" | "out" | "can" | "cannot">(
  name: Name,
  list: readonly string[],
): Partial<Record<Name, string>> {
  return (list.length > 0 ? { [name]: list.join(" ") } : {}) as Partial<Record<Name, string>>;
}

function until(date: unknown): { until?: string } {
  return typeof date === "string" && /^\d{4}-\d{2}-\d{2}$/.test(date) ? { until: date } : {};
}
