/** Looks at models in the operator's API. */
import { type Static, Type } from "@sinclair/typebox";
import { contract } from "../../operator/contract.ts";
import { answer, mapOf, nano, request, time, words } from "../../operator/shapes.ts";
import { KINDS } from "./differences.ts";
import { VERDICTS } from "./sides.ts";

const TEXTS = (description: string) => mapOf(Type.String(), description);
const MODEL = Type.String({ description: "`provider/model`." });

export const ObservationView = answer({
  id: Type.String(),
  number: Type.Integer({ description: "Position in the chain, from 1." }),
  at: time("When the look began."),
  by: words(["schedule", "command"], "What made the look."),
  model: MODEL,
  cost: nano("What its calls cost."),
  own: answer({
    version: Type.String({ description: "Of weir." }),
    plugins: Type.String({ description: "Hash of the files in the folder of plugins." }),
    provider: Type.String({ description: "Hash of `parts`." }),
    parts: TEXTS("What of the config concerns the provider, without secrets."),
    requests: TEXTS("By question: hash of what weir sent."),
  }),
  seen: answer({
    facts: TEXTS("What is the same in each look unless something changes."),
    tokens: mapOf(Type.Integer(), "Input tokens by question."),
    answers: TEXTS("Choice by question."),
    prices: mapOf(
      answer({ input: Type.Integer(), output: Type.Integer(), cost: nano("") }),
      "By question: what the provider says that the answer costs.",
    ),
    speed: answer({
      firstByteMs: Type.Optional(
        Type.Number({ description: "Milliseconds until the first byte, the middle of all answers." }),
      ),
      perSecond: Type.Optional(Type.Number({ description: "Output tokens a second of the stream." })),
    }),
    missing: TEXTS("Why a question has no answer, by question."),
  }),
  before: Type.String({ description: "Hash of the observation before it." }),
  hash: Type.String({ description: "SHA-256 over `before` and the observation." }),
});

export const ChangeView = answer({
  id: Type.String(),
  at: time("When it was found."),
  since: time("When it began at the latest."),
  model: MODEL,
  kind: words(KINDS),
  stream: Type.String({ description: "The test that found it." }),
  words: Type.String({ description: "A clause." }),
  evidence: Type.String({ description: "How sure it is: a clause." }),
  observation: Type.String({ description: "Id of the observation that was enough." }),
});

export const LookView = answer({
  models: Type.Array(MODEL),
  bound: answer({
    calls: Type.Integer(),
    cost: Type.Optional(nano("The most that the calls may cost; absent if a price is not known.")),
    unpriced: Type.Array(MODEL, { description: "Models whose price is not known." }),
  }),
  observations: Type.Array(ObservationView, { description: "Empty with `dryRun`." }),
});
export type LookView = Static<typeof LookView>;

export const LooksView = answer({
  observations: Type.Array(ObservationView, { description: "The newest first." }),
  changes: Type.Array(ChangeView, { description: "The newest first." }),
});
export type LooksView = Static<typeof LooksView>;

const DIFFERENCE = answer({
  kind: words(KINDS),
  questions: Type.Array(Type.String(), { description: "Questions on whose requests it rests." }),
  words: Type.String({ description: "A clause." }),
});

export const DiffView = answer({
  model: MODEL,
  before: Type.String({ description: "Id of the older observation." }),
  after: Type.String({ description: "Id of the newer one." }),
  beforeAt: time(""),
  afterAt: time(""),
  verdict: words(
    VERDICTS,
    "`theirs`: weir's side is equal, so the provider changed; `yours`: weir's side changed and nothing else was seen to; `mixed`: both differ; `same`: nothing differs.",
  ),
  theirs: Type.Array(DIFFERENCE, { description: "Changes of the provider." }),
  yours: Type.Array(
    answer({
      what: words(["version", "plugins", "config", "request"]),
      questions: Type.Array(Type.String()),
      words: Type.String({ description: "A clause." }),
    }),
    { description: "Changes of weir's own side." },
  ),
  unclear: Type.Array(DIFFERENCE, {
    description: "What may come from weir's own side or from the provider.",
  }),
  separate: Type.Optional(Type.String({ description: "How to find out whose `unclear` is: a sentence." })),
});
export type DiffView = Static<typeof DiffView>;

export const lookNow = contract({
  method: "POST",
  path: "/admin/v1/witness/looks",
  id: "lookNow",
  summary: "Looks at models once, and keeps what it saw",
  needs: { role: "admin", on: "gateway" },
  body: request({
    models: Type.Optional(
      Type.Array(MODEL, { minItems: 1, maxItems: 50, description: "Default: those of the config." }),
    ),
    dryRun: Type.Boolean({ default: false, description: "Only say what the look may cost; send nothing." }),
  }),
  answer: { name: "LookView", schema: LookView },
  errors: ["not_available", "gateway_failed"],
});

export const listLooks = contract({
  method: "GET",
  path: "/admin/v1/witness/looks",
  id: "listLooks",
  summary: "The last observations of models, and the changes of providers that were found",
  needs: { role: "read", on: "gateway" },
  query: request({
    model: Type.Optional(MODEL),
    limit: Type.Integer({ minimum: 1, maximum: 500, default: 20, description: "Most observations." }),
  }),
  answer: { name: "LooksView", schema: LooksView },
});

const PLACE = "Id of an observation, a time (`2026-11-29T10:00:00Z`) or a day (`2026-11-29`).";

export const diffLooks = contract({
  method: "GET",
  path: "/admin/v1/witness/diff",
  id: "diffLooks",
  summary: "Whose change it is: compares two observations of one model",
  needs: { role: "read", on: "gateway" },
  query: request({
    a: Type.String({
      description: `${PLACE} A time stands for the last observation before it, a day for the last one of the day.`,
    }),
    b: Type.String({ description: PLACE }),
    model: Type.Optional(
      Type.String({ description: "`provider/model`; needed where both are times and there are several." }),
    ),
  }),
  answer: { name: "DiffView", schema: DiffView },
  errors: ["not_available"],
});
