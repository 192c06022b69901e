/** Calls: records, filters, sums of what a filter finds, and calls that are running. */
import { type Static, Type } from "@sinclair/typebox";
import { CHARGE_STATES, PRICE_DOUBTS } from "../ledger/charge.ts";
import type { RefusedBy } from "../core/refusal.ts";
import type { FailedTry } from "../ledger/columns.ts";
import { answer, FILTER, mapOf, nano, PAGE, request, time, words } from "./shapes.ts";
import { CacheBreak } from "./cache.ts";
import { contract } from "./contract.ts";

export const OUTCOMES = ["complete", "failed", "cancelled"] as const;
export const REFUSALS = ["rate", "tokens", "concurrency", "budget", "scope", "price"] as const;

const count = (description: string) => Type.Optional(Type.Integer({ description }));

/** Tokens of an attempt, and what else the provider counts. */
export const Usage = answer({
  input: Type.Integer({ description: "Tokens that were neither read from nor written to a cache." }),
  cacheRead: Type.Integer(),
  cacheReadAudio: count("Part of `cacheRead`."),
  cacheWrite: Type.Integer(),
  cacheWrite1h: count("Part of `cacheWrite`."),
  output: Type.Integer({ description: "Tokens, with those of reasoning." }),
  reasoning: Type.Integer(),
  audioIn: count("Part of the input."),
  imageIn: count("Part of the input."),
  audioOut: count("Part of `output`."),
  imageOut: count("Part of `output`."),
  searches: count("Web searches that the provider ran."),
  units: Type.Optional(mapOf(Type.Integer(), "What is charged by other units than tokens.")),
  tier: Type.Optional(Type.String({ description: "The service tier that served the request." })),
  region: Type.Optional(Type.String()),
  speed: Type.Optional(Type.String()),
  reported: Type.Optional(nano("The provider's own price.")),
  known: Type.Optional(words(["partial", "final"])),
});

export const Attempt = answer({
  provider: Type.String(),
  deployment: Type.String(),
  model: Type.String({ description: "The provider's name of the model." }),
  class: words(
    ["answered", "not-sent", "no-bytes", "status", "never", "started"],
    "`answered`, or how it failed: the provider did not get the request, sent no byte, answered with an error status, a retry would fail too, part of the answer had been delivered.",
  ),
  ms: Type.Number({ description: "Milliseconds from its start to its end." }),
  usage: Usage,
  charge: answer({
    state: words(CHARGE_STATES),
    cost: nano(""),
    price: Type.Optional(Type.String({ description: "Reference of the price rule." })),
    doubt: Type.Optional(words(PRICE_DOUBTS, "What the rule does not contain.")),
  }),
  held: nano("Most that was held for it."),
  expected: count("The most input that weir expected. Tokens."),
  accounts: Type.Array(Type.String(), { description: "The budget accounts that it was charged to." }),
});

const Fact = answer({
  name: Type.String({ description: "Name of the member." }),
  label: Type.String(),
  text: Type.String(),
  find: Type.Optional(
    Type.String({
      description: "Value of the parameter `name` of `GET /admin/v1/calls` that finds such calls.",
    }),
  ),
});

/** The record of a call without the members that columns add. */
export const CallEntry = answer(
  {
    id: Type.String(),
    startedAt: time(""),
    ms: Type.Number({ description: "Milliseconds." }),
    headMs: Type.Optional(Type.Number({ description: "Milliseconds until the head of the answer." })),
    firstMs: Type.Optional(Type.Number({ description: "Milliseconds until the first event." })),
    ownMs: Type.Optional(Type.Number({ description: "Milliseconds of weir before the first attempt." })),
    key: Type.Optional(Type.String({ description: "Id of the key." })),
    keyName: Type.Optional(Type.String({ description: "Its name, if the key still exists." })),
    path: Type.Optional(Type.String()),
    tags: Type.Optional(Type.Array(Type.String())),
    format: Type.String({ description: "Id of the client's format." }),
    lane: Type.Optional(words(["native", "translated", "generated"])),
    model: Type.String({ description: "The model as the client named it." }),
    stream: Type.Boolean(),
    status: Type.Integer({ description: "Status of the answer to the client." }),
    outcome: words(OUTCOMES),
    refused: Type.Optional(words(REFUSALS, "Which rule of the gateway refused the call.")),
    error: Type.Optional(answer({ kind: Type.String(), code: Type.Optional(Type.String()) })),
    finish: Type.Optional(Type.String()),
    session: Type.Optional(Type.String({ description: "Hash of the session." })),
    client: Type.Optional(Type.String({ description: "Name and version of the client's SDK." })),
    losses: Type.Optional(
      Type.Array(answer({ code: Type.String(), path: Type.String(), note: Type.Optional(Type.String()) })),
    ),
    cacheBreak: Type.Optional(CacheBreak),
    facts: Type.Optional(
      Type.Array(Fact, {
        description: "What columns of the log say of the call. Of one call, and with `facts=true`.",
      }),
    ),
    attempts: Type.Array(Attempt, { description: "Empty for a call that reached no provider." }),
  },
  {
    description:
      "The record of a call. It contains no prompt and no answer; the error of a provider may quote some words.",
  },
);
/** With the members of columns that clients of the operator's API read. */
export type CallEntry = Static<typeof CallEntry> & {
  failures?: readonly FailedTry[];
  refusedBy?: RefusedBy;
};

const flag = (description: string) => Type.Optional(Type.Boolean({ description }));
const text = (maxLength: number, description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength, description }));

const STATUS = Type.String({
  pattern: "^[1-5](\\d\\d|xx)(\\|[1-5](\\d\\d|xx)){0,9}$",
  "x-expects": "a status such as 429, 5xx or 429|5xx",
  description: "Statuses of the answer to the client: `429`, `5xx`, several with `|`.",
});

/** A condition on a number: `>` or `<`, the number, its unit. */
const bound = (before: string, unit: string, expects: string, description: string) =>
  Type.Optional(
    Type.String({
      pattern: `^[<>]=?${before}\\d{1,12}(\\.\\d{1,9})?${unit}$`,
      ...{ "x-expects": expects, description: `${description} As \`>1\` or \`<=1\`.` },
    }),
  );

/** The filters that have an opposite. */
const OPPOSITES = {
  ...{ key: FILTER.key, path: FILTER.path, tag: FILTER.tag, model: FILTER.model, provider: FILTER.provider },
  ...{ client: text(64, ""), status: Type.Optional(STATUS), outcome: Type.Optional(words(OUTCOMES)) },
};

const leftOut = <Name extends keyof typeof OPPOSITES>(name: Name) => ({
  ...OPPOSITES[name],
  description: `Calls that \`${name}\` would find are left out.`,
});

/** Which calls an operation is about. */
export const CALL_FILTER = {
  ...FILTER,
  failed: flag("Calls that did not end with a complete answer."),
  outcome: Type.Optional(words(OUTCOMES)),
  status: Type.Optional(STATUS),
  cost: bound("\\$?", "", "an amount of dollars such as >0.1", "All charges of the call."),
  took: bound("", "(ms|s|m|h)?", "a time such as >5s", "Time to its end; without a unit seconds."),
  tokens: bound("", "[kM]?", "a number such as >50k", "All input and output."),
  id: text(200, "The beginning of the id of the call, or the whole id that the provider gave."),
  slowerThan: Type.Optional(Type.Integer({ minimum: 0, description: "Milliseconds." })),
  tried: Type.Optional(
    Type.String({
      pattern: "^(429|5xx|broken|credential|request|failed)(@.{1,200})?$",
      ...{ "x-expects": "429, 5xx, broken, credential, request or failed, or one of them with @DEPLOYMENT" },
      description:
        "What a provider answered to any attempt: `429`; `5xx`; `broken`: nothing, or a broken answer; `credential`: it refused weir's; `request`: it refused the request; `failed`: any of these but the last. `5xx@openai`: at this deployment.",
    }),
  ),
  retried: flag("Calls with more than one attempt."),
  rejected: flag("Calls that weir answered with an error before it asked a provider."),
  losses: flag("Calls of which something could not be carried over."),
  state: Type.Optional(
    words(
      [...CHARGE_STATES, "uncertain", "certain"],
      "State of the charge of any attempt; `uncertain`: estimated or assumed; `certain`: neither of them, nor unpriced.",
    ),
  ),
  refused: Type.Optional(words([...REFUSALS, "any"], "Which rule of the gateway refused the call.")),
  asked: text(200, "The model as the client named it."),
  deployment: text(200, "A deployment that was tried last."),
  format: text(64, "Id of the client's format."),
  client: text(64, "Name and version of the client's SDK, or its beginning."),
  session: text(500, "Hash of a session, or its id as the client sent it."),
  q: text(
    200,
    "The beginning of an id (`req_…`), a provider's id, a session's id, or part of a key's name, of a model as the client named it, or of a target.",
  ),
  "-key": leftOut("key"),
  "-path": leftOut("path"),
  "-tag": leftOut("tag"),
  "-model": leftOut("model"),
  "-provider": leftOut("provider"),
  "-client": leftOut("client"),
  "-status": leftOut("status"),
  "-outcome": leftOut("outcome"),
};

export const Calls = answer({
  calls: Type.Array(CallEntry),
  columns: Type.Optional(
    Type.Array(Type.String(), {
      description: "With `facts=true`: the names of all facts that a call can have.",
    }),
  ),
  next: Type.Optional(Type.String({ description: "Cursor for `after`." })),
  bounded: Type.Boolean({
    description: "The search has looked at as many rows as it may; `next` goes on from there.",
  }),
  searchedTo: Type.Optional(
    time("Where `bounded`: all calls that began at this time or later were looked at."),
  ),
});
export type Calls = Static<typeof Calls>;

/** Sums of the calls that a filter finds. */
const SUMMED = {
  calls: Type.Integer(),
  failed: Type.Integer({ description: "Calls with the outcome `failed`." }),
  rejected: Type.Integer({
    description:
      "Those of `failed` that weir answered before it asked a provider. In sums by hour: those that a rule refused.",
  }),
  cost: nano("All charges."),
  uncertain: nano("Part of `cost` that is estimated or assumed."),
};

export const CallsSummary = answer({
  ...SUMMED,
  uncertainCalls: Type.Optional(
    Type.Integer({ description: "Calls with a charge that is estimated or assumed." }),
  ),
  unpriced: Type.Integer({ description: "Calls with tokens and without a price; `cost` is without them." }),
  retried: Type.Optional(
    Type.Integer({
      description:
        "Calls with several attempts. Absent, as `uncertainCalls`, where there are so many calls that the sums are those of whole hours.",
    }),
  ),
  from: Type.Optional(time("The slices begin here. Absent: there is no call.")),
  to: time(""),
  sliceMs: Type.Integer({ description: "Length of a slice. Milliseconds." }),
  slices: Type.Array(answer({ at: time("Its beginning."), ...SUMMED }), {
    description: "The slices with calls, the oldest first.",
  }),
  completeFrom: Type.Optional(
    time("The search ended here: calls before this time are neither in the sums nor in the slices."),
  ),
});
export type CallsSummary = Static<typeof CallsSummary>;

export const RunningCall = answer({
  id: Type.String(),
  startedAt: time(""),
  worker: Type.Integer(),
  key: Type.Optional(Type.String()),
  keyName: Type.Optional(Type.String()),
  path: Type.Optional(Type.String()),
  format: Type.String(),
  model: Type.String({ description: "The model as the client named it." }),
  stream: Type.Boolean(),
  phase: words(
    ["starting", "waiting", "answering"],
    "Before the first attempt; waiting for the provider; the client gets the answer.",
  ),
  attempts: Type.Integer(),
  provider: Type.Optional(Type.String()),
  deployment: Type.Optional(Type.String()),
  target: Type.Optional(Type.String({ description: "The provider's name of the model." })),
  firstMs: Type.Optional(Type.Number({ description: "Milliseconds until the first event." })),
  output: Type.Integer({ description: "Tokens so far: counted by the provider, else an estimate." }),
  held: nano(""),
});
export type RunningCall = Static<typeof RunningCall>;

export const RunningCalls = answer({
  at: time("The workers said this at about this time."),
  total: Type.Integer({ description: "Calls that run, also those that are not listed." }),
  held: nano("What the listed calls hold."),
  calls: Type.Array(RunningCall, { description: "At most 200 of a worker, the longest first." }),
});
export type RunningCalls = Static<typeof RunningCalls>;

export const listCalls = contract({
  method: "GET",
  path: "/admin/v1/calls",
  id: "listCalls",
  summary: "Records of calls, the newest first or in the order of `sort`",
  description:
    "A search looks at a limited number of rows. `bounded: true` says that it ended there; `next` goes on.",
  needs: { role: "read", on: "path" },
  query: request({
    ...PAGE,
    ...CALL_FILTER,
    sort: Type.Optional(
      words(
        ["cost", "took", "first", "tokens"],
        "The largest first, of the newest 350,000 calls that are looked at: by cost, time, time to the first event, or tokens.",
      ),
    ),
    facts: Type.Boolean({ default: false, description: "Whether each call has its `facts`." }),
  }),
  answer: { name: "Calls", schema: Calls },
  errors: ["not_found"],
});

export const summarizeCalls = contract({
  method: "GET",
  path: "/admin/v1/calls/summary",
  id: "summarizeCalls",
  summary: "Sums of the calls that a filter finds, and their slices over time",
  description:
    "Where a filter without members of single calls finds more calls than one answer may look at, the sums are those of whole hours; with such members, `completeFrom` says where the search ended.",
  needs: { role: "read", on: "path" },
  query: request({
    ...CALL_FILTER,
    slices: Type.Integer({
      minimum: 1,
      maximum: 400,
      default: 60,
      description: "Most slices of the answer.",
    }),
  }),
  answer: { name: "CallsSummary", schema: CallsSummary },
  errors: ["not_found"],
});

export const getCall = contract({
  method: "GET",
  path: "/admin/v1/calls/{id}",
  id: "getCall",
  summary: "The record of one call",
  needs: { role: "read", on: "path" },
  answer: { name: "Call", schema: CallEntry },
  errors: ["not_found"],
});
