/** Encodes reasoning options in the words of Claude: `thinking` and an effort (src/formats/README.md#reasoning-effort). */
import type { ChatRequest, ReasoningOptions } from "../../core/chat.ts";
import type { JsonObject } from "../../core/json.ts";
import type { ModelFacts } from "./claude-models.ts";
import type { EncodeContext as BaseContext } from "./encode-context.ts";
import { fieldPath } from "./paths.ts";

/** Context of encoding for a Claude model. */
export interface ClaudeContext extends Pick<BaseContext, "sameFormat" | "reportLoss"> {
  facts: ModelFacts;
}

export interface EncodedReasoning {
  thinking?: JsonObject;
  effort?: string;
}

/** The efforts of all vendors, lowest first. */
const EFFORTS = ["minimal", "low", "medium", "high", "xhigh", "max"];

const MEDIUM_BUDGET = 10_000;

/** Token budget for each effort, for models that take a budget. */
const BUDGETS: ReadonlyMap<string, number> = new Map(
  Object.entries<number>({
    minimal: 1024,
    low: 4096,
    medium: MEDIUM_BUDGET,
    high: 16_000,
    xhigh: 32_000,
    max: 32_000,
  }),
);

/** Effort for a budget below the given number of tokens, for models that take no budget. */
const NEAREST: [below: number, effort: string][] = [
  [2048, "low"],
  [8192, "medium"],
  [24_576, "high"],
  [Number.POSITIVE_INFINITY, "xhigh"],
];

const MIN_BUDGET = 1024;
/** Share of the output limit for reasoning; the rest is for the answer. */
const BUDGET_SHARE = 0.8;

/** @param maxTokens the output limit of the encoded request */
export function encodeReasoning(
  request: ChatRequest,
  effortOfTurns: string | undefined,
  maxTokens: number,
  context: ClaudeContext,
): EncodedReasoning {
  if (!request.reasoning && effortOfTurns === undefined) return NOTHING_ASKED;
  const { facts, sameFormat } = context;
  const options: ReasoningOptions = {
    ...request.reasoning,
    ...(effortOfTurns !== undefined && { effort: effortOfTurns }),
  };
  if (options.mode === "off" || options.effort === "none") return switchOff(options, request, context);
  const effort = clampEffort(options.effort, request, context);
  // In this format an effort alone does not request thinking; clients of others have no further way to request it.
  const asked =
    options.mode !== undefined || (!sameFormat && (options.effort ?? options.budget) !== undefined);
  if (!asked) return { effort };
  if (options.mode === "between-tools" && facts.thinking.includes("between_tools"))
    return { thinking: { type: "between_tools" }, effort };
  const keepsBudget = options.mode === "budget" && sameFormat && facts.thinking.includes("enabled");
  if (facts.thinking.includes("adaptive") && !keepsBudget) return adaptive(options, effort, request, context);
  if (!facts.thinking.includes("enabled")) {
    context.reportLoss("dropped", fieldPath(request, "reasoning"), "the model does not support reasoning");
    return { effort };
  }
  return { ...budgeted(options, maxTokens, request, context), effort };
}

const NOTHING_ASKED: EncodedReasoning = {};

function switchOff(
  options: ReasoningOptions,
  request: ChatRequest,
  context: ClaudeContext,
): EncodedReasoning {
  const { facts, reportLoss } = context;
  const path = fieldPath(request, "reasoning");
  const effort = options.effort === "none" ? undefined : clampEffort(options.effort, request, context);
  if (facts.thinking.includes("disabled")) {
    if (!facts.thinksByDefault)
      return effort === undefined ? offByDefault(facts) : { ...offByDefault(facts), effort };
    // Models that reason by default allow to switch it off, but not at the two highest efforts.
    const tooHigh = effort === "xhigh" || effort === "max";
    if (tooHigh) reportLoss("clamped", fieldPath(request, "effort"));
    return { thinking: { type: "disabled" }, effort: tooHigh ? "high" : effort };
  }
  if (facts.thinking.includes("between_tools")) {
    reportLoss("downgraded", path, "the model reasons only between tool calls");
    return { thinking: { type: "between_tools" }, effort };
  }
  if (facts.thinking.length === 0) return { effort };
  reportLoss("downgraded", path, "the model always reasons; weir sets its effort to low");
  return { effort: "low" };
}

/** Models that take only a budget reason only if the request has `thinking`. */
function offByDefault(facts: ModelFacts): EncodedReasoning {
  return facts.thinking.includes("adaptive") ? { thinking: { type: "disabled" } } : {};
}

function adaptive(
  options: ReasoningOptions,
  effort: string | undefined,
  request: ChatRequest,
  context: ClaudeContext,
): EncodedReasoning {
  const { budget } = options;
  const nearest = budget === undefined ? undefined : NEAREST.find(([below]) => budget < below)?.[1];
  if (options.mode === "budget" && context.sameFormat)
    context.reportLoss(
      "converted",
      fieldPath(request, "reasoning"),
      "the model takes an effort, not a token budget",
    );
  return {
    thinking: { type: "adaptive", ...display(options, request, context) },
    effort: effort ?? clampEffort(nearest, request, context),
  };
}

function budgeted(
  options: ReasoningOptions,
  maxTokens: number,
  request: ChatRequest,
  context: ClaudeContext,
): EncodedReasoning {
  const requested = options.budget ?? BUDGETS.get(options.effort ?? "medium") ?? MEDIUM_BUDGET;
  const shown = display(options, request, context);
  if (options.mode === "budget" && context.sameFormat)
    return { thinking: { type: "enabled", budget_tokens: requested, ...shown } };
  const most = Math.floor(BUDGET_SHARE * maxTokens);
  if (most < MIN_BUDGET) {
    context.reportLoss(
      "dropped",
      fieldPath(request, "reasoning"),
      "the output limit is too small for reasoning",
    );
    return {};
  }
  return {
    thinking: { type: "enabled", budget_tokens: Math.min(Math.max(requested, MIN_BUDGET), most), ...shown },
  };
}

/** The client's `display`; without one, a client that asked for reasoning gets it unless it asked to hide it. */
function display(
  options: ReasoningOptions,
  request: ChatRequest,
  { facts, sameFormat }: ClaudeContext,
): JsonObject {
  if (options.display !== undefined) return { display: options.display };
  if (sameFormat) return {};
  return facts.showsReasoning || request.style.hideReasoning ? {} : { display: "summarized" };
}

/** Returns the effort if the model supports it, else the next lower one. */
function clampEffort(
  effort: string | undefined,
  request: ChatRequest,
  { facts, reportLoss }: ClaudeContext,
): string | undefined {
  if (effort === undefined || facts.efforts.includes(effort)) return effort;
  if (effort === "minimal" && facts.efforts.includes("low")) return "low";
  const rank = EFFORTS.indexOf(effort);
  const lower = facts.efforts.findLast((known) => EFFORTS.indexOf(known) <= rank);
  // For models that take only a budget the effort becomes one, which is no loss.
  if (lower !== undefined || !facts.thinking.includes("enabled"))
    reportLoss("clamped", fieldPath(request, "effort"));
  return lower;
}
