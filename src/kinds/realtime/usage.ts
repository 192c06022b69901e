/** Token counts of events, as the books have them. */
import { NO_USAGE, type Usage } from "../../core/events.ts";
import { isObject, type Json } from "../../core/json.ts";
import { at, countAt } from "./events.ts";

/** Of `response.done`: text, audio and images, each read from the cache or not. @returns undefined without counts */
export function usageOfResponse(usage: Json | undefined): Usage | undefined {
  if (!isObject(usage)) return undefined;
  const input = countAt(usage, "input_tokens");
  const details = at(usage, "input_token_details");
  const cacheRead = Math.min(countAt(details, "cached_tokens"), input);
  const cacheReadAudio = Math.min(countAt(details, "cached_tokens_details", "audio_tokens"), cacheRead);
  const cachedImages = countAt(details, "cached_tokens_details", "image_tokens");
  return {
    ...NO_USAGE,
    input: input - cacheRead,
    cacheRead,
    cacheReadAudio,
    audioIn: Math.max(0, countAt(details, "audio_tokens") - cacheReadAudio),
    imageIn: Math.max(0, countAt(details, "image_tokens") - cachedImages),
    output: countAt(usage, "output_tokens"),
    audioOut: countAt(usage, "output_token_details", "audio_tokens"),
    known: "final",
  };
}

/** Of a transcription: tokens, or seconds, which are rounded up. @returns undefined without counts */
export function usageOfTranscription(usage: Json | undefined): Usage | undefined {
  if (!isObject(usage)) return undefined;
  if (usage["type"] !== "duration") return usageOfResponse(usage);
  const { seconds } = usage;
  if (typeof seconds !== "number" || !(seconds >= 0)) return undefined;
  return { ...NO_USAGE, units: { second: Math.ceil(seconds) }, known: "final" };
}
