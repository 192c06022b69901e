/** Encodes the reasoning effort. */
import type { ChatRequest, ReasoningOptions } from "../../../core/chat.ts";
import { COMMON_EFFORTS, nearestEffort } from "../models.ts";
import { type EncodeContext, FORMAT } from "./content.ts";
import { fieldPath } from "./paths.ts";

/** Budgets in tokens below which the word stands. */
const EFFORT_BY_BUDGET: readonly [number, string][] = [
  [2048, "minimal"],
  [8192, "low"],
  [16_384, "medium"],
  [32_768, "high"],
  [Number.POSITIVE_INFINITY, "xhigh"],
];

/** `reasoning_effort`, or nothing when there is nothing to say or nobody to say it to. */
export function encodeEffort(request: ChatRequest, context: EncodeContext): string | undefined {
  const wished = wishedEffort(request);
  const effort = wished === undefined ? undefined : permitted(wished, request.reasoning, context);
  return withoutEffortForTools(effort, request, context);
}

/** The last effort of a turn overrides that of the request. */
function wishedEffort({ reasoning, turns, extra }: ChatRequest): string | undefined {
  const turnEffort = turns.findLast((turn) => turn.effort !== undefined)?.effort;
  if (reasoning?.mode === "off") return "none";
  const said = turnEffort ?? reasoning?.effort;
  if (said !== undefined) return said;
  // A client of this format that speaks a vendor's own dialect reaches it with its own fields.
  const own = extra[FORMAT];
  if (!reasoning || own?.thinking !== undefined || own?.reasoning !== undefined) return undefined;
  if (reasoning.mode === "between-tools") return "low";
  if (reasoning.mode !== "budget") return undefined;
  return EFFORT_BY_BUDGET.find(([below]) => (reasoning.budget ?? 0) < below)?.[1];
}

function permitted(
  wished: string,
  reasoning: ReasoningOptions | undefined,
  { call, traits, facts }: EncodeContext,
): string | undefined {
  const path = fieldPath(
    call,
    reasoning?.mode === "off" || reasoning?.mode === "budget" ? "thinking" : "effort",
  );
  const levels = facts?.efforts ?? COMMON_EFFORTS;
  const deaf = traits.reasoningEffort === false || levels.length === 0;
  if (wished === "none" && (deaf || !facts)) {
    // A model without a switch does what it does; for one that does not think this is what was wished.
    if (facts?.efforts.length !== 0)
      call.reportLoss("dropped", path, "the provider cannot be told not to think");
    return undefined;
  }
  if (deaf) {
    call.reportLoss("dropped", path, "the model takes no effort");
    return undefined;
  }
  const effort = nearestEffort(wished, levels);
  if (effort !== wished && reasoning?.mode !== "budget")
    call.reportLoss("clamped", path, "the nearest level the model takes");
  return effort;
}

/** From gpt-5.4 on, function tools and reasoning exclude each other on this endpoint. */
function withoutEffortForTools(
  effort: string | undefined,
  { tools }: ChatRequest,
  { call, facts }: EncodeContext,
): string | undefined {
  if (!facts?.toolsWithoutEffort || tools.length === 0 || effort === "none") return effort;
  if (effort === undefined && facts.defaultEffort === "none") return undefined;
  call.reportLoss(
    "downgraded",
    fieldPath(call, "effort"),
    "the model takes tools on this endpoint only without reasoning",
  );
  return "none";
}
