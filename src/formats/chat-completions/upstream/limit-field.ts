/** Under which name a host takes the output limit. A host ignores a name that it does not know, and most know `max_tokens`. */
import type { MaxTokensField, Target } from "../../../core/provider.ts";
import { modelFacts } from "../models.ts";

export function limitField({ deployment, provider, model }: Target): MaxTokensField {
  if (deployment.maxTokensField) return deployment.maxTokensField;
  if (!deployment.elsewhere && provider.traits?.maxTokensField) return provider.traits.maxTokensField;
  // Behind an aggregator the vendor's name stands before the model's.
  const facts = modelFacts(model) ?? modelFacts(model.split("/").at(-1)!);
  return facts?.completionTokens ? "max_completion_tokens" : "max_tokens";
}

/**
 * At an address that is not the vendor's own, `max_completion_tokens` becomes `max_tokens` where the host takes that. The
 * other direction needs nothing: who wants `max_completion_tokens` refuses the other name with a 400.
 */
export function renamedMembers(target: Target): readonly (readonly [from: string, to: string])[] {
  const isVendor = target.provider.baseUrl !== undefined && !target.deployment.elsewhere;
  return !isVendor && limitField(target) === "max_tokens" ? [["max_completion_tokens", "max_tokens"]] : [];
}
