/** The effect when a provider of another format cannot receive a field of this one (src/formats/README.md#own-fields). */
import type { OwnFields } from "../../core/chat.ts";
import type { Json } from "../../core/json.ts";
import { isObject } from "../../core/json.ts";
import { list } from "../shared/read.ts";
import { always, blocksByModeration } from "../shared/own-fields.ts";

/** The id of the format. The fields that only this format has are in `ChatRequest.extra` under it. */
export const FORMAT = "responses";

const NO_LOGPROBS = "log probabilities are not available";
const LOGPROBS = "message.output_text.logprobs";

/** weir asks for summaries by `auto`. */
const isNotAuto = (value: Json) => value !== "auto";
const isTrue = (value: Json) => value === true;

/** Fields that weir answers with in any case, and members of the calls of hosted tools, whose loss weir reports with the tools. */
const INCLUDED =
  /^(?:reasoning\.encrypted_content|message\.input_image\.image_url|(?:web_search|file_search|code_interpreter|computer)_call.*)$/;

export const OWN_FIELDS = {
  background: { refuse: isTrue, reason: "only the vendor's own API generates in the background" },
  conversation: { refuse: always, reason: "the conversation is stored at the vendor" },
  prompt: { refuse: always, reason: "the prompt is stored at the vendor" },
  top_logprobs: { refuse: (value) => typeof value === "number" && value > 0, reason: NO_LOGPROBS },
  include: {
    refuse: (value) => list(value).includes(LOGPROBS),
    reason: NO_LOGPROBS,
    report: (value) => list(value).some((name) => !INCLUDED.test(String(name))),
  },
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
  "reasoning.summary": { report: isNotAuto },
  "reasoning.generate_summary": { report: isNotAuto },
} as const satisfies OwnFields;
