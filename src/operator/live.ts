/**
 * The events of `GET /admin/v1/calls/live`, by the name of the event. `calls`: calls that have ended, at most four times a
 * second. `running`: once a second. `pulse`: once a second, also when nothing happens, so that a client sees that the stream lives.
 */
import { type Static, Type } from "@sinclair/typebox";
import { answer, nano, time } from "./shapes.ts";
import { CallEntry, RunningCalls } from "./calls.ts";

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
