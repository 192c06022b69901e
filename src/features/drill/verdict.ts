/** Judges what a client did: observations in, verdict and reason out. Nothing here has effects. */
import type { Ending } from "./client.ts";
import type { Expectation } from "./faults.ts";
import type { Said } from "./output.ts";
import type { Try } from "./witness.ts";

/** `weak`: the client works, but should do better. `skipped`: the client did not meet the fault. */
export type Verdict = "ok" | "weak" | "bad" | "skipped";

export interface Judgement {
  verdict: Verdict;
  /** The behaviour of the client, as one clause. */
  reason: string;
}

export interface Observations {
  expects: Expectation;
  /** Seconds that the fault asks the client to wait; 0: it asks for none. */
  retryAfter: number;
  /** Requests cannot reach the drill: the connection is refused. */
  unseen: boolean;
  /** The fault follows the first half of an answer, so that one immediate repeat is no harm. */
  midway: boolean;
  /** The fault is an answer that is finished and has no content. */
  empty: boolean;
  ending: Ending;
  /** Time limit of the run, and its duration. Seconds. */
  limit: number;
  /** The user set the limit, so that a client must not wait longer; a default says nothing about the client's own limit. */
  mustEnd: boolean;
  seconds: number;
  tries: readonly Try[];
  said: Said;
  /** In the baseline the client printed the whole answer; otherwise only the requests show what it got. */
  showsAnswers: boolean;
}

/** Repeats in a shorter time are without a pause. Milliseconds. */
const PAUSE_MS = 100;
/** A client that waits so long between its tries may go on after the time limit. Milliseconds. */
const LONG_PAUSE_MS = 900;
/** More requests for one question are more than a provider in trouble should get. */
const MANY = 12;
/** Share of `retry-after` that counts as waited: clocks differ. */
const WAITED = 0.95;

/** The rules in order; the first that applies decides. */
const RULES: readonly ((facts: Facts) => Judgement | undefined)[] = [
  judgeUnmet,
  judgeCrash,
  judgeBurst,
  judgeVainRepeats,
  judgeStopped,
  judgeSuccess,
  judgeSilence,
  judgeFailure,
];

export function judge(observations: Observations): Judgement {
  const facts = { ...observations, ...repeatsOf(observations.tries) };
  for (const rule of RULES) {
    const judgement = rule(facts);
    if (judgement) return judgement;
  }
  return { verdict: "bad", reason: "ended in a way that the drill does not know" };
}

interface Facts extends Observations {
  /** Requests for the question that was asked most often. */
  count: number;
  /** Pauses before its repeats: from the end of one try to the next. Milliseconds. */
  pauses: readonly number[];
}

/** The question that was asked most often, among those that met the fault. */
function repeatsOf(tries: readonly Try[]): Pick<Facts, "count" | "pauses"> {
  const faulty = new Set(tries.filter((each) => each.faulty).map(({ question }) => question));
  const groups = [...Map.groupBy(tries, ({ question }) => question)]
    .filter(([question]) => faulty.has(question))
    .map(([, group]) => oneByOne(group));
  const longest = groups.sort((a, b) => b.length - a.length)[0] ?? [];
  const pauses = longest.slice(1).map(({ at }, index) => Math.max(0, at - endOf(longest[index]!)));
  return { count: longest.length, pauses };
}

/** Leaves out requests that the client sent together with the one before: those are no repeats of it. */
function oneByOne(group: readonly Try[]): Try[] {
  return group.filter(({ at }, index) => {
    const before = group[index - 1];
    return !before || at >= endOf(before) || at - before.at >= PAUSE_MS;
  });
}

function endOf({ at, endedAt = at }: Try): number {
  return endedAt;
}

function judgeUnmet({ unseen, tries }: Facts): Judgement | undefined {
  if (unseen || tries.some(({ faulty }) => faulty)) return undefined;
  return tries.length === 0
    ? undefined
    : { verdict: "skipped", reason: "sent no request that can meet the fault" };
}

/** Exit codes of shells for a program that a signal ended: illegal instruction to segmentation fault. */
const CRASH_CODES: ReadonlySet<number> = new Set([132, 133, 134, 135, 136, 138, 139]);

function judgeCrash({ ending }: Facts): Judgement | undefined {
  if (ending.kind === "signal") return bad(`crashed: ${ending.signal} ended it`);
  if (ending.kind === "exit" && CRASH_CODES.has(ending.code))
    return bad(`crashed with exit code ${ending.code}`);
  return undefined;
}

function judgeBurst({ count, pauses, retryAfter, seconds, ending }: Facts): Judgement | undefined {
  const isBurst = pauses.some((pause, index) => index > 0 && isShort(pause) && isShort(pauses[index - 1]!));
  const isFlood = ending.kind === "stopped" && ending.why === "flood";
  if (!isBurst && !isFlood) return undefined;
  const told = retryAfter > 0 ? `; it was told to wait ${retryAfter} s` : "";
  return bad(`repeated without a pause: ${count} requests in ${round(seconds)} s${told}`);
}

function isShort(pause: number): boolean {
  return pause < PAUSE_MS;
}

function judgeVainRepeats({ expects, count, ending }: Facts): Judgement | undefined {
  if (expects !== "fail-at-once" || count < 3) return undefined;
  const still = ending.kind === "stopped" ? ", and had not stopped at the time limit" : "";
  return bad(`repeated what cannot succeed: ${count} equal requests${still}`);
}

function judgeStopped(facts: Facts): Judgement | undefined {
  const { ending, unseen, tries, limit, mustEnd, count, pauses, expects } = facts;
  if (ending.kind !== "stopped") return undefined;
  const last = tries.at(-1);
  if (unseen && !last) return bad(`hung: did not ask again within ${limit} s, and did not end`);
  if (!last) return bad(`hung: sent no request within ${limit} s`);
  if (expects === "succeed" && last.endedAt === undefined)
    return { verdict: "skipped", reason: `${limit} s are too short for this fault (--timeout)` };
  if (last.endedAt === undefined && last.faulty) {
    const waited = `hung: still waited for the answer at the time limit of ${limit} s`;
    return mustEnd ? bad(waited) : weak(`${waited}; with --timeout this is bad`);
  }
  if (gotAnswer(facts)) return bad(`hung: got the answer, but had not ended after ${limit} s`);
  if (count > 1) {
    const longest = Math.max(...pauses);
    const text = `still repeated at the time limit of ${limit} s: ${count} requests, pauses of up to ${seconds(longest)}`;
    return longest >= LONG_PAUSE_MS ? weak(text) : bad(text);
  }
  if (tries.length > MANY) return bad(`sent ${tries.length} requests in ${limit} s, and did not end`);
  return bad(`hung: after the failure it neither repeated nor ended within ${limit} s`);
}

/** Exit code 0 with the whole answer. */
function judgeSuccess(facts: Facts): Judgement | undefined {
  const { ending, expects, count, pauses, retryAfter, midway, unseen, tries } = facts;
  if (ending.kind !== "exit" || !gotAnswer(facts)) return undefined;
  if (ending.code !== 0) return weak(`got the whole answer, but ended with exit code ${ending.code}`);
  if (expects === "succeed") return ok("waited and got the whole answer");
  const [first = 0] = pauses;
  if (unseen) return ok("repeated until it was connected, and recovered");
  if (count < 2)
    return ok(
      tries.length > 1 ? "went on with another request and recovered" : "got the whole answer all the same",
    );
  if (first < retryAfter * 1_000 * WAITED)
    return weak(`recovered, but repeated after ${seconds(first)} where retry-after says ${retryAfter} s`);
  if (isShort(first) && !midway) return weak(`recovered, but repeated without a pause`);
  return ok(`repeated after ${seconds(first)} and recovered${count > 2 ? ` with request ${count}` : ""}`);
}

/** Exit code 0 without the whole answer. */
function judgeSilence({ ending, said, empty, expects, showsAnswers, midway }: Facts): Judgement | undefined {
  if (ending.kind !== "exit" || ending.code !== 0) return undefined;
  if (said.complaint !== undefined)
    return weak(`reports the failure, but with exit code 0: ${quote(said.complaint)}`);
  if (said.shown === "part" || (!showsAnswers && midway))
    return bad("took half an answer for a whole one: exit code 0 and no word of the failure");
  if (empty) return weak("ended as after a success, without an answer");
  if (expects === "succeed") return bad("ended with exit code 0 before the answer was complete");
  return bad("hid the failure: exit code 0 and no word of it");
}

/** Another exit code. */
function judgeFailure({ ending, expects, said, count }: Facts): Judgement | undefined {
  if (ending.kind !== "exit") return undefined;
  const line = said.complaint ?? said.lastWords;
  const words = line === undefined ? "" : `: ${quote(line)}`;
  if (expects === "succeed")
    return bad(`gave up on an answer that was only slow (exit code ${ending.code})${words}`);
  if (said.trace) return weak(`ended with a stack trace instead of an error${words}`);
  if (line === undefined) return weak(`ended with exit code ${ending.code} and no word of the failure`);
  const tries = count > 1 ? ` after ${count} requests` : "";
  if (expects === "recover")
    return weak(count > 1 ? `gave up${tries}${words}` : `gave up without repeating${words}`);
  if (expects === "fail-at-once" && count > 1)
    return weak(`repeated once what cannot succeed, then failed${words}`);
  const judged = count > MANY ? weak : ok;
  return judged(`failed${tries} with exit code ${ending.code}${words}`);
}

function gotAnswer({ showsAnswers, said, tries }: Facts): boolean {
  if (showsAnswers) return said.shown === "whole";
  return tries.some(({ faulty, endedAt, left }) => !faulty && endedAt !== undefined && !left);
}

function ok(reason: string): Judgement {
  return { verdict: "ok", reason };
}

function weak(reason: string): Judgement {
  return { verdict: "weak", reason };
}

function bad(reason: string): Judgement {
  return { verdict: "bad", reason };
}

function quote(complaint: string): string {
  return `"${complaint}"`;
}

function seconds(milliseconds: number): string {
  return `${round(milliseconds / 1_000)} s`;
}

function round(value: number): string {
  return value.toFixed(1);
}
