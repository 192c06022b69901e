/** Encodes reasoning options as `thinkingConfig` (src/formats/README.md#reasoning-effort). */
import type { ChatRequest } from "../../../core/chat.ts";
import type { JsonObject } from "../../../core/json.ts";
import { fieldPath } from "../../shared/paths.ts";
import { LEVELS, type Level, type Thinking } from "../models.ts";
import type { EncodeContext } from "./content.ts";

/** Token budget of each effort, for models that take a budget; the efforts above take the model's maximum. */
const BUDGETS: ReadonlyMap<string, number> = new Map([
  ["minimal", 512],
  ["low", 1024],
  ["medium", 8192],
  ["high", 24_576],
]);

/** The level of each effort. An unknown word counts as `high`. */
const LEVEL_OF: ReadonlyMap<string, Level> = new Map([
  ["minimal", "MINIMAL"],
  ["low", "LOW"],
  ["medium", "MEDIUM"],
]);

/** The client's choice, in the words of no format. */
type Wish = { off: true } | { effort: string } | { budget: number } | { adaptive: true };

/** The member of `generationConfig`; never a budget together with a level, which Google refuses. */
export function encodeReasoning(request: ChatRequest, context: EncodeContext): JsonObject {
  const wish = wishOf(request);
  if (!wish) return {};
  const { facts, reportLoss } = context;
  const { thinking } = facts;
  const path = fieldPath(request, "effort" in wish ? "effort" : "reasoning");
  if (thinking.by === "none") {
    if (!("off" in wish)) reportLoss("dropped", path, "the model does not support reasoning");
    return {};
  }
  const asked = thinking.by === "budget" ? budgetOf(wish, thinking) : levelOf(wish, thinking.levels);
  if (asked.note !== undefined)
    reportLoss(asked.note === "off" ? "downgraded" : "clamped", path, NOTES[asked.note]);
  const shows = !("off" in wish) && request.reasoning?.display !== "omitted";
  return { thinkingConfig: { ...(shows && { includeThoughts: true }), ...asked.config } };
}

const NOTES = {
  off: "reasoning cannot be switched off; the model reasons as little as it can",
  nearest: "the nearest amount of reasoning that the model supports",
} as const;

interface Asked {
  config: JsonObject;
  note?: keyof typeof NOTES;
}

/** The last effort of a turn overrides the effort of the request. */
function wishOf({ reasoning, turns }: ChatRequest): Wish | undefined {
  const effort = turns.findLast((turn) => turn.effort !== undefined)?.effort ?? reasoning?.effort;
  if (reasoning?.mode === "off" || effort === "none") return { off: true };
  if (effort !== undefined) return { effort };
  if (!reasoning) return undefined;
  const { mode, budget } = reasoning;
  if (mode === "budget" && budget !== undefined) return budget <= 0 ? { off: true } : { budget };
  return mode === undefined ? undefined : mode === "between-tools" ? { effort: "low" } : { adaptive: true };
}

function budgetOf(wish: Wish, { min, max, canStop }: Extract<Thinking, { by: "budget" }>): Asked {
  if ("adaptive" in wish) return { config: { thinkingBudget: -1 } };
  if ("off" in wish)
    return canStop ? { config: { thinkingBudget: 0 } } : { config: { thinkingBudget: min }, note: "off" };
  const wanted = "budget" in wish ? wish.budget : (BUDGETS.get(wish.effort) ?? max);
  const thinkingBudget = Math.min(max, Math.max(min, wanted));
  const isNear = "budget" in wish && thinkingBudget !== wanted;
  return { config: { thinkingBudget }, ...(isNear && { note: "nearest" as const }) };
}

/** Highest budget of each level. */
const LEVEL_BY_BUDGET: readonly (readonly [number, Level])[] = [
  [1024, "LOW"],
  [8192, "MEDIUM"],
];

function levelOf(wish: Wish, levels: readonly Level[]): Asked {
  if ("adaptive" in wish) return { config: {} };
  if ("off" in wish) return { config: { thinkingLevel: levels[0]! }, note: "off" };
  const wanted =
    "budget" in wish
      ? (LEVEL_BY_BUDGET.find(([most]) => wish.budget <= most)?.[1] ?? "HIGH")
      : (LEVEL_OF.get(wish.effort) ?? "HIGH");
  const thinkingLevel = nearest(wanted, levels);
  const isNear = thinkingLevel !== wanted;
  return { config: { thinkingLevel }, ...(isNear && { note: "nearest" as const }) };
}

/** The level itself or the next higher one: every model has `HIGH`. */
function nearest(wanted: Level, levels: readonly Level[]): Level {
  return LEVELS.slice(LEVELS.indexOf(wanted)).find((level) => levels.includes(level)) ?? "HIGH";
}
