/** What the options of tools mean, for the manifest and for the code. */
import { Type } from "@sinclair/typebox";
import { CLOSED, milliseconds } from "../../config/sections/kinds.ts";
import { globMatches } from "../../core/glob.ts";

/**
 * Whether a list of patterns permits a name: `*` stands for any text, `!` in front takes names away, and the last pattern that matches
 * decides. A list that only takes away permits all others.
 */
export function permits(patterns: readonly string[], name: string): boolean {
  let permitted = patterns[0]?.startsWith("!") ?? false;
  for (const pattern of patterns) {
    const takes = pattern.startsWith("!");
    if (globMatches(takes ? pattern.slice(1) : pattern, name)) permitted = !takes;
  }
  return permitted;
}

/** Whether a list permits everything that a pattern stands for: conservative, as it compares text. */
export function covers(patterns: readonly string[], pattern: string): boolean {
  return !patterns.some((one) => one.startsWith("!")) && patterns.some((one) => globMatches(one, pattern));
}

const limit = (most: number, usual: number, description: string) =>
  Type.Integer({ minimum: 1, maximum: most, default: usual, description });

export const runOptions = Type.Object(
  {
    maxTurns: limit(100, 8, "Most turns of the model in one answer."),
    maxCalls: limit(1_000, 32, "Most tools that weir runs for one answer."),
    timeoutMs: milliseconds(120_000, "Longest time of an answer whose tools weir runs, in milliseconds."),
    models: Type.Record(Type.String(), Type.Array(Type.String(), { minItems: 1 }), {
      default: {},
      examples: [{ helper: ["github"] }],
      description:
        "Servers whose tools weir offers to calls that name none, by the name of the model or a pattern (`*` stands for any text). `*` in the list: all that the key may use. Servers that a key may not use are left out.",
    }),
  },
  {
    ...CLOSED,
    default: {},
    description:
      "Limits of answers whose tools weir runs. At a limit the answer ends with what the model has said.",
  },
);
