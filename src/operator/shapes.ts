/** The parts that shapes of the operator's API are made of. Amounts are integer nano-dollars, times are milliseconds since 1970. */
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

export const CLOSED = { additionalProperties: false };

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

/** The group of a row of sums: values by name, of which a row has those that were asked for. */
export const groupOf = <const Names extends readonly string[]>(_names: Names) =>
  Type.Unsafe<Readonly<Partial<Record<Names[number], string>>>>(
    mapOf(Type.String(), "By name of the group. A key is its id."),
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
export const list = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 200, description });

export const SUBJECT = request({
  kind: words(["key", "path", "tag", "model", "provider", "session", "all"]),
  what: Type.String({
    maxLength: 200,
    description:
      "Id of the key, path, tag, model, pattern or set (`@cheap`), or provider; empty for `all` and `session`.",
  }),
});

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

export const LIMIT = Type.Integer({
  minimum: 0,
  maximum: MAX_NANO,
  description: "Nano-dollars: $50 is 50000000000.",
});
export const MODE = words(
  ["hard", "soft", "watch"],
  "`hard`: the most that a call can cost must be left; `soft`: anything must be left; `watch`: calls are only counted.",
);
const UNIT = Type.Optional(Type.Integer({ minimum: 1, maximum: 1e12 }));
export const UNITS = request(
  Object.fromEntries(RATE_UNITS.map((unit) => [unit, UNIT])) as Record<RateUnit, typeof UNIT>,
);

export const WARNINGS = Type.Optional(
  Type.Array(Type.String(), {
    description:
      "Of an answer to a change: what was saved and may be mistyped, such as a pattern that matches no model.",
  }),
);

export const SETS = Type.Optional(
  mapOf(
    Type.Union([Type.Array(Type.String()), Type.Null()]),
    "The patterns of the sets that it names; `null`: the configuration has no such set.",
  ),
);

export const DRY_RUN = Type.Boolean({ default: false, description: "Only count what would be deleted." });
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
