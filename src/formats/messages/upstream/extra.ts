/**
 * Fields of chat-completions this format has no counterpart for: refused, reported as a loss, or left out silently
 * (src/formats/README.md#what-is-carried).
 */
import type { Call } from "../../../core/call.ts";
import type { ChatRequest } from "../../../core/chat.ts";
import { invalidRequest } from "../../../core/error.ts";
import type { Json } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";

/** Says why a value cannot be done without; nothing when it asks for nothing. */
type Refusal = (value: Json) => string | undefined;

/** The caller's program depends on the result, or it is a promise of safety: dropping it would deceive. */
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

/** The answer may differ, but a useful one is possible. */
const TOLD: ReadonlyMap<string, (value: Json) => boolean> = new Map(
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
 * Looks through what only chat-completions knows of a request.
 * @throws GatewayError `invalid-request`, code `unsupported_value`, naming a field that cannot be left out.
 */
export function checkExtra(request: ChatRequest, call: Call): void {
  for (const [field, value] of Object.entries(request.extra["chat-completions"] ?? {})) {
    if (value == null) continue;
    const reason = REFUSED.get(field)?.(value);
    if (reason !== undefined)
      throw invalidRequest(
        `${field}: ${reason} for the model ${call.model}; remove the field or choose another model.`,
        field,
        "unsupported_value",
      );
    if (TOLD.get(field)?.(value)) call.reportLoss("dropped", field);
  }
}

function blocks(moderation: Json): boolean {
  if (!isObject(moderation) || !isObject(moderation.policy)) return false;
  return Object.values(moderation.policy).some((side) => isObject(side) && side.mode === "block");
}
