/** The effect when a provider of another format cannot receive a field of this one (src/formats/README.md#own-fields). */
import type { OwnFields } from "../../core/chat.ts";
import type { Json } from "../../core/json.ts";
import { always, isFull } from "../shared/own-fields.ts";

/** The id of the format of conversations. The fields that only this format has are in `ChatRequest.extra` under it. */
export const FORMAT = "ollama";

/** The id of the format of single prompts. */
export const GENERATE = "ollama-generate";

const NO_LOGPROBS = "log probabilities are not available";

const isNotZero = (value: Json): boolean => value !== 0;
const isPositive = (value: Json): boolean => typeof value === "number" && value > 0;

export const OWN_FIELDS: OwnFields = {
  logprobs: { refuse: (value) => value === true, reason: NO_LOGPROBS },
  top_logprobs: { refuse: isPositive, reason: NO_LOGPROBS },
  suffix: { refuse: isFull, reason: "text cannot be inserted in front of a suffix" },
  context: {
    refuse: isFull,
    reason: "a conversation in token ids cannot be read (POST /api/chat takes it as `messages`)",
  },
  // Here only in a form that weir does not know.
  format: { refuse: isFull, reason: "the format of the answer is unknown" },
  width: { refuse: isPositive, reason: "no images can be generated" },
  height: { refuse: isPositive, reason: "no images can be generated" },
  steps: { report: isPositive },
  template: { report: isFull },
  raw: { report: (value) => value === true },
  "options.seed": { report: always, means: "seed" },
  "options.presence_penalty": { report: isNotZero, means: "presencePenalty" },
  "options.frequency_penalty": { report: isNotZero, means: "frequencyPenalty" },
  "options.min_p": { report: isNotZero },
  "options.typical_p": { report: (value) => value !== 1 },
  "options.tfs_z": { report: (value) => value !== 1 },
  "options.repeat_penalty": { report: (value) => value !== 1 },
  "options.repeat_last_n": { report: always },
  "options.mirostat": { report: isNotZero },
  "options.mirostat_tau": { report: always },
  "options.mirostat_eta": { report: always },
  "options.penalize_newline": { report: always },
};
