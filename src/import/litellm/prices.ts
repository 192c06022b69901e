/** Costs of a model, which LiteLLM has in dollars a token, as prices in dollars a million tokens. */
import type { SourceNode } from "../source.ts";

/** https://docs.litellm.ai/docs/proxy/custom_pricing */
const COSTS: Readonly<Record<string, string>> = {
  input_cost_per_token: "input",
  output_cost_per_token: "output",
  cache_read_input_token_cost: "cacheRead",
  cache_creation_input_token_cost: "cacheWrite",
  cache_creation_input_token_cost_above_1hr: "cacheWrite1h",
  output_cost_per_reasoning_token: "reasoning",
  input_cost_per_audio_token: "audioIn",
  output_cost_per_audio_token: "audioOut",
};
const MILLION = 1_000_000;

/** @param to where in `weir.yaml` @returns undefined if the entry has no costs */
export function readPrice(
  info: SourceNode | undefined,
  params: SourceNode,
  to: string,
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
  return found.every(([, dollars]) => dollars === 0)
    ? 0
    : (Object.fromEntries(found) as Record<string, number>);
}
