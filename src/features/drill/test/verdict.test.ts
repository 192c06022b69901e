/** The verdicts of the drill: a table of what a client does, and how it is judged. */
import { expect, test } from "bun:test";
import type { Said } from "../output.ts";
import { judge, type Observations, type Verdict } from "../verdict.ts";
import type { Try } from "../witness.ts";

const SILENT: Said = { shown: "none", trace: false };
const WHOLE: Said = { ...SILENT, shown: "whole" };
const HALF: Said = { ...SILENT, shown: "part" };
const COMPLAINS: Said = { ...SILENT, complaint: "error: it failed" };

const exit = (code: number) => ({ kind: "exit", code }) as const;
const STOPPED = { kind: "stopped", why: "time" } as const;

/** Requests for one question, each 10 ms long. @param good the last one is answered */
function tries(starts: readonly number[], good: boolean): Try[] {
  return starts.map((at, index) => {
    const faulty = !(good && index === starts.length - 1);
    return { question: "q", at, endedAt: at + 10, faulty, sent: 10, total: faulty ? 20 : 10 };
  });
}

const WAITING: Try = { question: "q", at: 0, faulty: true, sent: 0, total: 20 };

const USUAL: Observations = {
  expects: "recover",
  retryAfter: 0,
  unseen: false,
  midway: false,
  empty: false,
  ending: exit(0),
  limit: 60,
  mustEnd: true,
  seconds: 2,
  tries: tries([0, 1_010], true),
  said: WHOLE,
  showsAnswers: true,
};

const MIDWAY: Partial<Observations> = { expects: "recover-or-fail", midway: true, tries: tries([0], false) };
const AT_ONCE: Partial<Observations> = { expects: "fail-at-once", tries: tries([0], false) };

const CASES: readonly [what: string, seen: Partial<Observations>, verdict: Verdict, reason: string][] = [
  ["repeats and recovers", {}, "ok", "repeated after 1.0 s and recovered"],
  ["needs three requests", { tries: tries([0, 500, 1_500], true) }, "ok", "recovered with request 3"],
  ["waits as told", { retryAfter: 1 }, "ok", "repeated after 1.0 s and recovered"],
  ["waits less than told", { retryAfter: 2 }, "weak", "repeated after 1.0 s where retry-after says 2 s"],
  ["repeats at once", { tries: tries([0, 15], true) }, "weak", "repeated without a pause"],
  [
    "repeats at once in mid-answer",
    { ...MIDWAY, tries: tries([0, 15], true) },
    "ok",
    "repeated after 0.0 s and recovered",
  ],
  [
    "repeats in a burst",
    { tries: tries([0, 12, 24, 36], true), retryAfter: 2 },
    "bad",
    "repeated without a pause: 4 requests in 2.0 s; it was told to wait 2 s",
  ],
  [
    "floods",
    { tries: tries([0, 200, 400], false), ending: { kind: "stopped", why: "flood" }, said: SILENT },
    "bad",
    "repeated without a pause",
  ],
  [
    "gives up without repeating",
    { tries: tries([0], false), ending: exit(1), said: COMPLAINS },
    "weak",
    'gave up without repeating: "error: it failed"',
  ],
  [
    "gives up after repeats",
    { tries: tries([0, 500], false), ending: exit(1), said: COMPLAINS },
    "weak",
    "gave up after 2 requests",
  ],
  [
    "fails after repeats where nothing helps",
    { expects: "fail", tries: tries([0, 500], false), ending: exit(1), said: COMPLAINS },
    "ok",
    "failed after 2 requests with exit code 1",
  ],
  [
    "fails after many repeats",
    {
      expects: "fail",
      tries: tries(
        Array.from({ length: 13 }, (_, index) => index * 1_000),
        false,
      ),
      ending: exit(1),
      said: COMPLAINS,
    },
    "weak",
    "failed after 13 requests",
  ],
  [
    "fails without a word",
    { ...AT_ONCE, ending: exit(1), said: SILENT },
    "weak",
    "exit code 1 and no word of the failure",
  ],
  [
    "fails with a stack trace",
    { ...AT_ONCE, ending: exit(1), said: { ...COMPLAINS, trace: true } },
    "weak",
    "ended with a stack trace",
  ],
  [
    "fails at once where nothing helps",
    { ...AT_ONCE, ending: exit(1), said: COMPLAINS },
    "ok",
    "failed with exit code 1",
  ],
  [
    "repeats once what cannot succeed",
    { ...AT_ONCE, tries: tries([0, 500], false), ending: exit(1), said: COMPLAINS },
    "weak",
    "repeated once what cannot succeed",
  ],
  [
    "repeats what cannot succeed",
    { ...AT_ONCE, tries: tries([0, 500, 1_500], false), ending: exit(1), said: COMPLAINS },
    "bad",
    "repeated what cannot succeed: 3 equal requests",
  ],
  [
    "repeats what cannot succeed without end",
    { ...AT_ONCE, tries: tries([0, 500, 1_500], false), ending: STOPPED, said: COMPLAINS },
    "bad",
    "had not stopped at the time limit",
  ],
  ["hides an error", { ...AT_ONCE, said: SILENT }, "bad", "hid the failure: exit code 0"],
  [
    "reports with exit code 0",
    { ...AT_ONCE, said: COMPLAINS },
    "weak",
    "reports the failure, but with exit code 0",
  ],
  ["takes half for whole", { ...MIDWAY, said: HALF }, "bad", "took half an answer for a whole one"],
  [
    "takes half for whole and prints no answers",
    { ...MIDWAY, said: SILENT, showsAnswers: false },
    "bad",
    "took half an answer for a whole one",
  ],
  [
    "prints half and fails",
    { ...MIDWAY, said: { ...COMPLAINS, shown: "part" }, ending: exit(1) },
    "ok",
    "failed with",
  ],
  [
    "recovers and prints no answers",
    { ...MIDWAY, tries: tries([0, 500], true), said: SILENT, showsAnswers: false },
    "ok",
    "recovered",
  ],
  ["ends without content", { ...MIDWAY, empty: true, said: SILENT }, "weak", "without an answer"],
  [
    "hangs on a stall",
    { ...MIDWAY, tries: [WAITING], ending: STOPPED, said: SILENT },
    "bad",
    "hung: still waited for the answer at the time limit of 60 s",
  ],
  [
    "still waits at the default limit",
    { ...MIDWAY, tries: [WAITING], ending: STOPPED, said: SILENT, mustEnd: false },
    "weak",
    "hung: still waited for the answer at the time limit of 60 s; with --timeout this is bad",
  ],
  [
    "does nothing after a failure",
    { tries: tries([0], false), ending: STOPPED, said: SILENT },
    "bad",
    "hung: after the failure it neither repeated nor ended",
  ],
  [
    "asks on without end",
    {
      ...MIDWAY,
      tries: Array.from({ length: 47 }, (_, index) => ({
        ...tries([index * 1_000], false)[0]!,
        question: `${index}`,
      })),
      ending: STOPPED,
      said: HALF,
    },
    "bad",
    "sent 47 requests in 60 s, and did not end",
  ],
  ["does not end", { ending: STOPPED }, "bad", "hung: got the answer, but had not ended"],
  ["asks nothing", { tries: [], ending: STOPPED, said: SILENT }, "bad", "hung: sent no request"],
  [
    "still repeats with long pauses",
    { expects: "fail", tries: tries([0, 1_000, 3_000], false), ending: STOPPED, said: COMPLAINS },
    "weak",
    "still repeated at the time limit of 60 s: 3 requests, pauses of up to 2.0 s",
  ],
  [
    "still repeats with short pauses",
    { expects: "fail", tries: tries([0, 300, 600, 900], false), ending: STOPPED, said: COMPLAINS },
    "bad",
    "still repeated at the time limit",
  ],
  [
    "gives up on a refused connection",
    { expects: "recover-or-fail", unseen: true, tries: [], ending: exit(1), said: COMPLAINS },
    "ok",
    "failed with exit code 1",
  ],
  [
    "hangs on a refused connection",
    { expects: "recover-or-fail", unseen: true, tries: [], ending: STOPPED, said: SILENT },
    "bad",
    "hung: did not ask again within 60 s",
  ],
  [
    "repeats until it is connected",
    { expects: "recover-or-fail", unseen: true, tries: tries([9_000], true) },
    "ok",
    "repeated until it was connected",
  ],
  [
    "goes on after a broken tool call",
    {
      ...MIDWAY,
      tries: [...tries([0], false), { ...tries([50], true)[0]!, question: "another", faulty: false }],
    },
    "ok",
    "went on with another request and recovered",
  ],
  [
    "waits for a slow answer",
    { expects: "succeed", tries: tries([0], false) },
    "ok",
    "waited and got the whole answer",
  ],
  [
    "waits for a slow answer beyond a short limit",
    { expects: "succeed", tries: [WAITING], ending: STOPPED, said: HALF },
    "skipped",
    "too short for this fault",
  ],
  [
    "sends a question three times at once",
    { tries: [...tries([0], false), ...tries([1, 2, 1_100], true)], ...{ said: WHOLE } },
    "ok",
    "repeated after 1.1 s and recovered",
  ],
  [
    "gives up on a slow answer",
    { expects: "succeed", tries: tries([0], false), ending: exit(1), said: COMPLAINS },
    "bad",
    "gave up on an answer that was only slow",
  ],
  ["is killed by the system", { ending: { kind: "signal", signal: "SIGSEGV" } }, "bad", "crashed: SIGSEGV"],
  ["crashes inside a shell", { ending: exit(139) }, "bad", "crashed with exit code 139"],
  ["fails after the answer", { ending: exit(4) }, "weak", "got the whole answer, but ended with exit code 4"],
  ["meets no fault", { tries: tries([0], true) }, "skipped", "sent no request that can meet the fault"],
];

for (const [what, seen, verdict, reason] of CASES)
  test(`a client that ${what} is judged ${verdict}`, () => {
    const judgement = judge({ ...USUAL, ...seen });
    expect(judgement.reason).toContain(reason);
    expect(judgement.verdict).toBe(verdict);
  });
