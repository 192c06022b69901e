/** The lines of `weir probe HOST` before its first call: calls, tokens, and the cost where the price is known. */
import { loadConfig } from "../../config/load.ts";
import { formatNano, type Nano } from "../../ledger/money.ts";
import { PriceBook } from "../../ledger/prices/book.ts";
import { costAtMost } from "../../ledger/prices/price.ts";
import type { Plan } from "./plan.ts";
import { PROBES } from "./probes/index.ts";
import { configOptions, type Context, valueFlags } from "../../cli/command.ts";

/** The most that the calls can cost; `undefined` if the price of the model is not known. */
export function boundOf(
  provider: string,
  model: string | undefined,
  { answers, inputTokens, outputTokens }: Plan,
  context: Context,
): Nano | undefined {
  if (model === undefined) return undefined;
  const { "--config": config } = valueFlags(context.flags);
  const { prices } = loadConfig({ ...configOptions(context), flags: { "--config": config } }).config;
  const rule = new PriceBook(prices).lookup(provider, model);
  if (!rule) return undefined;
  const input = Math.ceil(inputTokens / answers);
  const output = Math.ceil(outputTokens / answers);
  return answers * costAtMost(rule, { input, output });
}

export function describePlan(
  baseUrl: string,
  model: string | undefined,
  plan: Plan,
  cost: Nano | undefined,
  lists: boolean,
): string[] {
  const { calls, answers, inputTokens, outputTokens } = plan;
  const price = cost === undefined ? "the price of the model is not known" : `${formatNano(cost)} at most`;
  const number = (count: number) => count.toLocaleString("en-US");
  return [
    `weir asks ${baseUrl} for ${model ?? "its first text model"}: at most ${calls} calls, ${answers} of them for an answer.`,
    `At most ${number(inputTokens)} input and ${number(outputTokens)} output tokens; ${price}.`,
    ...(lists
      ? PROBES.map(({ asks, calls: most }) => `  ${most === 1 ? "1 call: " : `up to ${most}: `}${asks}`)
      : []),
  ];
}
