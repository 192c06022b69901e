/**
 * Token counts of this format. `promptTokenCount` includes the tokens read from a cache; the tokens of tools that Google ran
 * and of reasoning are counted apart. The canonical counts are disjoint.
 */
import type { Usage } from "../../core/events.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { isObject } from "../../core/json.ts";
import { list } from "../shared/read.ts";
import { count, positive } from "../shared/token-counts.ts";

/**
 * Adds up `usageMetadata` over the records of an answer. Each count is a running total; a record without it changes
 * nothing, because the first records of a stream have few counts or none.
 */
export class UsageReader {
  #prompt: number | undefined;
  #cached = 0;
  #tools = 0;
  #candidates: number | undefined;
  #thoughts: number | undefined;
  #searches: number | undefined;

  /** The counts so far; `undefined` for a record without counts. @param isEnd the answer has ended with this record */
  read({ usageMetadata: meta, candidates }: JsonObject, isEnd: boolean): Partial<Usage> | undefined {
    this.#searches = searchesOf(candidates) ?? this.#searches;
    if (!isObject(meta)) return undefined;
    this.#prompt = count(meta.promptTokenCount) ?? this.#prompt;
    this.#cached = count(meta.cachedContentTokenCount) ?? this.#cached;
    this.#tools = count(meta.toolUsePromptTokenCount) ?? this.#tools;
    this.#candidates = count(meta.candidatesTokenCount) ?? this.#candidates;
    this.#thoughts = count(meta.thoughtsTokenCount) ?? this.#thoughts;
    const thoughts = this.#thoughts ?? 0;
    const isCounted = this.#candidates !== undefined || this.#thoughts !== undefined;
    if (this.#prompt === undefined && !isCounted) return undefined;
    const usage: Partial<Usage> = {
      ...(this.#prompt !== undefined && {
        input: Math.max(0, this.#prompt + this.#tools - this.#cached),
        cacheRead: this.#cached,
      }),
      output: isCounted ? (this.#candidates ?? 0) + thoughts : undefined,
      reasoning: isCounted ? thoughts : undefined,
      known: isEnd ? "final" : "partial",
    };
    if (this.#searches !== undefined) usage.searches = this.#searches;
    if (isEnd) addDetails(meta, usage);
    return usage;
  }
}

function addDetails(meta: JsonObject, usage: Partial<Usage>): void {
  usage.audioIn = freshOf(meta, "AUDIO");
  usage.imageIn = freshOf(meta, "IMAGE");
  usage.cacheReadAudio = ofModality(meta.cacheTokensDetails, "AUDIO");
  usage.audioOut = ofModality(meta.candidatesTokensDetails, "AUDIO");
  usage.imageOut = ofModality(meta.candidatesTokensDetails, "IMAGE");
  const { serviceTier, trafficType } = meta;
  if (typeof serviceTier === "string") usage.tier = serviceTier;
  else if (typeof trafficType === "string") usage.tier = trafficType;
}

/** Tokens of a modality in the prompt that were not read from the cache. */
function freshOf(
  { promptTokensDetails, cacheTokensDetails }: JsonObject,
  modality: string,
): number | undefined {
  const all = ofModality(promptTokensDetails, modality) ?? 0;
  return positive(Math.max(0, all - (ofModality(cacheTokensDetails, modality) ?? 0)));
}

/** Google searches, by the queries that the answer names. */
function searchesOf(candidates: Json | undefined): number | undefined {
  const [candidate] = list(candidates);
  const grounding = isObject(candidate) ? candidate.groundingMetadata : undefined;
  return isObject(grounding) ? positive(list(grounding.webSearchQueries).length) : undefined;
}

function ofModality(details: Json | undefined, modality: string): number | undefined {
  if (!Array.isArray(details)) return undefined;
  for (const detail of details)
    if (isObject(detail) && detail.modality === modality) return positive(detail.tokenCount);
  return undefined;
}

/** Encodes `usageMetadata`. */
export function encodeUsage({ input, cacheRead, cacheWrite, output, reasoning }: Usage): JsonObject {
  const prompt = input + cacheRead + cacheWrite;
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: Math.max(0, output - reasoning),
    totalTokenCount: prompt + output,
    ...(cacheRead > 0 && { cachedContentTokenCount: cacheRead }),
    ...(reasoning > 0 && { thoughtsTokenCount: reasoning }),
  };
}
