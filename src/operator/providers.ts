/** Providers and their deployments: state, speed, failures, what they cost. */
import { answer, FILTER, nano, request, time, words } from "./shapes.ts";
import { type Static, Type } from "@sinclair/typebox";
import { contract } from "./contract.ts";

const share = (description: string) => Type.Number({ minimum: 0, maximum: 1, description });
const ms = (description: string) =>
  Type.Optional(Type.Number({ description: `${description} Milliseconds.` }));

/** A circuit breaker that is not closed, of one model. */
export const Breaker = answer({
  model: Type.String({ description: "The provider's name of the model." }),
  state: words(
    ["failing", "paused", "half-open"],
    "`failing`: after failures; `paused`: the provider asked for a pause or refused the credential; `half-open`: the next call is a trial.",
  ),
  since: Type.Optional(time("")),
  until: Type.Optional(time("Then one call tries it.")),
  reason: Type.Optional(Type.String({ description: "What happened last: `status 529`, `timeout`." })),
  workers: Type.Integer({ description: "Workers in which it is so; each has circuit breakers of its own." }),
});
export type Breaker = Static<typeof Breaker>;

export const DeploymentEntry = answer({
  name: Type.String({ description: "`PROVIDER`, or `PROVIDER/DEPLOYMENT`." }),
  url: Type.String({ description: "Its origin; empty for a program." }),
  state: words(
    ["healthy", "on-trial", "left-alone", "no-key"],
    "`left-alone`: calls go to others where they can; `on-trial`: one call tries it; `no-key`: it is off.",
  ),
  why: Type.Optional(Type.String({ description: "Why it is off, as a sentence." })),
  keyVariable: Type.Optional(
    Type.String({ description: "The variable from which its key is, or which would have it." }),
  ),
  weight: Type.Optional(Type.Number()),
  priority: Type.Optional(Type.Integer()),
  maxConcurrency: Type.Optional(Type.Integer()),
  inflight: Type.Integer(),
  breakers: Type.Array(Breaker),
  calls: Type.Integer({ description: "Attempts in the range." }),
  looked: Type.Integer({
    description: "Those of the newest calls of the range, of which `failed`, errors and percentiles are.",
  }),
  failed: Type.Integer({ description: "Those of `looked` that failed by no fault of the client." }),
  shareOfCalls: share("Of all attempts of the range."),
  cost: nano(""),
  perMillion: Type.Optional(nano("A million tokens, as really paid: all charges by all tokens.")),
  latency: answer(
    {
      calls: Type.Integer({ description: "Calls that the percentiles are of." }),
      p50: ms("First event, half of the calls."),
      p95: ms("First event, 95 % of the calls."),
      total50: ms("Whole call, half of them."),
      total95: ms("Whole call, 95 % of them."),
    },
    { description: "Answered calls with one attempt, the newest of the range." },
  ),
  errors: Type.Array(
    answer({
      class: Type.String({ description: "`status 429`, or the class of the failure." }),
      status: Type.Optional(Type.Integer()),
      group: words(
        ["429", "5xx", "broken", "credential", "request"],
        "As `tried` of the calls; `request`: the client's fault.",
      ),
      calls: Type.Integer({ description: "Attempts." }),
    }),
    { description: "The most frequent first." },
  ),
  lastError: Type.Optional(
    answer({
      at: time(""),
      call: Type.String({ description: "Id of the call." }),
      status: Type.Optional(Type.Integer({ description: "Of the provider's answer." })),
      code: Type.Optional(Type.String()),
    }),
  ),
  series: Type.Array(
    answer({
      at: time(""),
      calls: Type.Integer(),
      failed: Type.Integer(),
      p95: ms("First event."),
    }),
    { description: "Over the range, the slices with calls." },
  ),
});
export type DeploymentEntry = Static<typeof DeploymentEntry>;

export const ProviderEntry = answer({
  name: Type.String(),
  source: Type.String({ description: "`built-in`, `config`, or the file of a plugin." }),
  formats: Type.Array(Type.String(), { description: "The formats that it speaks." }),
  patterns: Type.Array(Type.String(), { description: "The model names that it serves." }),
  on: Type.Boolean(),
  deployments: Type.Array(DeploymentEntry),
});
export type ProviderEntry = Static<typeof ProviderEntry>;

export const Providers = answer({
  from: time(""),
  to: time(""),
  sliceMs: Type.Integer(),
  searchedTo: Type.Optional(
    time("Percentiles, errors and series are of calls since this time; there were too many in the range."),
  ),
  providers: Type.Array(ProviderEntry, {
    description: "Those with trouble first, those without a key last.",
  }),
});
export type Providers = Static<typeof Providers>;

export const listProviders = contract({
  method: "GET",
  path: "/admin/v1/providers",
  id: "listProviders",
  summary: "Deployments: their circuit breakers, speed, failures and what they cost",
  description: "Of the last hour, if the request names no time.",
  needs: { role: "read", on: "path" },
  query: request({ from: FILTER.from, to: FILTER.to }),
  answer: { name: "Providers", schema: Providers },
  errors: ["gateway_failed"],
});
