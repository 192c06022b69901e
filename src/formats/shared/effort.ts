/** Chooses the reasoning effort for the formats of OpenAI. */
import type { ChatRequest } from "../../core/chat.ts";
import { COMMON_EFFORTS, nearestEffort } from "./openai-models.ts";
import type { PartContext } from "./openai-parts.ts";
import { fieldPath } from "./paths.ts";

/** Context of the effort besides the request. */
export interface EffortContext extends Pick<PartContext, "format" | "traits" | "reportLoss"> {
  /** `efforts`: the values that the model takes, lowest first. Absent: the model is not known. */
  facts?: { efforts: readonly string[] };
}

/** Effort for a token budget below the given number. */
const EFFORT_BY_BUDGET: readonly [number, string][] = [
  [2048, "minimal"],
  [8192, "low"],
  [16_384, "medium"],
  [32_768, "high"],
  [Number.POSITIVE_INFINITY, "xhigh"],
];

/** Returns the effort; `undefined` if the client did not ask for one or the model does not support it. */
export function encodeEffort(request: ChatRequest, context: EffortContext): string | undefined {
  const requested = requestedEffort(request, context.format);
  if (requested !== undefined) return supportedEffort(requested, request, context);
  const wantsReasoning = request.reasoning?.mode === "adaptive" && !hasOwnField(request, context.format);
  if (wantsReasoning && context.facts?.efforts.length === 0)
    context.reportLoss("dropped", fieldPath(request, "reasoning"), "the model does not reason");
  return undefined;
}

/** The vendor fields of a client of this format are passed on and must not be overridden. */
function hasOwnField({ extra }: ChatRequest, format: string): boolean {
  const own = extra[format];
  return own?.thinking !== undefined || own?.reasoning !== undefined;
}

/** The last effort of a turn overrides the effort of the request. */
function requestedEffort(request: ChatRequest, format: string): string | undefined {
  const { reasoning, turns } = request;
  const turnEffort = turns.findLast((turn) => turn.effort !== undefined)?.effort;
  if (reasoning?.mode === "off") return "none";
  const effort = turnEffort ?? reasoning?.effort;
  if (effort !== undefined) return effort;
  if (!reasoning || hasOwnField(request, format)) return undefined;
  if (reasoning.mode === "between-tools") return "low";
  if (reasoning.mode !== "budget") return undefined;
  return EFFORT_BY_BUDGET.find(([below]) => (reasoning.budget ?? 0) < below)?.[1];
}

function supportedEffort(
  requested: string,
  request: ChatRequest,
  { traits, facts, reportLoss }: EffortContext,
): string | undefined {
  const { reasoning } = request;
  const path = fieldPath(
    request,
    reasoning?.mode === "off" || reasoning?.mode === "budget" ? "reasoning" : "effort",
  );
  const levels = facts?.efforts ?? COMMON_EFFORTS;
  const unsupported = traits.reasoningEffort === false || levels.length === 0;
  if (requested === "none" && (unsupported || !facts)) {
    // No loss for a model that does not reason.
    if (facts?.efforts.length !== 0)
      reportLoss("dropped", path, "reasoning cannot be switched off at this provider");
    return undefined;
  }
  if (unsupported) {
    reportLoss("dropped", path, "the model does not support a reasoning effort");
    return undefined;
  }
  const effort = nearestEffort(requested, levels);
  if (effort !== requested && reasoning?.mode !== "budget")
    reportLoss("clamped", path, "the nearest effort that the model supports");
  return effort;
}
