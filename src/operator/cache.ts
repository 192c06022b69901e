/** Savings by the caches of providers, reasons why prompts were not read from them, and the cost of that. */
import { answer, FILTER, groupOf, nano, PAGE, request, time, words } from "./shapes.ts";
import { type Static, Type } from "@sinclair/typebox";
import { BREAK_REASONS } from "../ledger/record.ts";
import { contract } from "./contract.ts";

export const CACHE_GROUPS = ["key", "path", "client", "model", "provider", "day"] as const;
export type CacheGroup = (typeof CACHE_GROUPS)[number];

const REASON = words(
  BREAK_REASONS,
  "`changed`: a section of the prompt differs; `reordered`: its elements are in another order; `expired`: the cache had forgotten it; `deployment`: another one served the call; `provider`: none of these.",
);
const SECTION = Type.Optional(
  Type.String({ description: "The section in the client's request: `system[1]`, `tools`." }),
);

export const CacheBreak = answer(
  {
    reason: REASON,
    section: SECTION,
    afterMs: Type.Number({ description: "Milliseconds since the end of the call before." }),
    tokens: Type.Integer({ description: "That were in the cache and were not read." }),
    cost: nano("What they cost more."),
  },
  { description: "Why a provider read less of a prompt from its cache than it had there." },
);
export type CacheBreak = Static<typeof CacheBreak>;

const SUMS = {
  calls: Type.Integer({ description: "Calls whose provider reports a cache." }),
  input: Type.Integer({ description: "Tokens that were neither read from a cache nor written to it." }),
  cacheRead: Type.Integer(),
  cacheWrite: Type.Integer(),
  saved: nano("What caching saved, less what writing cost. Negative if it did not pay."),
  breaks: Type.Integer({ description: "Calls that read less than was in the cache." }),
  lost: Type.Integer({ description: "Tokens that these did not read." }),
  lostCost: nano("What they cost more."),
};
export const CacheSums = answer(SUMS);
export type CacheSums = Static<typeof CacheSums>;

const COMMONEST = Type.Optional(
  answer(
    { reason: REASON, section: SECTION, breaks: Type.Integer(), cost: nano("") },
    { description: "The reason that cost most." },
  ),
);

export const CacheRow = answer({
  group: groupOf(CACHE_GROUPS),
  keyName: Type.Optional(Type.String({ description: "Name of the key, where rows are by key." })),
  ...SUMS,
  commonest: COMMONEST,
});
export type CacheRow = Static<typeof CacheRow>;

const REASONS_FROM = Type.Optional(
  time(
    "Reasons are those of calls from then on: the newest 50,000 that read too little. Absent: of all calls.",
  ),
);

export const CacheReport = answer({
  rows: Type.Array(CacheRow, {
    description: "Those that lost most first; by time where a group is the day.",
  }),
  total: CacheSums,
  from: Type.Optional(time("The sums begin here: the beginning of a day, UTC.")),
  to: Type.Optional(time("")),
  reasonsFrom: REASONS_FROM,
});
export type CacheReport = Static<typeof CacheReport>;

const SESSION = {
  session: Type.String({ description: "Its hash, 16 hexadecimal digits." }),
  key: Type.Optional(Type.String({ description: "Id of the key." })),
  keyName: Type.Optional(Type.String()),
  path: Type.String(),
};

export const CacheSessions = answer({
  sessions: Type.Array(
    answer({
      ...SESSION,
      client: Type.Optional(Type.String()),
      lastAt: time("Of its last call that read too little."),
      breaks: Type.Integer(),
      lost: Type.Integer({ description: "Tokens." }),
      lostCost: nano(""),
      commonest: COMMONEST,
    }),
    { description: "Those that lost most first." },
  ),
  reasonsFrom: REASONS_FROM,
});
export type CacheSessions = Static<typeof CacheSessions>;

export const CacheSession = answer({
  ...SESSION,
  firstAt: time(""),
  lastAt: time(""),
  count: Type.Integer({ description: "All calls of the session, also those that `calls` does not have." }),
  calls: Type.Array(
    answer({
      id: Type.String(),
      startedAt: time(""),
      ms: Type.Number(),
      model: Type.String({ description: "The model as the client named it." }),
      provider: Type.String(),
      deployment: Type.String(),
      status: Type.Integer(),
      input: Type.Integer(),
      cacheRead: Type.Integer(),
      cacheWrite: Type.Integer(),
      cost: nano(""),
      break: Type.Optional(CacheBreak),
    }),
    { description: "The oldest first; at most the newest 500." },
  ),
});
export type CacheSession = Static<typeof CacheSession>;

export const cacheReport = contract({
  method: "GET",
  path: "/admin/v1/cache",
  id: "cacheReport",
  summary: "What the caches of providers saved, and what was lost",
  needs: { role: "read", on: "path" },
  query: request({
    by: Type.Array(words(CACHE_GROUPS), {
      default: [],
      maxItems: 3,
      uniqueItems: true,
      description: `Groups, with commas: ${CACHE_GROUPS.join(", ")}.`,
    }),
    ...FILTER,
  }),
  answer: { name: "CacheReport", schema: CacheReport },
  errors: ["not_found"],
});

export const cacheSessions = contract({
  method: "GET",
  path: "/admin/v1/cache/sessions",
  id: "cacheSessions",
  summary: "Sessions whose prompts were not read from a cache",
  needs: { role: "read", on: "path" },
  query: request({ limit: PAGE.limit, ...FILTER }),
  answer: { name: "CacheSessions", schema: CacheSessions },
  errors: ["not_found"],
});

export const cacheSession = contract({
  method: "GET",
  path: "/admin/v1/cache/sessions/{id}",
  id: "cacheSession",
  summary: "The calls of a session, with what each read from a cache",
  needs: { role: "read", on: "path" },
  answer: { name: "CacheSession", schema: CacheSession },
  errors: ["not_found"],
});
