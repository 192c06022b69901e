/** Chooses the field for the output limit. Hosts ignore a limit under a name they do not know; most know `max_tokens`. */
import type { CodecTarget } from "../../../core/context.ts";
import type { MaxTokensField } from "../../../core/provider.ts";
import { modelFacts } from "../../shared/openai-models.ts";

export function limitField({ maxTokensField, model }: CodecTarget): MaxTokensField {
  if (maxTokensField) return maxTokensField;
  // Aggregators put the name of the vendor before that of the model.
  const facts = modelFacts(model) ?? modelFacts(model.split("/").at(-1)!);
  return facts?.completionTokens ? "max_completion_tokens" : "max_tokens";
}

/**
 * Renames `max_completion_tokens` to `max_tokens` for hosts other than the vendor that know only the latter. The other
 * direction is not needed: hosts that require `max_completion_tokens` refuse the other name with a 400.
 */
export function renamedMembers(target: CodecTarget): readonly (readonly [from: string, to: string])[] {
  return !target.isVendor && limitField(target) === "max_tokens"
    ? [["max_completion_tokens", "max_tokens"]]
    : [];
}
