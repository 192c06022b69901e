/** Token counts of the Messages format; its buckets are disjoint, as the canonical ones are (contract E.3.1). */
import type { Usage } from "../../core/events.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { isObject } from "../../core/json.ts";

/** The whole `usage` member of a message. */
export function encodeUsage(usage: Usage): JsonObject {
  return {
    ...encodeTotals(usage),
    cache_creation: null,
    server_tool_use: null,
    service_tier: null,
  };
}

/** The running totals of a `message_delta`: what a client overwrites its first numbers with. */
export function encodeTotals(usage: Usage): JsonObject {
  return {
    input_tokens: usage.input,
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
    output_tokens: usage.output,
    output_tokens_details: usage.reasoning > 0 ? { thinking_tokens: usage.reasoning } : null,
  };
}

/** The counts that are there; absent and null ones say nothing, so that the last known one stays. */
export function decodeUsage(value: Json | undefined): Partial<Usage> {
  if (!isObject(value)) return {};
  const details = isObject(value.output_tokens_details) ? value.output_tokens_details : {};
  return {
    input: count(value.input_tokens),
    cacheRead: count(value.cache_read_input_tokens),
    cacheWrite: count(value.cache_creation_input_tokens),
    output: count(value.output_tokens),
    reasoning: count(details.thinking_tokens),
  };
}

function count(value: Json | undefined): number | undefined {
  return typeof value === "number" && value >= 0 ? Math.trunc(value) : undefined;
}
