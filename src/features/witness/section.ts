/** The options of witness in weir.yaml. */
import { Type } from "@sinclair/typebox";
import { type Fault, faultAt } from "../../config/error.ts";
import { section } from "../../config/section.ts";
import { duration, msIn } from "../../config/sections/amounts.ts";
import { CLOSED } from "../../config/sections/kinds.ts";

/** Models at most: each look asks all of them. */
const MOST_MODELS = 50;
const LEAST_EVERY_MS = 300_000;
const MOST_EVERY_MS = 86_400_000;
const NANO_PER_DOLLAR = 1_000_000_000;

export const witnessSection = section(
  "witness",
  Type.Object(
    {
      models: Type.Array(Type.String({ pattern: "^[^/]+/.+$", "x-expects": "a name provider/model" }), {
        default: [],
        examples: [["openai/gpt-5.4-nano", "anthropic/claude-haiku-4-5"]],
        description:
          "Models that weir looks at on a schedule, each by `provider/model`. Default: none; witness is off.",
      }),
      every: duration("1h", "Time between two looks at the models, from `5m` to `1d`."),
      budget: Type.String({
        pattern: "^\\$?\\d{1,6}(\\.\\d{1,9})?/day$",
        "x-expects": "dollars a day such as $0.05/day",
        default: "$0.05/day",
        description:
          "The most that looks on the schedule may cost on one day of UTC: `$0.05/day`. weir leaves out a look whose highest cost does not fit.",
      }),
      key: Type.Optional(
        Type.String({
          description:
            "Id of the key that pays for looks: `config:NAME` or `key_…`. Default: no key; budgets on everything, a model or a provider count them all the same.",
        }),
      ),
      outputTokens: Type.Integer({
        minimum: 1,
        maximum: 4_096,
        default: 64,
        description:
          "Output limit of each call of a look. A model that reasons needs more to answer at all. Tokens.",
      }),
    },
    {
      ...CLOSED,
      description:
        "Looks at models on a schedule, to tell a change of a provider from one of weir's own config. Off unless `models` names one.",
    },
  ),
  { after: ["alerts", "traces", "metrics"], faults: witnessFaults },
);

export interface WitnessSettings {
  readonly models: readonly string[];
  /** Milliseconds. */
  readonly everyMs: number;
  /** Nano-dollars a day. */
  readonly budget: number;
  readonly key?: string;
  readonly outputTokens: number;
}

export function settingsOf(config: object): WitnessSettings {
  const { models, every, budget, key, outputTokens } = witnessSection.of(config);
  return {
    ...{ models, everyMs: msIn(every), budget: nanoIn(budget), outputTokens },
    ...(key !== undefined && { key }),
  };
}

/** Nano-dollars of `$0.05/day`, without the rounding of a fraction in binary. */
export function nanoIn(budget: string): number {
  const [, whole = "0", part = ""] = /^\$?(\d+)(?:\.(\d+))?/.exec(budget) ?? [];
  return Number(whole) * NANO_PER_DOLLAR + Number(part.padEnd(9, "0"));
}

function witnessFaults(written: unknown): Fault[] {
  const { every, models } = written as { every?: unknown; models?: unknown };
  const names = Array.isArray(models) ? models : [];
  const isFit = names.length <= MOST_MODELS && new Set(names).size === names.length;
  const clause = isFit ? undefined : `models must be at most ${MOST_MODELS} different names`;
  return [...faultAt(["witness", "models"], clause), ...everyFaults(every)];
}

function everyFaults(every: unknown): Fault[] {
  if (typeof every !== "string" || !/^\d+[smhd]$/.test(every)) return [];
  const ms = msIn(every);
  const isFit = ms >= LEAST_EVERY_MS && ms <= MOST_EVERY_MS;
  return faultAt(["witness", "every"], isFit ? undefined : "every must be from 5m to 1d");
}
