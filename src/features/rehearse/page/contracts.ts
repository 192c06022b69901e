/** Rehearsals in the operator's API. */
import { type Static, Type } from "@sinclair/typebox";
import { contract } from "../../../operator/contract.ts";
import { answer, mapOf, request, time } from "../../../operator/shapes.ts";
import { CAUSES } from "../run/compare.ts";

/** A rehearsal of more calls takes longer than an operator waits. */
export const MOST_CALLS = 100_000;

export const RehearsalOutlines = answer({
  number: Type.Integer({ description: "Outlines that weir has kept." }),
  bytes: Type.Integer(),
  oldest: Type.Optional(time("When the call of the oldest began.")),
  newest: Type.Optional(time("When the newest was written.")),
});
export type RehearsalOutlines = Static<typeof RehearsalOutlines>;

const RehearsalGroup = answer({
  what: Type.String({ description: "What differs, in one line." }),
  calls: Type.Integer(),
  first: Type.Integer({ description: "Number of its first changed call, the name of its example." }),
  before: Type.Optional(
    Type.Number({ description: "Cost of its calls, where prices differ. Nano-dollars." }),
  ),
  after: Type.Optional(Type.Number({ description: "The same by the new config. Nano-dollars." })),
});

export const RehearsalExample = answer({
  call: Type.String({ description: "Id of the call." }),
  at: Type.String({ description: "When it began, in ISO form." }),
  operation: Type.String(),
  format: Type.String(),
  model: Type.String({ description: "The model as the client named it." }),
  bytes: Type.Integer({ description: "Of the client's body." }),
  differences: Type.Array(
    answer({
      cause: Type.String(),
      what: Type.String(),
      before: Type.Unknown(),
      after: Type.Unknown({ description: "JSON; a long value is cut, and says how long it is." }),
    }),
  ),
});
export type RehearsalExample = Static<typeof RehearsalExample>;

export const RehearsalReport = answer({
  calls: Type.Integer(),
  same: Type.Integer(),
  changed: Type.Integer(),
  needs_tape: Type.Integer({ description: "Calls of which only a tape can tell: a text decides." }),
  causes: mapOf(
    answer({ calls: Type.Integer(), groups: Type.Array(RehearsalGroup) }),
    `By cause: ${CAUSES.join(", ")}.`,
  ),
  examples: mapOf(
    RehearsalExample,
    "The first changed call of each group as a whole, by its number; not of all if they are large.",
  ),
  reasons: Type.Array(answer({ why: Type.String(), calls: Type.Integer() }), {
    description: "Why calls need their tape.",
  }),
  damaged: Type.Boolean({ description: "Lines of the outlines were damaged, and were left out." }),
  assumed: Type.Optional(
    Type.String({ description: "Providers whose credentials the gateway does not have, in one sentence." }),
  ),
});
export type RehearsalReport = Static<typeof RehearsalReport>;

export const rehearseConfig = contract({
  method: "POST",
  path: "/admin/v1/rehearsals",
  id: "rehearseConfig",
  summary: "Which of the last calls another config would answer otherwise; nothing is sent, nothing changes",
  description:
    "As `weir rehearse --json` against the config file on the disk, without the lists of single calls. One runs at a time, for 120 s at most. Each leaves an entry in the audit log.",
  needs: { role: "admin", on: "gateway" },
  alone: true,
  body: request({
    config: Type.String({
      minLength: 1,
      maxLength: 1_000_000,
      description:
        "Text of the new config file. Relative paths begin where those of the present one do. Outside of secrets it may refer to variables only where the present one does, and `include` and `plugins.dir` are as there.",
    }),
    last: Type.Integer({
      minimum: 1,
      maximum: MOST_CALLS,
      default: 10_000,
      description: "Number of calls, the newest ones.",
    }),
    since: Type.Optional(time("Only calls that began at this time or later.")),
  }),
  answer: { name: "RehearsalReport", schema: RehearsalReport },
  errors: ["config_refused", "not_available", "rehearsal_running", "rehearsal_failed", "gateway_failed"],
});

export const getOutlines = contract({
  method: "GET",
  path: "/admin/v1/rehearsals/outlines",
  id: "getRehearsalOutlines",
  summary: "How many outlines of calls there are to rehearse",
  needs: { role: "read", on: "gateway" },
  answer: { name: "RehearsalOutlines", schema: RehearsalOutlines },
});
