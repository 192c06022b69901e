/** The verdicts of guards in the record of a call. */
import { Type } from "@sinclair/typebox";
import { column } from "../../core/column.ts";

export type Verdict = "passed" | "replaced" | "masked" | "flagged" | "blocked" | "unavailable";

/** What one guard did with one call. */
export interface GuardFacts {
  readonly name: string;
  readonly verdict: Verdict;
  /** Values that it found, in the request and in the answer. */
  readonly count: number;
  /** Values by kind. */
  readonly kinds: Readonly<Record<string, number>>;
  /** Path of the first text in which it found one. */
  readonly place?: string;
}

export const guardFacts = column({
  name: "guards",
  schema: Type.Unsafe<readonly GuardFacts[]>(
    Type.Array(
      Type.Object({
        name: Type.String({ description: "Name of the guard." }),
        verdict: Type.String({
          description:
            "`passed`, `replaced`, `masked`, `flagged`, `blocked`, or `unavailable`: the call went on without a verdict.",
        }),
        count: Type.Integer({ description: "Values that it found." }),
        kinds: Type.Record(Type.String(), Type.Integer(), { description: "Values by kind." }),
        place: Type.Optional(
          Type.String({
            description: "Path of the first text in which it found one: `messages[0].content`.",
          }),
        ),
      }),
      { description: "The guards that ran, with what they found: kinds and counts, never values." },
    ),
  ),
  before: "facts",
  line: (facts) => `guards ${inWords(facts)}`,
  log: { name: "guards" },
  fact: { label: "Guards", text: (facts) => inWords(facts) },
});

/** `pii=replaced:3, secrets=passed`, as the header has it too. */
export function inWords(facts: readonly GuardFacts[]): string {
  return facts
    .map(({ name, verdict, count }) => `${name}=${verdict}${count > 0 ? `:${count}` : ""}`)
    .join(", ");
}
