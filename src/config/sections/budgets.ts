/** Options of gateway keys, budgets and rate limits. */
import type { KeyOption } from "../../ledger/keys/option.ts";
import { KEY_OPTIONS } from "../../ledger/keys/options.ts";
import { section } from "../section.ts";
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { NAME_PATTERN } from "../../core/name.ts";
import { DOLLAR } from "../../ledger/money.ts";
import { DEFAULT_KEEP } from "../../ledger/keep.ts";
import { DEFAULT_SETTINGS } from "../../ledger/worker/settings.ts";
import { CLOSED, oneOf } from "./kinds.ts";

const MOST = 9_007_199_254_740_991;

const count = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: MOST, "x-expects": "a positive integer", description }));

const texts = (description: string) =>
  Type.Optional(
    Type.Array(Type.String(), { minItems: 1, "x-expects": "a list of at least one text", description }),
  );

const dollars = (description: string) =>
  Type.Number({
    minimum: 0,
    maximum: 9_000_000,
    "x-expects": "an amount in dollars, at most 9000000",
    description,
  });

const rateOptions = {
  rpm: count("Requests a minute."),
  tpm: count("Tokens a minute, input and output."),
  itpm: count("Input tokens a minute."),
  otpm: count("Output tokens a minute."),
  rpd: count("Requests a day."),
  tpd: count("Tokens a day, input and output."),
  concurrency: count("Calls in flight."),
};

const budgetOptions = {
  every: Type.String({ description: "`hour`, `day`, `week`, `month`, `total`, or blocks of hours: `5h`." }),
  limit: dollars("The most that may be spent in each window, in dollars."),
  mode: Type.Optional(
    oneOf(["hard", "soft", "watch"], {
      description:
        "`hard`: the most that a call can cost must be left; `soft` (default): something must be left; `watch`: calls are counted and never refused.",
    }),
  ),
  zone: Type.Optional(
    Type.String({
      description: "Time zone in which days, weeks and months begin: `Europe/Berlin`. Default: UTC.",
    }),
  ),
  onEmpty: Type.Optional(
    Type.Union([Type.Literal("refuse"), Type.Object({ use: Type.String() }, CLOSED)], {
      "x-expects": "refuse, or a group of `use`",
      description:
        "What a call gets when nothing is left: `refuse` (default), or `{use: MODEL}`, another model.",
    }),
  ),
  alerts: Type.Optional(
    Type.Array(Type.Number({ minimum: 1, maximum: 1000, "x-expects": "a percentage" }), {
      description: "Percentages of the limit that are reported once in each window. Default: 80 and 100.",
    }),
  ),
};

/** Options of keys as members of the config. */
export function writtenOptions(options: readonly KeyOption[]): Record<never, TSchema> {
  return Object.fromEntries(options.map(({ name, written }) => [name, Type.Optional(written)]));
}

/** Permissions and limits of a key. */
export const keyOptions = {
  path: Type.Optional(
    Type.String({
      description: "Place in the tree of keys: `/eng/search`. A budget on `/eng` counts all keys below it.",
    }),
  ),
  tags: texts("Words that budgets and reports can count by."),
  models: texts("The models that the key may use, by any of their names; `*` stands for any text."),
  providers: texts("The providers that its calls may go to, fallbacks included."),
  endpoints: texts(
    "What it may call: ids of client formats, `embeddings`, `count`, `models`, `explain`; `chat` is short for `chat-completions`.",
  ),
  addresses: texts("Addresses or blocks of clients: `10.0.0.0/8`."),
  maxTokens: count("Most output tokens of one call. A request must name a limit of at most this."),
  maxCost: Type.Optional(dollars("The most that one call may cost, in dollars.")),
  ...writtenOptions(KEY_OPTIONS),
  expires: Type.Optional(
    Type.String({
      description:
        "The key is valid before this time: `2026-12-31`, or `2026-12-31T18:00:00Z`. Days begin in UTC.",
    }),
  ),
  budget: Type.Optional(
    Type.Union([Type.String({ description: "`50/month`" }), Type.Object(budgetOptions, CLOSED)], {
      "x-expects": "dollars and a window such as 50/month, or a group of `every` and `limit`",
      description: "A budget of this key alone: `50/month`, or a group as in `budgets` without `on`.",
    }),
  ),
  ...rateOptions,
};

const onOption = Type.Union(
  [
    Type.String({ description: "`all`, `session`, or a path: `/eng`." }),
    Type.Object(
      {
        key: Type.Optional(
          Type.String({ description: "Name of a key of this file, or id of a key of the store." }),
        ),
        path: Type.Optional(Type.String({ description: "A path, with all keys below it." })),
        tag: Type.Optional(Type.String({ description: "A tag of keys." })),
        model: Type.Optional(
          Type.String({ description: "A model or a pattern over its names: `gpt-*`, `openai/gpt-*`." }),
        ),
        provider: Type.Optional(Type.String({ description: "Name of a provider." })),
      },
      { ...CLOSED },
    ),
  ],
  {
    "x-expects":
      "all, session, a path such as /eng, or a group of one of `key`, `path`, `tag`, `model`, `provider`",
    description:
      "The calls that count: `all`, `session` (each session by itself), a path such as `/eng`, or one of `{key: …}`, `{path: …}`, `{tag: …}`, `{model: …}`, `{provider: …}`.",
  },
);

export const budgets = section(
  "budgets",
  Type.Record(Type.String(), Type.Object({ on: onOption, ...budgetOptions }, CLOSED), {
    default: {},
    propertyNames: { pattern: NAME_PATTERN },
    examples: [{ everything: { on: "all", every: "month", limit: 500, mode: "hard" } }],
    description:
      "Budgets, by name: `{on, every, limit, mode, zone, onEmpty, alerts}`. All budgets that a call falls under hold.",
  }),
);

export const keyBudgets = section(
  "keyBudgets",
  Type.Record(
    Type.String(),
    Type.Union([Type.String({ description: "`50/month`" }), Type.Object(budgetOptions, CLOSED)], {
      "x-expects": "dollars and a window such as 50/month, or a group of `every` and `limit`",
    }),
    {
      default: {},
      examples: [{ "/eng": "50/month", "/trial/*": { every: "total", limit: 5, mode: "hard" } }],
      description:
        "Budgets that keys get when they are created without one, by path (with all below it) or pattern: `/eng: 50/month`. The longest match applies; each key has a budget of its own.",
    },
  ),
);

export const rates = section(
  "rates",
  Type.Record(
    Type.String(),
    Type.Object(
      {
        on: onOption,
        ...rateOptions,
        burst: Type.Optional(
          Type.Object(rateOptions, {
            ...CLOSED,
            description: "The most that may be used at once, by unit. Default: the limit itself.",
          }),
        ),
      },
      CLOSED,
    ),
    {
      default: {},
      propertyNames: { pattern: NAME_PATTERN },
      examples: [{ everyone: { on: "all", rpm: 6000 } }],
      description:
        "Rate limits, by name: `{on, rpm, tpm, itpm, otpm, rpd, tpd, concurrency, burst}`. They hold over all processes.",
    },
  ),
);

const days = (fallback: number, description: string) =>
  Type.Integer({ minimum: 1, maximum: 36_500, default: fallback, description });

/** How budgets estimate calls, what clients see of them, and what the books keep. */
export const ledger = section(
  "ledger",
  Type.Object(
    {
      tell: Type.Boolean({
        default: DEFAULT_SETTINGS.tell,
        description: "Whether a client whose call is refused by a budget sees the amounts.",
      }),
      maxOutput: Type.Integer({
        minimum: 1,
        maximum: 10_000_000,
        default: DEFAULT_SETTINGS.maxOutput,
        description:
          "Output tokens that budgets and token limits expect of a call that names no limit, at most. A model with a lower maximum counts with that.",
      }),
      assume: oneOf(["auto", "input", "full"], {
        default: "auto",
        description:
          "What an attempt costs that was sent and brought nothing back: its `input`, or all that was held for it (`full`). `auto`: `full` under a hard budget, else `input`.",
      }),
      serverToolTokens: Type.Integer({
        minimum: 0,
        maximum: 10_000_000,
        default: DEFAULT_SETTINGS.serverTools.tokens,
        description:
          "Input tokens that budgets and token limits expect of tools that the provider runs, such as a web search.",
      }),
      serverToolCost: Type.Number({
        minimum: 0,
        maximum: 9_000_000,
        default: DEFAULT_SETTINGS.serverTools.cost / DOLLAR,
        "x-expects": "an amount in dollars",
        description:
          "What budgets expect their searches to cost, in dollars, where a search costs a cent; more in proportion where it costs more, or up to $0.05 where its price is unknown.",
      }),
      callDays: days(DEFAULT_KEEP.keepDays.calls, "How long the books keep the row of each call, in days."),
      hourDays: days(
        DEFAULT_KEEP.keepDays.hours,
        "How long the books keep sums by hour, in days. Sums by day stay for ever.",
      ),
      sessionDays: days(DEFAULT_KEEP.keepDays.sessions, "How long the books know a session, in days."),
      callBytes: Type.Integer({
        minimum: 1_048_576,
        maximum: 1_099_511_627_776,
        default: DEFAULT_KEEP.callBytes,
        description:
          "Maximum size of the file of the books, in bytes. Beyond it weir deletes the rows of the oldest calls; sums stay. In memory at most 64 MB; in PostgreSQL there is no maximum.",
      }),
    },
    {
      ...CLOSED,
      description: "How budgets estimate calls, what clients see of them, and what the books keep.",
    },
  ),
);

const keySchema = Type.Object(keyOptions);
/** The options of a key besides its name and its text. */
export type KeyOptions = Static<typeof keySchema>;
export type BudgetOptions = Static<typeof budgets.schema>[string];
export type RateOptions = Static<typeof rates.schema>[string];
export type WrittenSubject = BudgetOptions["on"];
