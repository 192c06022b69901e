/**
 * Handles fields of other formats that this format does not have: they are refused, dropped with a warning, or ignored
 * (src/formats/README.md#what-is-carried).
 */
import type { ChatRequest } from "../../../core/chat.ts";
import type { CodecContext } from "../../../core/context.ts";
import { invalidRequest } from "../../../core/error.ts";
import type { Json } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";

/** Returns why weir must not drop a value; `undefined` if the value has no effect. */
type Refusal = (value: Json) => string | undefined;

/** Refused: the client depends on the result, or the field is a safety guarantee. */
const REFUSED: ReadonlyMap<string, Refusal> = new Map(
  Object.entries<Refusal>({
    n: (value) => (typeof value === "number" && value > 1 ? "only one choice can be generated" : undefined),
    logprobs: (value) => (value === true ? "log probabilities are not available" : undefined),
    top_logprobs: (value) =>
      typeof value === "number" && value > 0 ? "log probabilities are not available" : undefined,
    modalities: (value) =>
      Array.isArray(value) && value.includes("audio") ? "audio cannot be generated" : undefined,
    audio: (value) => (isObject(value) ? "audio cannot be generated" : undefined),
    web_search_options: () => "the built-in web search is not available",
    moderation: (value) => (blocks(value) ? "moderation that blocks is not available" : undefined),
  }),
);

/** Dropped with a warning: the answer may differ but is still useful. */
const DROPPED: ReadonlyMap<string, (value: Json) => boolean> = new Map(
  Object.entries<(value: Json) => boolean>({
    logit_bias: (value) => isObject(value) && Object.keys(value).length > 0,
    seed: () => true,
    frequency_penalty: (value) => value !== 0,
    presence_penalty: (value) => value !== 0,
    verbosity: () => true,
    moderation: () => true,
  }),
);

/**
 * Refuses or drops the fields of a request that this format does not have.
 * @throws GatewayError `invalid-request`, code `unsupported_value`, for a field that weir must not drop
 */
export function checkExtra(request: ChatRequest, context: CodecContext): void {
  for (const [field, value] of Object.entries(request.extra["chat-completions"] ?? {})) {
    if (value == null) continue;
    const reason = REFUSED.get(field)?.(value);
    if (reason !== undefined)
      throw invalidRequest(
        `${field}: ${reason} for the model ${context.model}; remove the field or choose another model.`,
        field,
        "unsupported_value",
      );
    if (DROPPED.get(field)?.(value)) context.reportLoss("dropped", field);
  }
}

function blocks(moderation: Json): boolean {
  if (!isObject(moderation) || !isObject(moderation.policy)) return false;
  return Object.values(moderation.policy).some((side) => isObject(side) && side.mode === "block");
}
