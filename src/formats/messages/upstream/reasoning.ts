/** How much to think: the canonical wish → `thinking` and `output_config.effort` (src/formats/README.md#reasoning-effort). */
import type { Call } from "../../../core/call.ts";
import type { ChatRequest, ReasoningOptions } from "../../../core/chat.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { ModelFacts } from "../models.ts";
import { FORMAT } from "./content.ts";
import { fieldPath } from "./paths.ts";

export interface EncodedReasoning {
  thinking?: JsonObject;
  effort?: string;
}

/** Effort words, rising; `minimal` is one only chat-completions has. */
const EFFORTS = ["minimal", "low", "medium", "high", "xhigh", "max"];

const MEDIUM_BUDGET = 10_000;

/** Tokens for each effort, on models that take a budget. */
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

/** The effort nearest to a budget, on models that take none: up to so many tokens. */
const NEAREST: [below: number, effort: string][] = [
  [2048, "low"],
  [8192, "medium"],
  [24_576, "high"],
  [Number.POSITIVE_INFINITY, "xhigh"],
];

const MIN_BUDGET = 1024;
/** Part of the output limit reasoning may take, so that an answer fits behind it. */
const BUDGET_SHARE = 0.8;

/** @param maxTokens the output limit that is sent. */
export function encodeReasoning(
  request: ChatRequest,
  effortOfTurns: string | undefined,
  maxTokens: number,
  facts: ModelFacts,
  call: Call,
): EncodedReasoning {
  const wish: ReasoningOptions = {
    ...request.reasoning,
    ...(effortOfTurns !== undefined && { effort: effortOfTurns }),
  };
  if (wish.mode === "off" || wish.effort === "none") return switchOff(wish, facts, call);
  const effort = clampEffort(wish.effort, facts, call);
  // In this format an effort alone does not ask for thinking; in chat-completions it is the only way to ask.
  const asked =
    wish.mode !== undefined || (call.format !== FORMAT && (wish.effort ?? wish.budget) !== undefined);
  if (!asked) return { effort };
  if (wish.mode === "between-tools" && facts.thinking.includes("between_tools"))
    return { thinking: { type: "between_tools" }, effort };
  const keepsBudget = wish.mode === "budget" && call.format === FORMAT && facts.thinking.includes("enabled");
  if (facts.thinking.includes("adaptive") && !keepsBudget)
    return adaptive(wish, effort, request, facts, call);
  if (!facts.thinking.includes("enabled")) {
    call.reportLoss("dropped", fieldPath("thinking", call), "the model does not think");
    return { effort };
  }
  return { ...budgeted(wish, maxTokens, request, facts, call), effort };
}

function switchOff(wish: ReasoningOptions, facts: ModelFacts, call: Call): EncodedReasoning {
  const path = fieldPath("thinking", call);
  const effort = wish.effort === "none" ? undefined : clampEffort(wish.effort, facts, call);
  if (facts.thinking.includes("disabled")) {
    if (!facts.thinksByDefault)
      return effort === undefined ? offByDefault(facts) : { ...offByDefault(facts), effort };
    // Models that think by default can be told not to, though not at the two highest efforts.
    const tooHigh = effort === "xhigh" || effort === "max";
    if (tooHigh) call.reportLoss("clamped", fieldPath("effort", call));
    return { thinking: { type: "disabled" }, effort: tooHigh ? "high" : effort };
  }
  if (facts.thinking.includes("between_tools")) {
    call.reportLoss("downgraded", path, "the model thinks between tool calls only");
    return { thinking: { type: "between_tools" }, effort };
  }
  if (facts.thinking.length === 0) return { effort };
  call.reportLoss("downgraded", path, "the model always thinks; its effort is low");
  return { effort: "low" };
}

/** Models that take a budget only know thinking as something extra: leaving it out says it all. */
function offByDefault(facts: ModelFacts): EncodedReasoning {
  return facts.thinking.includes("adaptive") ? { thinking: { type: "disabled" } } : {};
}

function adaptive(
  wish: ReasoningOptions,
  effort: string | undefined,
  request: ChatRequest,
  facts: ModelFacts,
  call: Call,
): EncodedReasoning {
  const { budget } = wish;
  const nearest = budget === undefined ? undefined : NEAREST.find(([below]) => budget < below)?.[1];
  if (wish.mode === "budget" && call.format === FORMAT)
    call.reportLoss("converted", "thinking", "the model takes an effort instead of a budget");
  return {
    thinking: { type: "adaptive", ...display(wish, request, facts, call) },
    effort: effort ?? clampEffort(nearest, facts, call),
  };
}

function budgeted(
  wish: ReasoningOptions,
  maxTokens: number,
  request: ChatRequest,
  facts: ModelFacts,
  call: Call,
): EncodedReasoning {
  const wanted = wish.budget ?? BUDGETS.get(wish.effort ?? "medium") ?? MEDIUM_BUDGET;
  const shown = display(wish, request, facts, call);
  if (wish.mode === "budget" && call.format === FORMAT)
    return { thinking: { type: "enabled", budget_tokens: wanted, ...shown } };
  const most = Math.floor(BUDGET_SHARE * maxTokens);
  if (most < MIN_BUDGET) {
    call.reportLoss("dropped", fieldPath("thinking", call), "the output limit leaves no room for thinking");
    return {};
  }
  return {
    thinking: { type: "enabled", budget_tokens: Math.min(Math.max(wanted, MIN_BUDGET), most), ...shown },
  };
}

/** What the client said; else whoever asked for thinking also wants to see it, unless it said not to. */
function display(wish: ReasoningOptions, request: ChatRequest, facts: ModelFacts, call: Call): JsonObject {
  if (wish.display !== undefined) return { display: wish.display };
  if (call.format === FORMAT) return {};
  return facts.showsReasoning || request.style.hideReasoning ? {} : { display: "summarized" };
}

/** The word the model knows, or the highest one below it. */
function clampEffort(effort: string | undefined, facts: ModelFacts, call: Call): string | undefined {
  if (effort === undefined || facts.efforts.includes(effort)) return effort;
  if (effort === "minimal" && facts.efforts.includes("low")) return "low";
  const rank = EFFORTS.indexOf(effort);
  const lower = facts.efforts.findLast((known) => EFFORTS.indexOf(known) <= rank);
  // Where only budgets are known, the word becomes one; nothing is lost by that.
  if (lower !== undefined || !facts.thinking.includes("enabled"))
    call.reportLoss("clamped", fieldPath("effort", call));
  return lower;
}
