/** Token counts of the Messages format; they are disjoint, like the canonical counts. */
import type { BesideUsage, Usage } from "../../core/events.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { isObject } from "../../core/json.ts";
import { list } from "../shared/read.ts";
import { count, reportedCost } from "../shared/token-counts.ts";

/** Values of `service_tier` in usage. */
const TIERS = ["standard", "priority", "batch"];

/** Encodes the `usage` member of a message. */
export function encodeUsage(usage: Usage): JsonObject {
  const { cacheWrite, cacheWrite1h, tier } = usage;
  return {
    ...encodeTotals(usage),
    cache_creation:
      cacheWrite1h === undefined
        ? null
        : { ephemeral_5m_input_tokens: cacheWrite - cacheWrite1h, ephemeral_1h_input_tokens: cacheWrite1h },
    server_tool_use: null,
    service_tier: tier !== undefined && TIERS.includes(tier) ? tier : null,
  };
}

/** Encodes the running totals of a `message_delta`, which replace the first counts. */
export function encodeTotals(usage: Usage): JsonObject {
  return {
    input_tokens: usage.input,
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
    output_tokens: usage.output,
    output_tokens_details: usage.reasoning > 0 ? { thinking_tokens: usage.reasoning } : null,
  };
}

/**
 * Decodes the counts that are present; for absent and null ones the last known count holds.
 * @param isEnd the counts are from the end of the answer and include the output
 */
export function decodeUsage(value: Json | undefined, isEnd: boolean): Partial<Usage> {
  if (!isObject(value)) return {};
  const details = isObject(value.output_tokens_details) ? value.output_tokens_details : {};
  const written = isObject(value.cache_creation) ? value.cache_creation : {};
  const ran = isObject(value.server_tool_use) ? value.server_tool_use : {};
  const output = count(value.output_tokens);
  return {
    input: count(value.input_tokens),
    cacheRead: count(value.cache_read_input_tokens),
    cacheWrite: count(value.cache_creation_input_tokens),
    output,
    reasoning: count(details.thinking_tokens),
    cacheWrite1h: count(written.ephemeral_1h_input_tokens),
    searches: count(ran.web_search_requests) || undefined,
    tier: word(value.service_tier),
    region: regionOf(value.inference_geo),
    speed: word(value.speed),
    reported: reportedCost(value),
    beside: besideOf(value.iterations),
    known: isEnd && output !== undefined ? "final" : "partial",
  };
}

/** Kinds of iterations that the totals are the sum of. */
const IN_TOTALS = new Set<Json | undefined>(["message", "fallback_message"]);

/** The totals leave out what a compaction of the conversation and an advisor used. */
function besideOf(iterations: Json | undefined): BesideUsage[] | undefined {
  const others = list(iterations)
    .filter(isObject)
    .filter(({ type }) => !IN_TOTALS.has(type));
  if (others.length === 0) return undefined;
  return others.map((iteration) => {
    const written = isObject(iteration.cache_creation) ? iteration.cache_creation : {};
    return {
      model: word(iteration.model),
      input: count(iteration.input_tokens) ?? 0,
      cacheRead: count(iteration.cache_read_input_tokens) ?? 0,
      cacheWrite: count(iteration.cache_creation_input_tokens) ?? 0,
      cacheWrite1h: count(written.ephemeral_1h_input_tokens),
      output: count(iteration.output_tokens) ?? 0,
    };
  });
}

/** Hosts other than Anthropic's own send a word for an unknown region. */
function regionOf(value: Json | undefined): string | undefined {
  return value === "not_available" ? undefined : word(value);
}

function word(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}
