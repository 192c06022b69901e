/** The options `tools.run`, and the headers by which clients ask for tools and learn what ran. */
import { Type } from "@sinclair/typebox";
import { CLOSED, milliseconds } from "../../../config/sections/kinds.ts";
import type { CallHeader } from "../../../core/call-header.ts";

const limit = (most: number, usual: number, description: string) =>
  Type.Integer({ minimum: 1, maximum: most, default: usual, description });

export const runOptions = Type.Object(
  {
    maxTurns: limit(100, 8, "Most turns of the model in one answer."),
    maxCalls: limit(1_000, 32, "Most tools that weir runs for one answer."),
    timeoutMs: milliseconds(120_000, "Longest time of an answer whose tools weir runs, in milliseconds."),
  },
  {
    ...CLOSED,
    default: {},
    description:
      "Limits of answers whose tools weir runs. At a limit the answer ends with what the model has said.",
  },
);

export const runHeaders: readonly CallHeader[] = [
  {
    name: "x-weir-tools",
    request: {
      description:
        "Names of servers, separated by commas, or `*` for all that the key may use: weir offers their tools to the model, and runs them.",
    },
  },
  {
    name: "x-weir-tools-run",
    answer: "Of an answer that is no stream: how many tools weir has run for it.",
  },
];
