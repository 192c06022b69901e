/** The headers by which clients ask for tools, and learn what ran. */
import type { CallHeader } from "../../core/call-header.ts";

export const runHeaders: readonly CallHeader[] = [
  {
    name: "x-weir-tools",
    request: {
      description:
        "Names of servers, separated by commas, or `*` for all that the key may use: weir offers their tools to the model, and runs them.",
    },
  },
  {
    name: "x-weir-tools-detail",
    request: {
      description:
        "`yes`: an answer of chat-completions has the calls of tools that weir ran, and their results in `weir_tool_results`.",
      values: ["yes"],
    },
  },
  {
    name: "x-weir-tools-run",
    answer: "Of an answer that is no stream: how many tools weir has run for it.",
  },
];
