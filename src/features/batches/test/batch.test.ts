/** A batch in any order of events: its state follows the vendor's, times are set once, and the counts add up. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  type Batch,
  counted,
  type Ending,
  endedLines,
  isEnd,
  mayMove,
  moved,
  NEXT,
  phase,
  type State,
} from "../batch.ts";
import { sampleBatch } from "./sample.ts";

const STATES = Object.keys(NEXT) as State[];
const ENDINGS: Ending[] = ["done", "failed", "cancelled", "late"];
const TIMES = ["startedAt", "closingAt", "stoppingAt", "endedAt"] as const;

/** What a client sees, and what it may see next: the vendor's list, written apart from the table under test. */
const SEEN: Record<Exclude<State, "paused">, string> = {
  checking: "validating",
  waiting: "in_progress",
  running: "in_progress",
  closing: "finalizing",
  stopping: "cancelling",
  done: "completed",
  refused: "failed",
  stopped: "cancelled",
  late: "expired",
};
const VENDOR = new Set(
  [
    "validating in_progress|finalizing|failed|cancelling",
    "in_progress finalizing|failed|cancelling",
    "finalizing completed|expired",
    "cancelling cancelled",
  ].flatMap((line) => {
    const [from, to] = line.split(" ");
    return to!.split("|").map((one) => `${from} ${one}`);
  }),
);

const events = fc.array(
  fc.oneof(
    fc.record({ to: fc.constantFrom(...STATES), at: fc.integer({ min: -50, max: 5000 }) }),
    fc.record({ ending: fc.constantFrom(...ENDINGS), lines: fc.integer({ min: 1, max: 2 }) }),
  ),
  { maxLength: 40 },
);

function next(
  batch: Batch,
  event: { to: State; at: number } | { ending: Ending; lines: number },
): Batch | undefined {
  try {
    return "to" in event
      ? moved(batch, event.to, batch.createdAt + event.at, "a reason")
      : counted(batch, event.ending, event.lines);
  } catch {
    return undefined;
  }
}

function checkStep(before: Batch, after: Batch): void {
  const [from, to] = [SEEN[phase(before)], SEEN[phase(after)]];
  if (from !== to) expect(VENDOR).toContain(`${from} ${to}`);
  for (const time of TIMES) {
    if (before[time] !== undefined) expect(after[time]).toBe(before[time]);
    else if (after[time] !== undefined)
      expect(after[time]).toBeGreaterThanOrEqual(
        Math.max(before.createdAt, ...TIMES.map((one) => before[one] ?? 0)),
      );
  }
  expect(after.endedAt !== undefined).toBe(isEnd(after.state));
  expect(endedLines(after)).toBeLessThanOrEqual(after.lines);
  if (isEnd(after.state) && after.state !== "refused") expect(endedLines(after)).toBe(after.lines);
  expect(after.reason !== undefined).toBe(after.state === "paused" || after.state === "refused");
}

test("10,000 random orders of events make allowed changes only", () => {
  const ends = new Map<State, number>();
  let changes = 0;
  fc.assert(
    fc.property(events, (order) => {
      let batch = sampleBatch();
      for (const event of order) {
        const after = next(batch, event);
        if (after === undefined) {
          if ("to" in event && !isEnd(event.to)) expect(mayMove(batch, event.to)).toBe(false);
          continue;
        }
        if (isEnd(batch.state)) expect(after).toBe(batch);
        checkStep(batch, after);
        if (after !== batch) changes++;
        batch = after;
      }
      ends.set(batch.state, (ends.get(batch.state) ?? 0) + 1);
    }),
    { seed: 29, numRuns: 10_000 },
  );
  // The orders reach every state, or they would prove little.
  expect([...ends.keys()].sort()).toEqual([...STATES].sort());
  expect(changes).toBeGreaterThan(20_000);
});

test("a paused batch goes on where it was, and a client never sees it go back", () => {
  const stopping = moved(moved(sampleBatch(), "stopping", 5e12), "paused", 6e12, "The disk is full.");
  expect(phase(stopping)).toBe("stopping");
  expect(STATES.filter((state) => mayMove(stopping, state))).toEqual(["stopping", "stopped"]);
  const begun = moved(moved(sampleBatch(), "waiting", 5e12), "running", 5.5e12);
  const running = moved(begun, "paused", 6e12, "The disk is full.");
  expect(running.reason).toBe("The disk is full.");
  expect(STATES.filter((state) => mayMove(running, state)).sort()).toEqual([
    "closing",
    "refused",
    "running",
    "stopping",
    "waiting",
  ]);
  expect(moved(running, "running", 7e12)).toMatchObject({ startedAt: 5e12, reason: undefined });
});

test("an end waits for the ending of every line, and the same state again changes nothing", () => {
  let batch = moved(moved(sampleBatch(), "waiting", 5e12), "closing", 6e12);
  expect(() => moved(batch, "done", 7e12)).toThrow("3 of its lines have no ending");
  batch = counted(counted(batch, "done", 2), "late");
  expect(() => counted(batch, "failed")).toThrow("more have ended");
  const late = moved(batch, "late", 7e12);
  expect(late).toMatchObject({ state: "late", done: 2, late: 1, endedAt: 7e12, closingAt: 6e12 });
  expect(moved(late, "late", 9e12)).toBe(late);
  expect(() => moved(late, "done", 9e12)).toThrow("is late and cannot become done");
  expect(() => counted({ ...late, lines: 4 }, "done")).toThrow("has ended");
});
