/** What differs between two observations of one model in what was seen, where one observation is proof. */
import type { Seen } from "./observation.ts";
import { QUESTIONS } from "./questions.ts";

/** Kinds of changes, as the metric and the alert name them. */
export const KINDS = [
  ...["fields", "events", "headers", "listed", "error", "model", "fingerprint", "tokenizer", "prompt"],
  ...["price", "behaviour", "latency", "rate"],
] as const;
export type Kind = (typeof KINDS)[number];

/** A difference of what was seen. */
export interface Difference {
  readonly kind: Kind;
  /** Questions on whose requests it rests. */
  readonly questions: readonly string[];
  /** A clause for people: `counts 1 token more for code (61, was 60)`. */
  readonly words: string;
}

const JSON_QUESTIONS = QUESTIONS.filter(({ streams, isFaulty }) => !streams && !isFaulty).map(({ id }) => id);

/** Facts: the kind of a change of each, what it is called, and the questions that show it. */
export const FACTS: Readonly<Record<string, { kind: Kind; name: string; questions: readonly string[] }>> = {
  fields: { kind: "fields", name: "the fields of answers", questions: JSON_QUESTIONS },
  "stream-fields": { kind: "fields", name: "the fields of streams", questions: ["stream"] },
  headers: { kind: "headers", name: "the headers of answers", questions: JSON_QUESTIONS },
  events: { kind: "events", name: "the events of a stream", questions: ["stream"] },
  error: { kind: "error", name: "the error for a faulty request", questions: ["error"] },
  listed: { kind: "listed", name: "the models that the provider lists", questions: [] },
  "listed-price": { kind: "price", name: "the price in the list of models", questions: [] },
  model: { kind: "model", name: "the name of the model in answers", questions: JSON_QUESTIONS },
  fingerprint: { kind: "fingerprint", name: "the fingerprint in answers", questions: JSON_QUESTIONS },
};

/** Facts whose values are sets of words. */
const SETS = new Set(["fields", "stream-fields", "headers", "listed", "model", "fingerprint"]);

/** A prompt that a provider puts in front is longer; a difference of so few tokens is how it writes or counts turns. */
export const FEW_TOKENS = 3;

export function differences(before: Seen, after: Seen): Difference[] {
  return [
    ...factDifferences(before, after),
    ...tokenDifferences(before, after),
    ...priceDifferences(before, after),
  ];
}

function factDifferences({ facts: before }: Seen, { facts: after }: Seen): Difference[] {
  return Object.entries(FACTS).flatMap(([fact, { kind, name, questions }]) => {
    const [old, now] = [before[fact], after[fact]];
    // A fact without a value was not observed.
    if (old === undefined || now === undefined || old === now) return [];
    const words = SETS.has(fact) ? setWords(old, now) : `now ${now}; was ${old}`;
    return [{ kind, questions, words: `${name}: ${words}` }];
  });
}

function setWords(old: string, now: string): string {
  const [had, has] = [new Set(old.split(" ")), new Set(now.split(" "))];
  const added = [...has].filter((word) => !had.has(word));
  const gone = [...had].filter((word) => !has.has(word));
  return [
    ...(added.length > 0 ? [`new ${added.join(", ")}`] : []),
    ...(gone.length > 0 ? [`gone ${gone.join(", ")}`] : []),
  ].join("; ");
}

function tokenDifferences({ tokens: before }: Seen, { tokens: after }: Seen): Difference[] {
  const both = Object.keys(before).filter((id) => after[id] !== undefined);
  const changed = both.filter((id) => after[id] !== before[id]);
  if (changed.length === 0) return [];
  const more = after[changed[0]!]! - before[changed[0]!]!;
  const isConstant = both.length > 1 && both.every((id) => after[id]! - before[id]! === more);
  if (isConstant && Math.abs(more) > FEW_TOKENS)
    return [
      {
        ...{ kind: "prompt", questions: both },
        words: `each request counts ${byTokens(more)}: the provider puts a text in front, or no longer does`,
      },
    ];
  const words = isConstant
    ? `each request counts ${byTokens(more)}`
    : changed.map((id) => `${id} counts ${after[id]} tokens, was ${before[id]}`).join("; ");
  return [{ kind: "tokenizer", questions: changed, words }];
}

function byTokens(more: number): string {
  const count = Math.abs(more);
  return `${count} token${count === 1 ? "" : "s"} ${more > 0 ? "more" : "fewer"}`;
}

/** Answers with the same counts of tokens have the same price. */
function priceDifferences({ prices: before }: Seen, { prices: after }: Seen): Difference[] {
  const changed = Object.keys(before).filter((id) => {
    const [old, now] = [before[id]!, after[id]];
    return now && old.input === now.input && old.output === now.output && old.cost !== now.cost;
  });
  if (changed.length === 0) return [];
  const words = changed.map((id) => {
    const { input, output, cost } = before[id]!;
    return `${id} with ${input} tokens in and ${output} out costs ${after[id]!.cost} nano-dollars, was ${cost}`;
  });
  return [{ kind: "price", questions: changed, words: words.join("; ") }];
}
