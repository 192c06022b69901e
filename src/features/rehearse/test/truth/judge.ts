/** Judges what a rehearsal says of a change by what the change really alters. */
import type { Said } from "./rehearsed.ts";
import { type Cause, isAltered } from "./truth.ts";

/** A call of which the rehearsal says something else than the truth. */
export interface Wrong {
  /** Its place in the corpus. */
  index: number;
  truth: readonly Cause[];
  said: readonly Cause[];
}

export interface Judged {
  /** Calls with an outline. */
  calls: number;
  /** Those that the change alters, without those that need their tape. */
  altered: number;
  /** Those that the rehearsal names too. */
  found: number;
  /** Altered calls of which the rehearsal says that nothing changes. */
  missed: readonly Wrong[];
  /** Calls that the change does not alter, of which the rehearsal says that something changes. */
  alarms: readonly Wrong[];
  /** Altered calls that the rehearsal names by other causes alone. */
  otherwise: readonly Wrong[];
  /** Calls that need their tape, and those among them that the change alters. */
  tape: number;
  tapeAltered: number;
  /** Altered calls of which there is no outline, which no rehearsal can know. */
  without: number;
}

/** @param of what the rehearsal says of each call */
export function judge(truth: readonly ReadonlySet<Cause>[], of: (index: number) => Said): Judged {
  const counts = { calls: 0, altered: 0, found: 0, tape: 0, tapeAltered: 0, without: 0 };
  const missed: Wrong[] = [];
  const alarms: Wrong[] = [];
  const otherwise: Wrong[] = [];
  for (const [index, causes] of truth.entries()) {
    const said = of(index);
    const altered = isAltered(causes);
    if (said === "no outline") {
      if (altered) counts.without++;
      continue;
    }
    counts.calls++;
    if (said === "needs its tape") {
      counts.tape++;
      if (altered) counts.tapeAltered++;
      continue;
    }
    const wrong = { index, truth: [...causes], said: [...said] };
    if (altered) counts.altered++;
    if (altered && isAltered(said)) counts.found++;
    if (altered && !isAltered(said)) missed.push(wrong);
    if (!altered && isAlarm(said)) alarms.push(wrong);
    if (altered && isAltered(said) && !isExplained(causes, said)) otherwise.push(wrong);
  }
  return { ...counts, missed, alarms, otherwise };
}

/** Guards that look at a call, and tools that it may use, are said also where they alter nothing. */
const isAlarm = (said: ReadonlySet<Cause>) =>
  ["refused", "target", "body", "header", "price"].some((cause) => said.has(cause as Cause));

/** Whether the rehearsal names each cause. Another target explains what else differs, and a refusal stands alone. */
function isExplained(causes: ReadonlySet<Cause>, said: ReadonlySet<Cause>): boolean {
  if (causes.has("refused")) return said.has("refused");
  if (causes.has("target") && said.has("target")) return true;
  return [...causes].every((cause) => cause === "loss" || said.has(cause));
}

/** Sums of several changes. */
export function sumOf(all: readonly Judged[]): Judged {
  const add = (name: "calls" | "altered" | "found" | "tape" | "tapeAltered" | "without") =>
    all.reduce((sum, judged) => sum + judged[name], 0);
  return {
    ...{ calls: add("calls"), altered: add("altered"), found: add("found") },
    ...{ tape: add("tape"), tapeAltered: add("tapeAltered"), without: add("without") },
    missed: all.flatMap(({ missed }) => missed),
    alarms: all.flatMap(({ alarms }) => alarms),
    otherwise: all.flatMap(({ otherwise }) => otherwise),
  };
}

/** One of the calls of which something wrong is said: the one with the shortest body. */
export function smallest(wrong: readonly Wrong[], sizeOf: (index: number) => number): Wrong | undefined {
  return wrong.toSorted((one, other) => sizeOf(one.index) - sizeOf(other.index))[0];
}
