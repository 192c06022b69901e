/** Whose change it is: compares two observations of one model on weir's side and on the provider's. */
import { type Difference, differences } from "./differences.ts";
import type { Observation, OwnSide } from "./observation.ts";

/** A difference of weir's own side. */
export interface OwnDifference {
  readonly what: "version" | "plugins" | "config" | "request";
  /** Of `request`: the questions whose requests differ. */
  readonly questions: readonly string[];
  readonly words: string;
}

/**
 * `theirs`: weir's side is equal, so the provider changed; `yours`: weir's side changed, and nothing else was seen to; `mixed`: both
 * differ, and what is in `unclear` cannot be assigned; `same`: nothing differs.
 */
export const VERDICTS = ["theirs", "yours", "mixed", "same"] as const;
export type Verdict = (typeof VERDICTS)[number];

export interface Comparison {
  readonly verdict: Verdict;
  readonly theirs: readonly Difference[];
  readonly yours: readonly OwnDifference[];
  /** Differences of what was seen that may come from weir's own side. */
  readonly unclear: readonly Difference[];
  /** How to find out whose they are: a sentence. */
  readonly separate?: string;
}

type Compared = Pick<Observation, "own" | "seen">;

/** @param more differences that a single observation does not prove */
export function compare(before: Compared, after: Compared, more: readonly Difference[] = []): Comparison {
  const yours = ownDifferences(before.own, after.own);
  const found = [...differences(before.seen, after.seen), ...more];
  const isWhole = yours.some(({ what }) => what !== "request");
  const changed = new Set(yours.flatMap(({ questions }) => questions));
  const mayBeOurs = ({ questions }: Difference) => isWhole || questions.some((id) => changed.has(id));
  const theirs = found.filter((one) => !mayBeOurs(one));
  const unclear = found.filter(mayBeOurs);
  const verdict = verdictOf(theirs.length + unclear.length > 0, yours.length > 0);
  const separate = unclear.length > 0 ? { separate: separation(yours) } : {};
  return { verdict, theirs, yours, unclear, ...separate };
}

function verdictOf(isSeen: boolean, isOurs: boolean): Verdict {
  if (isSeen) return isOurs ? "mixed" : "theirs";
  return isOurs ? "yours" : "same";
}

/** What differs on weir's side. @returns nothing if weir asked the same in the same way */
export function ownDifferences(before: OwnSide, after: OwnSide): OwnDifference[] {
  const requests = Object.keys(before.requests).filter(
    (id) => after.requests[id] !== undefined && after.requests[id] !== before.requests[id],
  );
  const found: OwnDifference[] = [];
  const add = (what: OwnDifference["what"], words: string, questions: readonly string[] = []) =>
    found.push({ what, questions, words });
  if (before.version !== after.version) add("version", `weir ${after.version}, was ${before.version}`);
  if (before.plugins !== after.plugins) add("plugins", "the files in the folder of plugins differ");
  if (before.provider !== after.provider) add("config", partWords(before.parts, after.parts));
  if (requests.length > 0) add("request", `weir sent another request for ${requests.join(", ")}`, requests);
  return found;
}

function partWords(before: OwnSide["parts"], after: OwnSide["parts"]): string {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  const changed = names.filter((name) => before[name] !== after[name]);
  const clauses = changed.map(
    (name) => `${name} is ${after[name] ?? "absent"}, was ${before[name] ?? "absent"}`,
  );
  return `the config of the provider: ${clauses.join("; ")}`;
}

const UNDO: Readonly<Record<OwnDifference["what"], string>> = {
  version: "run the former version of weir",
  plugins: "put the former plugins back",
  config: "put the former config of the provider back",
  request: "put back what made weir send another request",
};

function separation(yours: readonly OwnDifference[]): string {
  // A changed config also changes requests: undoing it is enough.
  const causes = yours.filter(({ what }) => what !== "request");
  const steps = (causes.length > 0 ? causes : yours).map(({ what }) => UNDO[what]);
  return `To find out whose these are: ${steps.join(", ")}, look once more with weir witness, and compare that look with the first one.`;
}
