/** Whether the wish for reasoning reaches a Gemini model in the form that the model takes. */
import type { Client } from "./clients.ts";
import { objectOf, textOf, type Value } from "./said.ts";

/** Budgets of Gemini 2.5 in tokens, and levels of Gemini 3, by the word. */
const BUDGETS: Readonly<Record<string, number>> = { minimal: 512, low: 1024, medium: 8192, high: 24_576 };
const LEVELS: Readonly<Record<string, readonly string[]>> = {
  none: ["MINIMAL", "LOW"],
  minimal: ["MINIMAL", "LOW"],
  low: ["LOW"],
  medium: ["MEDIUM", "HIGH"],
  high: ["HIGH"],
  xhigh: ["HIGH"],
  max: ["HIGH"],
};

/** Faults of `generationConfig.thinkingConfig`, unless a loss tells of a difference. */
export function thinkingFaults(
  client: Client,
  sent: Value,
  reached: Value,
  model: string,
  losses: readonly string[],
): string[] {
  const { thinkingLevel, thinkingBudget } = objectOf(objectOf(reached["generationConfig"])["thinkingConfig"]);
  const takesLevels = /gemini-3/.test(model);
  const faults: string[] = [];
  if (takesLevels && thinkingBudget !== undefined)
    faults.push("a budget of thinking to a model that takes levels");
  if (!takesLevels && thinkingLevel !== undefined)
    faults.push("a level of thinking to a model that takes budgets");
  const wish = wishOf(client, sent);
  if (wish === undefined || losses.some((path) => /^(reasoning|thinking|output_config)/.test(path)))
    return faults;
  const level = textOf(thinkingLevel);
  const isRight = takesLevels ? (LEVELS[wish] ?? [level]).includes(level) : isBudget(wish, thinkingBudget);
  const got = takesLevels ? level : String(thinkingBudget);
  return isRight ? faults : [...faults, `effort: ${wish} became ${got || "nothing"} without a word`];
}

function isBudget(wish: string, budget: unknown): boolean {
  if (wish === "none") return budget === 0;
  const wanted = BUDGETS[wish];
  return wanted === undefined ? typeof budget === "number" : budget === wanted;
}

/** The wish as a word. A budget in tokens has no word that every model shares. */
function wishOf(
  client: Client,
  { reasoning_effort: effort, reasoning, thinking, output_config: output }: Value,
): string | undefined {
  if (client === "messages" && objectOf(thinking)["type"] === "disabled") return "none";
  const word = client === "messages" ? objectOf(output)["effort"] : (objectOf(reasoning)["effort"] ?? effort);
  return typeof word === "string" && word in LEVELS ? word : undefined;
}
