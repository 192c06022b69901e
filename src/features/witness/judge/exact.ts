/** Facts that are the same in each look unless something changes: whether a look has another one than the reference. */
import { FACTS } from "../differences.ts";
import type { Seen } from "../observation.ts";
import { QUESTIONS } from "../questions.ts";

/** What the looks of one time are compared with. It grows by what they see first. */
export interface Reference {
  /** The first value of a fact. */
  value?: string;
  /** Numbers by name: tokens of a question, the cost of an answer with that number of tokens. */
  readonly numbers: Map<string, number>;
}

export interface ExactFact {
  readonly name: string;
  readonly questions: readonly string[];
  /** @returns whether the look differs from the reference; undefined: it says nothing of the fact */
  differs(reference: Reference, seen: Seen): boolean | undefined;
}

const ANSWERED = QUESTIONS.filter(({ isFaulty }) => !isFaulty).map(({ id }) => id);

export const EXACT: readonly ExactFact[] = [
  ...Object.entries(FACTS).map(([name, { questions }]): ExactFact => ({
    ...{ name, questions },
    differs(reference, { facts }) {
      const value = facts[name];
      if (value === undefined) return undefined;
      return value !== (reference.value ??= value);
    },
  })),
  {
    ...{ name: "tokens", questions: ANSWERED },
    differs: (reference, { tokens }) => numbersDiffer(reference, Object.entries(tokens)),
  },
  {
    ...{ name: "price", questions: ANSWERED },
    differs: (reference, { prices }) =>
      numbersDiffer(
        reference,
        Object.entries(prices).map(([id, { input, output, cost }]) => [`${id} ${input} ${output}`, cost]),
      ),
  },
];

/** New numbers join the reference with looks that do not differ from it. */
function numbersDiffer(
  { numbers }: Reference,
  seen: readonly (readonly [string, number])[],
): boolean | undefined {
  const isFirst = numbers.size === 0;
  const known = seen.filter(([name]) => numbers.has(name));
  const differs = known.some(([name, value]) => numbers.get(name) !== value);
  if (!differs) for (const [name, value] of seen) numbers.set(name, value);
  return known.length > 0 || (isFirst && seen.length > 0) ? differs : undefined;
}
