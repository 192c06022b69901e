/** The content of the console's frame and first page: figures of now, and notes that need the operator. */
import { answer, nano, time, words } from "./shapes.ts";
import { type Static, Type } from "@sinclair/typebox";
import { contract } from "./contract.ts";

export const NOTE_KINDS = [
  "store",
  "books",
  "budget-empty",
  "budget-low",
  "budget-refusals",
  "deployment",
  "no-key",
  "unpriced",
  "prices-old",
  "closed-budgets",
  "config-changed",
  "model-ends",
] as const;

export const Note = answer({
  kind: words(NOTE_KINDS),
  level: words(["bad", "warn"]),
  text: Type.String({ description: "One or two sentences." }),
  subject: Type.Optional(
    Type.String({ description: "Id of the budget, name of the deployment or the model." }),
  ),
  since: Type.Optional(time("")),
  acts: Type.Optional(
    Type.Array(answer({ words: Type.String(), at: Type.String() }), {
      description: "Further pages of the console on it: words of the link, and the path: `/calls?key=…`.",
    }),
  ),
});
export type Note = Static<typeof Note>;

export const Overview = answer({
  at: time(""),
  version: Type.String(),
  gateway: Type.Optional(
    Type.String({ description: "Where the gateway listens for calls: `http://127.0.0.1:9347`." }),
  ),
  open: Type.Boolean({ description: "Calls need no key." }),
  firstCall: Type.Boolean({ description: "The store has at least one call." }),
  lastCallAt: Type.Optional(time("")),
  perMinute: Type.Array(Type.Integer(), {
    description:
      "Calls that ended in each minute of the last hour, the oldest first; the last one is not over.",
  }),
  failedPerMinute: Type.Array(Type.Integer()),
  hour: answer({
    calls: Type.Integer(),
    failed: Type.Integer({ description: "Calls that a provider or weir could not answer." }),
    rejected: Type.Integer({
      description:
        "Calls that weir answered with an error before it asked a provider: refusals of rules, mistakes of clients.",
    }),
    commonest: Type.Optional(
      answer(
        { status: Type.Integer(), calls: Type.Integer() },
        { description: "The most frequent status of failed calls." },
      ),
    ),
    completeFrom: Type.Optional(time("The figures begin here, if the last hour is not complete.")),
  }),
  today: answer({
    from: time("Midnight, UTC."),
    calls: Type.Integer(),
    cost: nano(""),
    uncertain: nano("Part of `cost` that is estimated or assumed."),
    unpriced: Type.Integer(),
  }),
  firstToken: answer(
    {
      calls: Type.Integer(),
      p50: Type.Optional(Type.Number({ description: "Milliseconds." })),
      p95: Type.Optional(Type.Number({ description: "Milliseconds." })),
      since: Type.Optional(time("Earlier streams of the last hour are not in these figures.")),
    },
    { description: "Streams of the last hour." },
  ),
  running: answer({ calls: Type.Integer(), held: nano("") }),
  books: answer({
    proof: Type.Optional(
      answer({ at: time(""), ms: Type.Number(), holds: Type.Boolean() }, { description: "The last proof." }),
    ),
    waiting: Type.Integer({ description: "Batches of records that are not in the store." }),
    fault: Type.Optional(Type.String()),
  }),
  notes: Type.Array(Note, { description: "What needs the operator, the worst first." }),
});
export type Overview = Static<typeof Overview>;

export const overview = contract({
  method: "GET",
  path: "/admin/v1/overview",
  id: "overview",
  summary: "Figures of now, and what needs the operator",
  needs: { role: "read", on: "path" },
  answer: { name: "Overview", schema: Overview },
});
