/** The effect when a provider of another format cannot receive a field of this one (src/formats/README.md#own-fields). */
import type { OwnFields } from "../../core/chat.ts";
import type { Json } from "../../core/json.ts";
import { isObject } from "../../core/json.ts";
import { always, blocksByModeration } from "../shared/own-fields.ts";

/** The id of the format. The fields that only this format has are in `ChatRequest.extra` under it. */
export const FORMAT = "chat-completions";

const NO_AUDIO = "audio cannot be generated";
const NO_LOGPROBS = "log probabilities are not available";

const isNotZero = (value: Json) => value !== 0;
const isPositive = (value: Json) => typeof value === "number" && value > 0;
const asksFor = (kind: string) => (value: Json) => Array.isArray(value) && value.includes(kind);

export const OWN_FIELDS = {
  n: {
    refuse: (value) => typeof value === "number" && value > 1,
    reason: "only one choice can be generated",
  },
  logprobs: { refuse: (value) => value === true, reason: NO_LOGPROBS },
  top_logprobs: { refuse: isPositive, reason: NO_LOGPROBS },
  modalities: { refuse: asksFor("audio"), reason: NO_AUDIO, report: asksFor("image") },
  audio: { refuse: isObject, reason: NO_AUDIO },
  web_search_options: { refuse: always, reason: "the built-in web search is not available" },
  moderation: {
    refuse: blocksByModeration,
    reason: "moderation that blocks is not available",
    report: always,
  },
  // weir asks for summaries by `auto`.
  "reasoning.summary": { report: (value) => value !== "auto" },
  logit_bias: { report: (value) => isObject(value) && Object.keys(value).length > 0 },
  seed: { report: always, means: "seed" },
  // Mistral's name.
  random_seed: { report: always, means: "seed" },
  frequency_penalty: { report: isNotZero, means: "frequencyPenalty" },
  presence_penalty: { report: isNotZero, means: "presencePenalty" },
} as const satisfies OwnFields;
