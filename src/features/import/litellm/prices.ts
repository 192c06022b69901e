/** Costs of a model, which LiteLLM has in dollars a token, as prices in dollars a million tokens. */
import type { SourceNode } from "../source.ts";

/** https://docs.litellm.ai/docs/proxy/custom_pricing */
const COSTS: Readonly<Record<string, string>> = {
  input_cost_per_token: "input",
  output_cost_per_token: "output",
  cache_read_input_token_cost: "cacheRead",
  cache_read_input_audio_token_cost: "cacheReadAudio",
  cache_creation_input_token_cost: "cacheWrite",
  cache_creation_input_token_cost_above_1hr: "cacheWrite1h",
  output_cost_per_reasoning_token: "reasoning",
  input_cost_per_audio_token: "audioIn",
  output_cost_per_audio_token: "audioOut",
};
const MILLION = 1_000_000;

/** @param to where in `weir.yaml` @param embeds embeddings have no output @returns undefined if the entry has no costs */
export function readPrice(
  info: SourceNode | undefined,
  params: SourceNode,
  to: string,
  embeds: boolean,
): 0 | Record<string, number> | undefined {
  const found = Object.entries(COSTS).flatMap(([cost, name]) => {
    const node = info?.member(cost) ?? params.member(cost);
    if (node?.number === undefined && typeof node?.value !== "number") return [];
    node.taken(to);
    return [[name, Number((Number(node.value) * MILLION).toPrecision(12))] as const];
  });
  const request = info?.member("input_cost_per_request") ?? params.member("input_cost_per_request");
  if (request?.number !== undefined) {
    request.taken(to);
    found.push(["request", request.number]);
  }
  if (found.length === 0) return undefined;
  if (embeds && !found.some(([name]) => name === "output")) found.push(["output", 0]);
  const why = whyNone(Object.fromEntries(found) as Record<string, number>);
  for (const node of why === undefined ? [] : [info, params].flatMap((one) => one?.members ?? []))
    if (Object.hasOwn(COSTS, node.name) || node.name === "input_cost_per_request")
      node.lost(why!, "add the price to prices");
  if (why !== undefined) return undefined;
  return found.every(([, dollars]) => dollars === 0)
    ? 0
    : (Object.fromEntries(found) as Record<string, number>);
}

/** Most dollars that a price of weir has. */
const MOST = 1_000_000;

/** Why weir cannot have these prices. */
function whyNone(prices: Record<string, number>): string | undefined {
  if (Object.values(prices).some((dollars) => dollars > MOST))
    return "a price of weir is at most 1,000,000 dollars a million tokens";
  const isWhole = prices["input"] !== undefined && prices["output"] !== undefined;
  return isWhole ? undefined : "a price of weir needs input_cost_per_token and output_cost_per_token";
}
