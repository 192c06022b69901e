/** The guards of an answer in the order of the file, each of which sees what the one before made: those that find at once together, each that asks by itself. */
import { Answering } from "../ask/answer.ts";
import type { Taint } from "../flow/taint.ts";
import type { Guard } from "../guard.ts";
import { Output } from "./output.ts";
import type { Passing } from "./passing.ts";

/** The last one restores values. */
export interface Stages {
  readonly inner: readonly (Output | Answering)[];
  readonly last: Output;
}

/** @param taint holds tools back */
export function stagesOf(passing: Passing, taint: Taint | undefined): Stages {
  const { map, verdicts } = passing;
  const inner: (Output | Answering)[] = [];
  let exact: Guard[] = [];
  for (const guard of passing.guards.filter(({ readsAnswers }) => readsAnswers)) {
    if (!guard.asked || guard.detectors.length > 0) exact.push(guard);
    if (!guard.asked) continue;
    if (exact.length > 0) inner.push(new Output(exact, map, verdicts, { restores: false }));
    exact = [];
    inner.push(new Answering(guard, guard.asked, passing));
  }
  return { inner, last: new Output(exact, map, verdicts, { taint }) };
}
