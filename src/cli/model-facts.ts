/** Known facts about a model, as `weir models` prints it. */
import type { ModelFacts, ModelPrices } from "../core/model-facts.ts";

/** Context window and prices, for a row of a list. */
export function brief({ contextWindow, prices, deprecatedOn }: ModelFacts = {}): string[] {
  return [
    contextWindow === undefined ? "" : `${contextWindow.toLocaleString("en")} tokens`,
    prices
      ? (unitTexts(prices)[0] ?? `$${perMillion(prices.input)} in, $${perMillion(prices.output)} out`)
      : "",
    deprecatedOn === undefined ? "" : `until ${deprecatedOn}`,
  ];
}

/** A row for each fact. */
export function factRows(facts: ModelFacts): string[][] {
  const { name, contextWindow, maxOutput, input, output, abilities = {}, prices, deprecatedOn } = facts;
  const named = (wanted: boolean) =>
    Object.entries(abilities)
      .filter(([, value]) => value === wanted)
      .map(([ability]) => ABILITIES[ability as keyof typeof ABILITIES])
      .join(", ");
  const rows: [string, string | undefined][] = [
    ["name", name],
    ["context window", contextWindow && `${contextWindow.toLocaleString("en")} tokens`],
    ["longest answer", maxOutput && `${maxOutput.toLocaleString("en")} tokens`],
    ["takes", input?.join(", ")],
    ["gives", output?.join(", ")],
    ["can", named(true)],
    ["cannot", named(false)],
    ["price", prices && priceText(prices)],
    ["turned off on", deprecatedOn],
  ].map(([what, text]) => [String(what), text ? String(text) : undefined]);
  return rows.flatMap(([what, text]) => (text === undefined ? [] : [[what, text]]));
}

const ABILITIES = {
  tools: "tools",
  parallelTools: "parallel tool calls",
  forcedTools: "forced tool calls",
  jsonSchema: "JSON schemas",
  jsonObject: "JSON objects",
  reasoning: "reasoning",
  sampling: "temperature",
  promptCaching: "prompt caching",
  webSearch: "web search",
} as const;

/** Prices of a million tokens, and of what is not counted in tokens. */
type Single = Exclude<keyof ModelPrices, "units">;

const MILLION: readonly (readonly [Single, string])[] = [
  ["input", "in"],
  ["output", "out"],
  ["cacheRead", "read from a cache"],
  ["cacheWrite", "written to a cache"],
  ["reasoning", "reasoning"],
];
const EACH: readonly (readonly [Single, string])[] = [
  ["request", "a request"],
  ["image", "an image"],
  ["search", "a search"],
];

function priceText(prices: Readonly<ModelPrices>): string {
  const tokens = MILLION.flatMap(([name, what]) =>
    prices[name] === undefined ? [] : [`$${perMillion(prices[name])} ${what}`],
  );
  const each = EACH.flatMap(([name, what]) =>
    prices[name] === undefined ? [] : [`$${prices[name]} ${what}`],
  );
  const units = unitTexts(prices);
  // What is charged by units alone has no price of tokens.
  const all = units.length > 0 && !prices.input ? [] : [`${tokens.join(", ")} a million tokens`];
  return [...all, ...each, ...units].join("; ");
}

function unitTexts({ units = {} }: Readonly<ModelPrices>): string[] {
  return Object.entries(units).map(([unit, dollars]) => `$${dollars} a ${unit}`);
}

/** Without the noise of floating point. */
function perMillion(dollars: number): string {
  return String(Number((dollars * 1_000_000).toPrecision(12)));
}
