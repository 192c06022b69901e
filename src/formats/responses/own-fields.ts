/** What it means when a provider of another format cannot receive a field of this one (src/formats/README.md#own-fields). */
import type { OwnFields } from "../../core/chat.ts";
import type { Json } from "../../core/json.ts";
import { isObject } from "../../core/json.ts";
import { always, blocksByModeration } from "../shared/own-fields.ts";

/** The id of the format. The fields that only this format has are in `ChatRequest.extra` under it. */
export const FORMAT = "responses";

const NO_LOGPROBS = "log probabilities are not available";
const LOGPROBS = "message.output_text.logprobs";

const isTrue = (value: Json) => value === true;

/** Members that are not listed do not affect the answer: `max_tool_calls` counts hosted tools only. */
export const OWN_FIELDS = {
  background: { refuse: isTrue, reason: "only the vendor's own API generates in the background" },
  conversation: { refuse: always, reason: "the conversation is stored at the vendor" },
  prompt: { refuse: always, reason: "the prompt is stored at the vendor" },
  top_logprobs: { refuse: (value) => typeof value === "number" && value > 0, reason: NO_LOGPROBS },
  include: { refuse: (value) => Array.isArray(value) && value.includes(LOGPROBS), reason: NO_LOGPROBS },
  moderation: {
    refuse: blocksByModeration,
    reason: "moderation that blocks is not available",
    report: always,
  },
  truncation: { report: (value) => value === "auto" },
  context_management: { report: (value) => !Array.isArray(value) || value.length > 0 },
  // Both are here only in forms that weir does not know; it has read all others.
  tool_choice: { refuse: always, reason: "the provider has no such tool" },
  text: {
    refuse: (value) => isObject(value) && value.format != null,
    reason: "the format of the text is unknown",
  },
  reasoning: { report: (value) => isObject(value) && value.mode === "pro" },
} as const satisfies OwnFields;
