/** Metrics of tools. */
import { counter } from "../../core/metric.ts";

export const toolCalls = counter(
  "weir_tool_calls_total",
  ["server", "tool", "outcome"],
  "Calls of tools: `result`, `tool_error` (the tool says that it failed), `input` (the server waits for the client), `error` (no result), `left` (the client has gone).",
);

export const toolRepairs = counter(
  "weir_tool_repairs_total",
  ["server", "kind"],
  "What weir added to results of servers of revision 2026-07-28: `result_type`, `cache_hints`.",
);
