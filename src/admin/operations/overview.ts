/** The frame of the console and its first page. */
import type { CallSummary } from "../../keeper/reports/shapes.ts";
import type { HourFigures } from "../../keeper/reports/pulse.ts";
import { seesSubject } from "../entries.ts";
import { notesOfEnds } from "../model-ends.ts";
import {
  inOrder,
  notesOfBooks,
  notesOfBudgets,
  notesOfCalls,
  notesOfConfig,
  notesOfDeployments,
  notesOfRefusals,
} from "../notes.ts";
import { type AdminRequest, answers } from "../operation.ts";
import { overview } from "../../operator/overview.ts";
import { shownOf } from "./live.ts";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const MINUTES = 60;

type Given = Pick<AdminRequest, "books" | "caller" | "now">;

export const overviewOperations = [
  answers(overview, async (given) => {
    const { books, caller, now } = given;
    const { gateway } = books;
    const policy = books.policy();
    const midnight = Math.floor(now / DAY_MS) * DAY_MS;
    const [usage, newest, running, hour, accounts, refusals] = await Promise.all([
      books.usage({ within: caller.path, from: midnight, by: [] }),
      books.calls({ within: caller.path, limit: 1 }),
      gateway.running(),
      hourOf(given),
      books.accounts(),
      books.summary({ within: caller.path, refused: "budget", from: now - HOUR_MS, slices: 1 }),
    ]);
    const { calls, cost, estimated, assumed, unpriced } = usage.total;
    const [last] = newest.calls;
    const isWhole = caller.path === "/";
    const { fault, waiting, proof } = books.condition();
    const shown = shownOf(running, { within: caller.path }, given, now);
    const visible = policy.budgets.filter(({ on }) => seesSubject(caller, on, policy));
    const url = gateway.address?.url;
    return {
      json: {
        at: now,
        version: books.health().version,
        ...(url !== undefined && { gateway: url }),
        open: !policy.closed,
        firstCall: last !== undefined || newest.bounded,
        ...(last && { lastCallAt: Math.round(last.startedAt + last.ms) }),
        ...hour,
        today: { from: midnight, calls, cost, uncertain: estimated + assumed, unpriced },
        running: { calls: shown.total, held: shown.held },
        books: {
          ...(isWhole && proof && { proof }),
          waiting,
          ...(fault !== undefined && { fault }),
        },
        notes: inOrder([
          ...(isWhole ? notesOfBooks(books.condition()) : []),
          ...notesOfBudgets(visible, accounts, now),
          ...notesOfRefusals(refusals.calls),
          ...(isWhole
            ? notesOfDeployments(gateway.workers.flatMap(({ state }) => state?.breakers ?? []))
            : []),
          ...notesOfCalls(unpriced),
          ...(isWhole ? [...notesOfConfig(books, now), ...notesOfEnds(books, now)] : []),
        ]),
      },
    };
  }),
];

/** From the records as they arrive; from the store for a part of the gateway, and for the time before the start. */
async function hourOf({ books, caller, now }: Given) {
  const { pulse } = books.gateway;
  const figures = pulse.hour(now);
  const isSince = pulse.since > now - HOUR_MS;
  if (caller.path === "/" && !isSince) return shapeOf(figures);
  const from = Math.floor(now / MINUTE_MS) * MINUTE_MS - (MINUTES - 1) * MINUTE_MS;
  const summary = await books.summary({ within: caller.path, from, to: now + 1, slices: MINUTES });
  const stored = isComplete(summary) ? byMinutes(summary, from) : undefined;
  if (caller.path === "/")
    // The statuses and the times until the first event are those since the start.
    return shapeOf(
      { ...figures, ...stored, firstToken: { ...figures.firstToken, since: pulse.since } },
      stored ? undefined : pulse.since,
    );
  return shapeOf({ ...(stored ?? NOTHING), firstToken: { calls: 0, since: now } }, stored ? undefined : now);
}

function isComplete({ completeFrom, sliceMs }: CallSummary): boolean {
  return completeFrom === undefined && sliceMs <= MINUTE_MS;
}

type Counts = Pick<HourFigures, "perMinute" | "failedPerMinute" | "calls" | "failed" | "rejected">;

const NOTHING: Counts = {
  perMinute: Array.from({ length: MINUTES }, () => 0),
  failedPerMinute: Array.from({ length: MINUTES }, () => 0),
  calls: 0,
  failed: 0,
  rejected: 0,
};

function byMinutes({ slices, calls, failed, rejected }: CallSummary, from: number): Counts {
  const perMinute = [...NOTHING.perMinute];
  const failedPerMinute = [...NOTHING.failedPerMinute];
  for (const slice of slices) {
    const minute = Math.floor((slice.at - from) / MINUTE_MS);
    perMinute[minute] = (perMinute[minute] ?? 0) + slice.calls;
    failedPerMinute[minute] = (failedPerMinute[minute] ?? 0) + slice.failed - slice.rejected;
  }
  return { perMinute, failedPerMinute, calls, failed: failed - rejected, rejected };
}

function shapeOf(
  {
    perMinute,
    failedPerMinute,
    calls,
    failed,
    rejected,
    commonest,
    firstToken,
  }: Counts & Pick<HourFigures, "commonest"> & { firstToken: HourFigures["firstToken"] & { since?: number } },
  completeFrom?: number,
) {
  return {
    ...{ perMinute, failedPerMinute, firstToken },
    hour: {
      ...{ calls, failed, rejected },
      ...(commonest && { commonest }),
      ...(completeFrom !== undefined && { completeFrom }),
    },
  };
}
