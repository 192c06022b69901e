/** The verdicts of guards in the record of a call. */
import { Type } from "@sinclair/typebox";
import { column } from "../../core/column.ts";
import { PHASES, type Phase, VERDICTS, type Verdict } from "./declarations.ts";

/** Numbers of values or texts by kind. */
export type Counts = Readonly<Record<string, number>>;

/** What one guard did with one call. */
export interface GuardFacts {
  readonly name: string;
  /** The gravest one of its phases. */
  readonly verdict: Verdict;
  /** The verdict on the request and on the answer; a phase in which it has read nothing is absent. */
  readonly phases: Readonly<Partial<Record<Phase, Verdict>>>;
  /** When it judges answers. */
  readonly mode: string;
  /** Values that it found, in the request and in the answer. */
  readonly count: number;
  /** Values by kind. */
  readonly kinds: Counts;
  /** Path of the first text in which it found one. */
  readonly place?: string;
  /** Kind and HMAC of the first values, as their tokens have it: equal values have equal marks. At most {@link MOST_MARKS}. */
  readonly marks?: readonly string[];
  /** Content that weir cannot read, by kind. */
  readonly uninspected?: Counts;
  /** Time that it took in all. Milliseconds. */
  readonly ms: number;
}

/** Marks in a record. */
export const MOST_MARKS = 8;

const verdict = (description: string) =>
  Type.Union(
    VERDICTS.map((one) => Type.Literal(one)),
    { description },
  );
const counts = (description: string) => Type.Record(Type.String(), Type.Integer(), { description });

export const guardFacts = column({
  name: "guards",
  schema: Type.Unsafe<readonly GuardFacts[]>(
    Type.Array(
      Type.Object({
        name: Type.String({ description: "Name of the guard." }),
        verdict: verdict(
          "The gravest verdict of its phases. `unavailable`: it could not judge; `not-inspected`: there was nothing that it reads.",
        ),
        phases: Type.Object(Object.fromEntries(PHASES.map((phase) => [phase, Type.Optional(verdict(""))])), {
          description:
            "The verdict on the request (`input`) and on the answer (`output`), if it has read any of it.",
        }),
        mode: Type.String({ description: "When it judges answers." }),
        count: Type.Integer({ description: "Values that it found." }),
        kinds: counts("Values by kind."),
        place: Type.Optional(
          Type.String({
            description: "Path of the first text in which it found one: `messages[0].content`.",
          }),
        ),
        marks: Type.Optional(
          Type.Array(Type.String(), {
            description: `Kind and HMAC of the first ${MOST_MARKS} values, \`EMAIL_zh5hkibg\`: the same for the same value below one path.`,
          }),
        ),
        uninspected: Type.Optional(counts("Content that weir cannot read: the number of its texts by kind.")),
        ms: Type.Number({ description: "Time that it took, in milliseconds." }),
      }),
      { description: "The guards of the call, with what they found: kinds and counts, never values." },
    ),
  ),
  before: "facts",
  line: (facts) => `guards ${inWords(facts)}`,
  log: { name: "guards" },
  fact: { label: "Guards", text: (facts) => inWords(facts) },
});

/** `pii=replaced:3, secrets=passed, uninspected=media:2`, as the header has it too. */
export function inWords(
  facts: readonly Pick<GuardFacts, "name" | "verdict" | "count" | "uninspected">[],
): string {
  const unread = new Map<string, number>();
  const words = facts.map(({ name, verdict, count, uninspected = {} }) => {
    for (const [kind, number] of Object.entries(uninspected))
      unread.set(kind, Math.max(number, unread.get(kind) ?? 0));
    return `${name}=${verdict}${count > 0 ? `:${count}` : ""}`;
  });
  return [...words, ...[...unread].map(([kind, number]) => `uninspected=${kind}:${number}`)].join(", ");
}
