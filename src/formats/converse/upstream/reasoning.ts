/** Encodes reasoning options as the members of `additionalModelRequestFields` that the model knows (src/formats/README.md#reasoning-effort). */
import type { ChatRequest } from "../../../core/chat.ts";
import type { JsonObject } from "../../../core/json.ts";
import { defaultMaxTokens, type ModelFacts as ClaudeFacts } from "../../shared/claude-models.ts";
import { encodeReasoning as encodeForClaude } from "../../shared/claude-reasoning.ts";
import { encodeEffort } from "../../shared/effort.ts";
import { fieldPath } from "../../shared/paths.ts";
import { type EncodeContext, FORMAT } from "./context.ts";
import type { Message } from "./messages.ts";

export interface EncodedReasoning {
  /** Members of `additionalModelRequestFields`. */
  fields: JsonObject;
  /** The answer begins with reasoning. */
  thinks: boolean;
}

const NONE: EncodedReasoning = { fields: {}, thinks: false };

/** @param forced the encoded request forces a tool call */
export function encodeReasoning(
  request: ChatRequest,
  messages: readonly Message[],
  forced: boolean,
  context: EncodeContext,
): EncodedReasoning {
  const { claude, reasoning } = context.facts;
  if (claude) return encodeThinking(request, messages, forced, claude, context);
  const effort = effortFor(request, context);
  if (effort === undefined) return NONE;
  switch (reasoning) {
    case "nova":
      return { fields: { reasoningConfig: { type: "enabled", maxReasoningEffort: effort } }, thinks: true };
    case "config":
      return { fields: { reasoning_config: effort }, thinks: true };
    default:
      return { fields: { reasoning_effort: effort }, thinks: true };
  }
}

/** The values that Nova, Qwen and the models of OpenAI take. */
const EFFORTS = ["low", "medium", "high"];

function effortFor(request: ChatRequest, context: EncodeContext): string | undefined {
  const { facts, traits, reportLoss } = context;
  const { mode, effort: wanted } = request.reasoning ?? {};
  // These reason only on request.
  const onRequest = facts.reasoning === "nova" || facts.reasoning === "config";
  if (onRequest && (mode === "off" || wanted === "none")) return undefined;
  const isKnown = facts.reasoning !== "unknown";
  const effort = encodeEffort(request, {
    format: FORMAT,
    traits: isKnown ? traits : { ...traits, reasoningEffort: false },
    facts: isKnown ? { efforts: facts.reasoning === "none" ? [] : EFFORTS } : undefined,
    reportLoss,
  });
  if (effort === undefined) return onRequest && mode === "adaptive" ? "medium" : undefined;
  if (facts.reasoning !== "nova" || effort !== "high" || !hasLimits(request)) return effort;
  reportLoss(
    "clamped",
    fieldPath(request, "effort"),
    "the model takes the effort high only without an output limit and sampling fields",
  );
  return "medium";
}

function hasLimits({ maxTokens, temperature, topP, topK }: ChatRequest): boolean {
  return [maxTokens, temperature, topP, topK].some((value) => value !== undefined);
}

function encodeThinking(
  request: ChatRequest,
  messages: readonly Message[],
  forced: boolean,
  facts: ClaudeFacts,
  { reportLoss }: EncodeContext,
): EncodedReasoning {
  const ofTurns = request.turns.findLast(({ effort }) => effort !== undefined)?.effort;
  const limit = Math.min(request.maxTokens ?? defaultMaxTokens(facts), facts.maxTokens);
  const { thinking, effort } = encodeForClaude(request, ofTurns, limit, {
    facts,
    sameFormat: false,
    reportLoss,
  });
  const refusal = thinking?.type === "enabled" ? budgetRefusal(messages, forced) : undefined;
  if (refusal !== undefined) reportLoss("dropped", fieldPath(request, "reasoning"), refusal);
  const kept = refusal === undefined ? thinking : undefined;
  return {
    fields: { ...(kept && { thinking: kept }), ...(effort !== undefined && { output_config: { effort } }) },
    thinks: kept ? kept.type !== "disabled" : facts.thinksByDefault,
  };
}

/** Why Claude refuses a thinking budget; `undefined` if it takes one. */
function budgetRefusal(messages: readonly Message[], forced: boolean): string | undefined {
  if (forced) return "not possible with a forced tool";
  return isMidToolUseUnsigned(messages) ? "the reasoning before the last tool call is missing" : undefined;
}

/** Whether the last assistant message called tools, has results, and does not begin with reasoning. */
function isMidToolUseUnsigned(messages: readonly Message[]): boolean {
  const at = messages.findLastIndex(({ role }) => role === "assistant");
  const { content = [] } = messages[at] ?? {};
  return (
    content.some((block) => block.toolUse !== undefined) &&
    messages[at + 1]?.content.some((block) => block.toolResult !== undefined) === true &&
    content[0]?.reasoningContent === undefined
  );
}
