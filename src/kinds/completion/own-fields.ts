/** The effect when a provider of another format cannot receive a field of these (src/formats/README.md#own-fields). */
import type { OwnFields } from "../../core/chat.ts";
import type { Json } from "../../core/json.ts";
import { isObject } from "../../core/json.ts";
import { always } from "../../formats/shared/own-fields.ts";

/** OpenAI's text completions. */
export const FORMAT = "completions";
/** Mistral's completions of the middle, whose answers have the shape of a chat. */
export const FIM = "fim";

/** llama.cpp's completions of the middle: a format of hosts alone. */
export const INFILL = "infill";

const isSeveral = (value: Json) => typeof value === "number" && value > 1;
const isNotZero = (value: Json) => value !== 0;

export const OWN_FIELDS = {
  n: { refuse: isSeveral, reason: "only one completion can be generated" },
  best_of: { refuse: isSeveral, reason: "only one completion can be generated" },
  echo: { refuse: (value) => value === true, reason: "the prompt is not repeated" },
  // A number, also 0: the client reads the log probability of each token.
  logprobs: { refuse: always, reason: "log probabilities are not available" },
  logit_bias: { report: (value) => isObject(value) && Object.keys(value).length > 0 },
  seed: { report: always, means: "seed" },
  random_seed: { report: always, means: "seed" },
  min_tokens: { report: isNotZero },
  frequency_penalty: { report: isNotZero, means: "frequencyPenalty" },
  presence_penalty: { report: isNotZero, means: "presencePenalty" },
} as const satisfies OwnFields;
