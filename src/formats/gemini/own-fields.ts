/** The effect when a provider of another format cannot receive a field of this one (src/formats/README.md#own-fields). */
import type { OwnFields } from "../../core/chat.ts";
import type { Json } from "../../core/json.ts";
import { isObject } from "../../core/json.ts";
import { always } from "../shared/own-fields.ts";

/** The id of the format. The fields that only this format has are in `ChatRequest.extra` under it. */
export const FORMAT = "gemini";

/** Who signs the thoughts of this format: Google accepts its own signatures at each of its hosts. */
export const SIGNER = "google";

const isNotZero = (value: Json): boolean => value !== 0;

export const OWN_FIELDS: OwnFields = {
  // The prompt is incomplete without it.
  cachedContent: { refuse: always },
  modelArmorConfig: { report: always },
  "toolConfig.retrievalConfig": { report: always },
  // A mode that weir does not know.
  "toolConfig.functionCallingConfig": {
    report: (value) => isObject(value) && value.mode != null && !/unspecified/i.test(String(value.mode)),
  },
  "generationConfig.candidateCount": {
    refuse: (value) => typeof value === "number" && value > 1,
    reason: "only one candidate can be generated",
  },
  "generationConfig.responseModalities": {
    refuse: (value) => Array.isArray(value) && value.some((modality) => !/^text$/i.test(String(modality))),
    reason: "the answer can only be text",
  },
  "generationConfig.responseLogprobs": {
    refuse: (value) => value === true,
    reason: "log probabilities are not available",
  },
  "generationConfig.seed": { report: always, means: "seed" },
  "generationConfig.presencePenalty": { report: isNotZero, means: "presencePenalty" },
  "generationConfig.frequencyPenalty": { report: isNotZero, means: "frequencyPenalty" },
  // These are here only in forms that weir does not know.
  "generationConfig.responseMimeType": { report: always },
  "generationConfig.responseSchema": { report: always },
  "generationConfig.responseJsonSchema": { report: always },
  "generationConfig.mediaResolution": { report: always },
  "generationConfig.imageConfig": { report: always },
  "generationConfig.speechConfig": { report: always },
  "generationConfig.audioTimestamp": { report: always },
  "generationConfig.routingConfig": { report: always },
};
