/**
 * The events of `GET /admin/v1/calls/live`, by the name of the event. `calls`: calls that have ended, at most four times a
 * second. `running`: once a second. `pulse`: once a second, also when nothing happens, so that a client sees that the stream lives.
 */
import { answer, FILTER, nano, request, time } from "./shapes.ts";
import { CALL_FILTER, CallEntry, RunningCalls } from "./calls.ts";
import { type Static, Type } from "@sinclair/typebox";
import { contract } from "./contract.ts";

export const LiveCalls = answer({
  calls: Type.Array(CallEntry, { description: "The oldest first." }),
  matched: Type.Integer({
    description: "Calls that match the filter since the last event; more than listed when they are thinned.",
  }),
});
export type LiveCalls = Static<typeof LiveCalls>;

export const LivePulse = answer({
  at: time(""),
  perSecond: Type.Number({ description: "Calls that match the filter, in the last seconds." }),
  failedPerSecond: Type.Number(),
  running: Type.Integer({ description: "Calls that run." }),
  skipped: Type.Integer({
    description: "Events that were left out since the last pulse, because the reader was too slow.",
  }),
  behind: Type.Boolean({
    description: "The store cannot be written: records wait in memory. `GET /admin/v1/store` has the cause.",
  }),
  held: nano("What running attempts hold."),
});
export type LivePulse = Static<typeof LivePulse>;

export interface LiveEvents {
  calls: LiveCalls;
  running: Static<typeof RunningCalls>;
  pulse: LivePulse;
}

export const runningCalls = contract({
  method: "GET",
  path: "/admin/v1/calls/running",
  id: "runningCalls",
  summary: "Calls that run, the longest first",
  needs: { role: "read", on: "path" },
  query: request({ key: FILTER.key, path: FILTER.path, model: FILTER.model, provider: FILTER.provider }),
  answer: { name: "RunningCalls", schema: RunningCalls },
  errors: ["not_found"],
});

export const liveCalls = contract({
  method: "GET",
  path: "/admin/v1/calls/live",
  id: "liveCalls",
  summary: "Calls as they end and run, as server-sent events",
  description:
    "Events: `calls` at most four times a second, thinned above 32 calls a second; `running` and `pulse` once a second. They contain what `types.ts` describes as LiveCalls, RunningCalls and LivePulse.",
  needs: { role: "read", on: "path" },
  query: request(CALL_FILTER),
  answer: { text: "text/event-stream" },
  errors: ["not_found"],
});
