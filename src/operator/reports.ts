/** Reports: usage, prices, what another model would have cost. */
import { answer, FILTER, groupOf, mapOf, nano, PAGE, pageOf, request, time, words } from "./shapes.ts";
import { type Static, Type } from "@sinclair/typebox";
import { CALL_FILTER } from "./calls.ts";
import { contract } from "./contract.ts";

export const USAGE_GROUPS = [
  ...(["key", "path", "tag", "model", "provider", "client", "session", "state"] as const),
  ...(["day", "hour", "5min"] as const),
] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** The members of a row of sums. */
export const SUMS = {
  calls: Type.Integer(),
  failed: Type.Integer(),
  refused: Type.Integer({ description: "By a rule of the gateway." }),
  attempts: Type.Integer(),
  input: Type.Integer({ description: "Tokens, without those read from or written to a cache." }),
  cacheRead: Type.Integer(),
  cacheWrite: Type.Integer(),
  cacheWrite1h: Type.Integer({ description: "Part of `cacheWrite`." }),
  output: Type.Integer({ description: "Tokens, with those of reasoning." }),
  reasoning: Type.Integer(),
  searches: Type.Integer(),
  cost: nano("All charges."),
  reported: nano("Part of `cost`: the provider's own figure."),
  estimated: nano("Part of `cost`: the counts are partial."),
  assumed: nano("Part of `cost`: it cannot be known."),
  untiered: nano("Part of `cost`: the provider has not said which service tier it served."),
  unpriced: Type.Integer({ description: "Attempts with tokens and without a price." }),
  ms: Type.Number({ description: "Milliseconds of all calls together." }),
  firstMs: Type.Number({ description: "Milliseconds until the first event, of all calls together." }),
};
export const Sums = answer(SUMS);
export type Sums = Static<typeof Sums>;

export const UsageRow = answer({
  group: groupOf(USAGE_GROUPS),
  keyName: Type.Optional(Type.String({ description: "Name of the key, where rows are by key." })),
  ...SUMS,
});
export type UsageRow = Static<typeof UsageRow>;

export const UsageReport = answer({
  rows: Type.Array(UsageRow),
  total: Sums,
  from: Type.Optional(time("The sums begin here: the beginning of an hour or a day.")),
  to: Type.Optional(time("")),
  completeFrom: Type.Optional(time("The sums of earlier calls are deleted.")),
  searchedTo: Type.Optional(
    time("The sums are of calls since this time: there are more than such a report looks at."),
  ),
});
export type UsageReport = Static<typeof UsageReport>;

const BUCKETS = {
  input: Type.Optional(Type.Integer()),
  cacheRead: Type.Optional(Type.Integer()),
  cacheReadAudio: Type.Optional(Type.Integer()),
  cacheWrite: Type.Optional(Type.Integer()),
  cacheWrite1h: Type.Optional(Type.Integer()),
  output: Type.Optional(Type.Integer()),
  reasoning: Type.Optional(Type.Integer()),
  audioIn: Type.Optional(Type.Integer()),
  audioOut: Type.Optional(Type.Integer()),
  imageIn: Type.Optional(Type.Integer()),
  imageOut: Type.Optional(Type.Integer()),
};
const TIERS = Type.Optional(
  Type.Array(answer({ above: Type.Integer({ description: "Tokens of input." }), ...BUCKETS })),
);

export const Price = answer(
  {
    ref: Type.String({ description: "Identifies the content of the rule." }),
    provider: Type.String(),
    model: Type.String(),
    ...BUCKETS,
    tiers: TIERS,
    served: Type.Optional(mapOf(answer({ ...BUCKETS, tiers: TIERS }), "By service tier.")),
    regions: Type.Optional(mapOf(Type.Number(), "Factors by region.")),
    speeds: Type.Optional(mapOf(Type.Number(), "Factors by speed.")),
    units: Type.Optional(mapOf(Type.Integer(), "Pico-dollars a unit, by its name.")),
    per: Type.Optional(
      answer(
        {
          search: Type.Optional(Type.Integer()),
          searched: Type.Optional(Type.Integer()),
          request: Type.Optional(Type.Integer()),
        },
        { description: "Nano-dollars for each search, a request with searches, and each request." },
      ),
    ),
    maxOutput: Type.Optional(Type.Integer({ description: "Tokens." })),
    window: Type.Optional(Type.Integer({ description: "Tokens." })),
    from: Type.Optional(Type.String({ description: "The first day on which it holds: `2026-11-01`." })),
    source: Type.String({ description: "`config`, or the snapshot and its date." }),
  },
  { description: "Prices are pico-dollars a token: $2.50 a million tokens is 2500000." },
);
export type Price = Static<typeof Price>;

export const Prices = pageOf("prices", Price);
export type Prices = Static<typeof Prices>;

export const MissingPrices = answer({
  models: Type.Array(answer({ provider: Type.String(), model: Type.String(), calls: Type.Integer() })),
});
export type MissingPrices = Static<typeof MissingPrices>;

export const WhatIf = answer({
  calls: Type.Integer(),
  now: nano("What the calls cost."),
  then: nano("What they would have cost."),
  rows: Type.Array(
    answer({
      from: Type.String(),
      to: Type.String(),
      calls: Type.Integer(),
      now: nano(""),
      then: Type.Optional(nano("")),
      why: Type.Optional(Type.String()),
    }),
  ),
});
export type WhatIf = Static<typeof WhatIf>;

export const usage = contract({
  method: "GET",
  path: "/admin/v1/usage",
  id: "usage",
  summary: "Sums of calls, tokens and money",
  description:
    "The answer is CSV if the request accepts `text/csv`. By client, session, state or 5 minutes, with such a filter or with `exact`, the calls themselves are added up, at most the newest 150,000.",
  needs: { role: "read", on: "path" },
  query: request({
    by: Type.Array(words(USAGE_GROUPS), {
      default: [],
      maxItems: 3,
      uniqueItems: true,
      description: `Groups, with commas: ${USAGE_GROUPS.join(", ")}.`,
    }),
    ...FILTER,
    client: CALL_FILTER.client,
    session: CALL_FILTER.session,
    state: CALL_FILTER.state,
    exact: Type.Optional(Type.Boolean({ description: "The time is not extended to whole hours or days." })),
  }),
  answer: { name: "Usage", schema: UsageReport },
  csv: true,
  errors: ["not_found", "not_permitted", "too_many_rows"],
});

export const listPrices = contract({
  method: "GET",
  path: "/admin/v1/prices",
  id: "listPrices",
  summary: "The price rules in use",
  needs: { role: "read", on: "path" },
  query: request({
    ...PAGE,
    q: Type.Optional(Type.String({ maxLength: 200, description: "Part of `provider/model`." })),
    of: Type.Optional(
      Type.Array(Type.String({ pattern: "^[^/]{1,100}/.{1,300}$", "x-expects": "provider/model" }), {
        maxItems: 100,
        uniqueItems: true,
        description:
          "`provider/model`, with commas: their prices alone, also those that a pattern of the config sets; instead of a page.",
      }),
    ),
  }),
  answer: { name: "Prices", schema: Prices },
});

export const missingPrices = contract({
  method: "GET",
  path: "/admin/v1/prices/missing",
  id: "missingPrices",
  summary: "Models that were used and have no price",
  needs: { role: "read", on: "gateway" },
  answer: { name: "MissingPrices", schema: MissingPrices },
});

export const whatIf = contract({
  method: "POST",
  path: "/admin/v1/whatif",
  id: "whatIf",
  summary: "What the calls of a time would have cost with other models",
  needs: { role: "read", on: "path" },
  body: request({
    ...FILTER,
    map: Type.Record(Type.String({ maxLength: 300 }), Type.String({ maxLength: 300 }), {
      description: "Another `provider/model` for each `provider/model`, pattern or set (`@cheap`).",
    }),
  }),
  answer: { name: "WhatIf", schema: WhatIf },
  errors: ["not_found"],
});
