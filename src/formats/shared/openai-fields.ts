/** Encodes fields that the formats of OpenAI have in common. */
import type { ChatRequest } from "../../core/chat.ts";
import { maskUser } from "../../core/ids.ts";
import type { JsonObject } from "../../core/json.ts";
import { takesSampling } from "./openai-models.ts";
import type { PartContext } from "./openai-parts.ts";
import { fieldPath, turnPath } from "./paths.ts";

/** Sampling fields that the model takes together with this effort. */
export function encodeSampling(
  request: ChatRequest,
  effort: string | undefined,
  { traits, facts, reportLoss }: PartContext,
): JsonObject {
  const { temperature, topP, topK } = request;
  const sent: JsonObject = {};
  if (takesSampling(facts, effort)) {
    if (temperature !== undefined) sent.temperature = temperature;
    if (topP !== undefined) sent.top_p = topP;
  } else {
    // Omitting the default value is no loss.
    if (temperature !== undefined && temperature !== 1)
      reportLoss("dropped", fieldPath(request, "temperature"), "the model does not take this field");
    if (topP !== undefined && topP !== 1)
      reportLoss("dropped", fieldPath(request, "topP"), "the model does not take this field");
  }
  if (topK !== undefined && traits.topK) sent.top_k = topK;
  else if (topK !== undefined)
    reportLoss("dropped", fieldPath(request, "topK"), "the provider does not accept this field");
  return sent;
}

/** The tiers that OpenAI has besides the usual one, in both of its formats. */
const TIERS: ReadonlySet<string> = new Set(["flex", "priority"]);

/**
 * Returns `service_tier`. weir takes every model of OpenAI's for one whose host has the tiers, and reports the loss of a
 * tier at other hosts, unless the config says that they have them.
 */
function encodeTier(
  request: ChatRequest,
  { sameFormat, facts, traits, reportLoss }: PartContext,
): string | undefined {
  const { serviceTier: tier } = request;
  if (tier === "standard") return "default";
  if (tier === undefined || sameFormat) return tier;
  // It is the default.
  if (tier === "auto") return undefined;
  if (TIERS.has(tier) && (traits.serviceTiers ?? facts?.tiers)) return tier;
  reportLoss("dropped", fieldPath(request, "serviceTier"), "the provider has no such tier");
  return undefined;
}

/** Who asks, and at which tier. */
export function encodeIdentity(request: ChatRequest, context: PartContext): JsonObject {
  const { user, session } = request;
  const { traits } = context;
  const tier = encodeTier(request, context);
  return {
    ...(user !== undefined && { [traits.userField ?? "user"]: maskUser(user) }),
    ...(session !== undefined && traits.promptCacheKey && { prompt_cache_key: maskUser(session) }),
    ...(tier !== undefined && { service_tier: tier }),
  };
}

/** Reports a loss for a last message of the assistant (prefill): not every model continues it. */
export function reportPrefill(request: ChatRequest, { sameFormat, reportLoss }: PartContext): void {
  const last = request.turns.at(-1);
  if (sameFormat || last?.role !== "assistant") return;
  if (last.blocks.some((block) => block.type === "tool-call")) return;
  reportLoss("downgraded", turnPath(last, request), "the model may not continue the last assistant message");
}
