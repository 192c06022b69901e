/** Calls as they happen: those that run, and a stream of those that end. */
import type { RunningCalls } from "../../keeper/books/questions.ts";
import { matches } from "../../keeper/reports/matches.ts";
import type { CallFilter } from "../../keeper/reports/shapes.ts";
import { isWithin } from "../../ledger/keys/path.ts";
import { matchesAny, namesOf } from "../../core/model-pattern.ts";
import { LiveReader } from "../live.ts";
import { type AdminRequest, answers } from "../operation.ts";
import { callFilterOf, shownCalls } from "./calls.ts";
import { liveCalls, runningCalls } from "../../operator/live.ts";

type Given = Pick<AdminRequest, "books" | "caller">;

export const liveOperations = [
  answers(runningCalls, async (given) => {
    const running = await given.books.gateway.running();
    return { json: shownOf(running, callFilterOf(given, given.query), given, given.now) };
  }),
  answers(liveCalls, (given) => {
    const { books } = given;
    const filter = callFilterOf(given, given.query);
    const reader = new LiveReader({
      watch: (receive) => books.gateway.watch(receive),
      matches: (call) => matches(call, filter),
      show: (calls) => shownCalls(calls, given),
      running: () => shownOf(books.gateway.runningNow(), filter, given, Date.now()),
      isFaulty: () => books.health().degraded.length > 0,
      isAllowed: () => given.isAllowed(),
      now: Date.now,
    });
    return { text: reader.stream(), type: "text/event-stream; charset=utf-8" };
  }),
];

function namesOfRunning({ model, provider, target }: RunningCalls["calls"][number]): readonly string[] {
  if (provider === undefined || target === undefined) return [model];
  return namesOf(provider, target, model);
}

/** The running calls that the filter finds; members of ended calls are not looked at. */
export function shownOf(
  { total, calls }: RunningCalls,
  filter: Omit<CallFilter, "text">,
  { books, caller }: Given,
  at: number,
) {
  const names = new Map(books.policy().keys.map(({ id, name }) => [id, name]));
  const shown = calls
    .filter(
      ({ path = "/", ...call }) =>
        isWithin(path, caller.path) &&
        isWithin(path, filter.path ?? "/") &&
        (filter.key ?? call.key) === call.key &&
        (filter.provider ?? call.provider) === call.provider &&
        (filter.asked === undefined || matchesAny(filter.asked, [call.model])) &&
        (filter.model === undefined || matchesAny(filter.model, namesOfRunning(call))),
    )
    .map((call) => {
      const keyName = call.key === undefined ? undefined : names.get(call.key);
      return keyName === undefined ? call : { ...call, keyName };
    });
  const isAll = shown.length === calls.length;
  return {
    at,
    total: isAll ? total : shown.length,
    held: shown.reduce((sum, { held }) => sum + held, 0),
    calls: shown,
  };
}
