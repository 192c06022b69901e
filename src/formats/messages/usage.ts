/** Token counts of the Messages format; they are disjoint, like the canonical counts. */
import type { Usage } from "../../core/events.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { isObject } from "../../core/json.ts";
import { reportedCost } from "../shared/token-counts.ts";

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
    region: word(value.inference_geo),
    speed: word(value.speed),
    reported: reportedCost(value),
    known: isEnd && output !== undefined ? "final" : "partial",
  };
}

function word(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function count(value: Json | undefined): number | undefined {
  return typeof value === "number" && value >= 0 ? Math.trunc(value) : undefined;
}
