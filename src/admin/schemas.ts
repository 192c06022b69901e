/** The schemas of the admin API. Amounts are integer nano-dollars, times are milliseconds since 1970. */
import {
  type Static,
  type TArray,
  type TOptional,
  type TSchema,
  type TString,
  Type,
} from "@sinclair/typebox";
import { MAX_NANO } from "../ledger/money.ts";
import { RATE_UNITS, type RateUnit } from "../ledger/policy.ts";

const CLOSED = { additionalProperties: false };

export const nano = (description: string) => Type.Integer({ description: `${description} Nano-dollars.` });
export const time = (description: string) =>
  Type.Integer({ minimum: 0, maximum: 8.64e15, description: `${description} Milliseconds since 1970.` });
/** One of some words. */
export const words = <const Words extends readonly string[]>(list: Words, description?: string) =>
  Type.Unsafe<Words[number]>(
    Type.Union(
      list.map((word) => Type.Literal(word)),
      description === undefined ? {} : { description },
    ),
  );
/** A map from names to values. */
export const mapOf = <Value extends TSchema>(value: Value, description: string) =>
  Type.Unsafe<Readonly<Record<string, Static<Value>>>>(
    Type.Object({}, { additionalProperties: value, description }),
  );

/** An object of an answer; it may get further members in later versions. */
export const answer = Type.Object;
/** An object of a request: unknown members are refused. */
export const request = <Properties extends Record<string, TSchema>>(properties: Properties) =>
  Type.Object(properties, CLOSED);

export const NAME = Type.String({
  minLength: 1,
  maxLength: 256,
  description:
    "At most 64 letters of any script, digits, dots, dashes, underscores and @; of budgets and rate limits also spaces. Another name that looks the same is refused.",
});
export const PATH = Type.String({
  pattern: "^/$|^(/[\\w.@-]{1,64}){1,16}$",
  "x-expects": "a path such as /eng/search, with parts of at most 64 letters, digits and . _ @ -",
  description: "Place in the tree of keys: `/eng/search`.",
});
const list = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 200, description });

const SCOPES = {
  models: Type.Optional(
    list(
      "Models, patterns or sets (`@cheap`): the name that clients write, the provider's, or `provider/model`.",
    ),
  ),
  providers: Type.Optional(list("Names of the providers that calls may go to.")),
  endpoints: Type.Optional(list("Ids of client formats, and `embeddings`, `count`, `models`, `explain`.")),
  addresses: Type.Optional(list("Addresses of clients in CIDR notation.")),
  maxTokens: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100_000_000, description: "Most output tokens of one call." }),
  ),
  maxCost: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_NANO,
      description: "Most that one call may cost. Nano-dollars.",
    }),
  ),
  serverTools: Type.Optional(
    Type.Boolean({ description: "Whether the provider may search, fetch and run code." }),
  ),
};
export const Scopes = request(SCOPES);

export const WINDOW = Type.Union([
  words(["day", "week", "month", "total"]),
  request({
    hours: Type.Integer({
      minimum: 1,
      maximum: 8_760,
      description: "Rolling blocks from the first moment of 1970.",
    }),
  }),
]);

const LIMIT = Type.Integer({
  minimum: 0,
  maximum: MAX_NANO,
  description: "Nano-dollars: $50 is 50000000000.",
});
const MODE = words(
  ["hard", "soft", "watch"],
  "`hard`: the most that a call can cost must be left; `soft`: anything must be left; `watch`: calls are only counted.",
);
const UNIT = Type.Optional(Type.Integer({ minimum: 1, maximum: 1e12 }));
const UNITS = request(
  Object.fromEntries(RATE_UNITS.map((unit) => [unit, UNIT])) as Record<RateUnit, typeof UNIT>,
);

export const NewKey = request({
  name: NAME,
  kind: Type.Optional(words(["call", "admin", "read"], "Default `call`.")),
  path: Type.Optional(PATH),
  tags: Type.Optional(list("Tags, which budgets and reports can name.")),
  scopes: Type.Optional(Scopes),
  expiresAt: Type.Optional(time("The key is refused from then on.")),
  budget: Type.Optional(
    Type.Object(
      { limit: LIMIT, window: Type.Optional(WINDOW), mode: Type.Optional(MODE) },
      { ...CLOSED, description: "A budget of the same name on this key." },
    ),
  ),
  rates: Type.Optional(UNITS),
});

export const KeyChange = request({
  name: Type.Optional(NAME),
  path: Type.Optional(PATH),
  tags: Type.Optional(list("Replaces all tags.")),
  scopes: Type.Optional(Scopes),
  expiresAt: Type.Optional(Type.Union([time("The key is refused from then on."), Type.Null()])),
});

export const KeyImport = request({
  keys: Type.Array(
    request({
      name: NAME,
      sha256: Type.String({
        pattern: "^[0-9a-f]{64}$",
        "x-expects": "64 lower-case hexadecimal digits",
        description: "SHA-256 of the key.",
      }),
      path: Type.Optional(PATH),
      tags: Type.Optional(list("Tags.")),
      scopes: Type.Optional(Scopes),
      expiresAt: Type.Optional(time("The key is refused from then on.")),
    }),
    { minItems: 1, maxItems: 5_000 },
  ),
});

const SUBJECT = request({
  kind: words(["key", "path", "tag", "model", "provider", "session", "all"]),
  what: Type.String({
    maxLength: 200,
    description:
      "Id of the key, path, tag, model, pattern or set (`@cheap`), or provider; empty for `all` and `session`.",
  }),
});

const OF_KEY = { id: Type.String(), name: Type.String(), on: SUBJECT };
const KEY_LIMITS = answer({
  spent: nano("What its calls have cost since `since`."),
  since: time(""),
  budgets: Type.Array(
    answer({
      ...OF_KEY,
      window: WINDOW,
      limit: LIMIT,
      mode: MODE,
      spent: nano("In the open window, with what is assumed."),
      left: nano("The limit without what is spent, assumed and held."),
      resetsAt: Type.Optional(time("")),
    }),
  ),
  rates: Type.Array(
    answer({
      ...OF_KEY,
      limits: mapOf(Type.Integer(), "By unit."),
      left: mapOf(Type.Number(), "What may be used at once, by unit."),
    }),
  ),
});

const WARNINGS = Type.Optional(
  Type.Array(Type.String(), {
    description:
      "Of an answer to a change: what was saved and may be mistyped, such as a pattern that matches no model.",
  }),
);

const SETS = Type.Optional(
  mapOf(
    Type.Union([Type.Array(Type.String()), Type.Null()]),
    "The patterns of the sets that it names; `null`: the configuration has no such set.",
  ),
);

export const Key = answer({
  id: Type.String(),
  name: Type.String(),
  kind: words(["call", "admin", "read"]),
  path: Type.String(),
  tags: Type.Array(Type.String()),
  scopes: Type.Object(SCOPES),
  state: words(["active", "expired", "revoked"]),
  source: words(["config", "store"], "Keys of the configuration cannot be changed here."),
  hint: Type.Optional(Type.String({ description: "Beginning and end of the key." })),
  createdAt: Type.Optional(time("")),
  createdBy: Type.Optional(Type.String()),
  lastUsedAt: Type.Optional(time("")),
  expiresAt: Type.Optional(time("")),
  revokedAt: Type.Optional(time("")),
  /** End of the grace period of a rotation. */
  rotatingUntil: Type.Optional(time("The key before the last rotation works until then.")),
  sets: SETS,
  warnings: WARNINGS,
  limits: Type.Optional(KEY_LIMITS),
  version: Type.String({ description: "For `If-Match`." }),
});

export const CreatedKey = answer({
  key: Key,
  secret: Type.String({ description: "The key itself. weir answers it once and stores only its digest." }),
  closed: Type.Boolean({ description: "Every call needs a key from now on." }),
  budget: Type.Optional(
    answer(
      { id: Type.String(), name: Type.String(), limit: LIMIT, window: WINDOW, mode: MODE },
      { description: "The budget that was created with it." },
    ),
  ),
});

const BUDGET = {
  on: SUBJECT,
  window: WINDOW,
  zone: Type.String({ maxLength: 64, description: "IANA name of the time zone. Default UTC." }),
  limit: LIMIT,
  mode: MODE,
  onEmpty: Type.Union([
    words(["refuse"]),
    request({ use: Type.String({ minLength: 1, maxLength: 200, description: "Another model." }) }),
  ]),
  alerts: Type.Array(Type.Integer({ minimum: 1, maximum: 1000 }), {
    maxItems: 20,
    description: "Percentages of the limit.",
  }),
};

export const NewBudget = request({
  name: NAME,
  on: BUDGET.on,
  window: Type.Optional(BUDGET.window),
  zone: Type.Optional(BUDGET.zone),
  limit: BUDGET.limit,
  mode: Type.Optional(BUDGET.mode),
  onEmpty: Type.Optional(BUDGET.onEmpty),
  alerts: Type.Optional(BUDGET.alerts),
});
export const BudgetChange = Type.Partial(request({ name: NAME, ...BUDGET }), CLOSED);
export const BudgetRaise = request({ limit: LIMIT });

export const Budget = answer({
  id: Type.String(),
  name: Type.String(),
  ...BUDGET,
  source: words(["config", "store"]),
  sets: SETS,
  warnings: WARNINGS,
  version: Type.String({ description: "For `If-Match`." }),
  windows: Type.Array(
    answer({
      account: Type.String(),
      startsAt: time(""),
      endsAt: Type.Optional(time("")),
      spent: nano("Charges that are known."),
      assumed: nano("Charges whose amount cannot be known."),
      held: nano("What running attempts of this node may still cost."),
      granted: nano("What workers and nodes have been granted and have not spent, `held` included."),
      overrun: nano("What charges exceeded their holds by."),
      left: nano(
        "The limit without what is spent, assumed and held. It includes what is granted and not held.",
      ),
      forecast: Type.Optional(
        nano(
          "What will be spent at the end of the window, at the pace of the window so far or of the last hour, whichever is faster.",
        ),
      ),
    }),
    { description: "The open window, and ended ones that are not settled." },
  ),
  pace: Type.Optional(nano("What calls of the last hour or two cost, an hour.")),
  refused: Type.Optional(
    Type.Integer({
      description:
        "Calls that it counts and that a budget refused since `refusedFrom`; 0 if none was refused in the last hour.",
    }),
  ),
  refusedFrom: Type.Optional(time("")),
});

export const NewRate = request({ name: NAME, on: SUBJECT, limits: UNITS, burst: Type.Optional(UNITS) });
export const RateChange = Type.Partial(NewRate, CLOSED);
export const Rate = answer({
  id: Type.String(),
  name: Type.String(),
  on: SUBJECT,
  limits: mapOf(Type.Integer(), "By unit."),
  burst: Type.Optional(mapOf(Type.Integer(), "By unit.")),
  source: words(["config", "store"]),
  sets: SETS,
  warnings: WARNINGS,
  version: Type.String({ description: "For `If-Match`." }),
  left: mapOf(Type.Number(), "What may be used at once, by unit."),
});

export const DRY_RUN = Type.Boolean({ default: false, description: "Only count what would be deleted." });
export const Pruned = answer({
  rows: Type.Integer(),
  tables: mapOf(
    answer({
      rows: Type.Integer(),
      bytes: Type.Optional(Type.Integer({ description: "Estimated size of the rows." })),
    }),
    "By table. The attempts of a call go with it.",
  ),
});

export const PAGE = {
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 100, description: "Most entries of the answer." }),
  after: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: "`next` of the page before." }),
  ),
};

/** A page of a list. */
export const pageOf = <Name extends string, Entry extends TSchema>(name: Name, entry: Entry) =>
  answer({
    [name]: Type.Array(entry),
    next: Type.Optional(Type.String({ description: "Cursor for `after`." })),
  } as Record<Name, TArray<Entry>> & { next: TOptional<TString> });

export const FILTER = {
  from: Type.Optional(time("Calls that began at this time or later.")),
  to: Type.Optional(time("Calls that began before this time.")),
  key: Type.Optional(Type.String({ maxLength: 100, description: "Id or name of a key." })),
  path: Type.Optional(PATH),
  tag: Type.Optional(Type.String({ maxLength: 200 })),
  model: Type.Optional(
    Type.String({
      maxLength: 200,
      description:
        "A model, a pattern or a set (`@cheap`): the provider's name, `provider/model`, and for calls also the name that was asked for.",
    }),
  ),
  provider: Type.Optional(Type.String({ maxLength: 100 })),
};
