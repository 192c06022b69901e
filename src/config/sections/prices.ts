/** The section `prices`. */
import type { Fault, Path } from "../error.ts";
import { section } from "../section.ts";
import { Type } from "@sinclair/typebox";
import { CLOSED } from "./kinds.ts";

/** Dollars a million tokens. */
const dollars = (description: string) => Type.Number({ minimum: 0, maximum: 1_000_000, description });
const perMillion = (what: string) => Type.Optional(dollars(`${what}, in dollars a million tokens.`));

const priceMembers = Type.Object(
  {
    input: perMillion("Input"),
    output: perMillion("Output (0 for embeddings)"),
    cacheRead: perMillion(
      "Input that was read from a cache. Default: as input, and the charge counts as estimated",
    ),
    cacheReadAudio: perMillion("Audio that was read from a cache. Default: as `cacheRead`"),
    cacheWrite: perMillion("Input that was written to a cache. Default: as input"),
    cacheWrite1h: perMillion(
      "Input that was written to a cache for an hour. Default: as `cacheWrite`; Claude: twice the input",
    ),
    reasoning: perMillion("Reasoning. Default: as output"),
    audioIn: perMillion("Audio in the input. Default: as input"),
    audioOut: perMillion("Audio in the output. Default: as output"),
    imageIn: perMillion("Images in the input. Default: as input"),
    imageOut: perMillion("Images in the output. Default: as output"),
    search: Type.Optional(dollars("One search, in dollars. Default: that of the price book.")),
    request: Type.Optional(dollars("One request, in dollars. Default: that of the price book.")),
    units: Type.Optional(
      Type.Record(Type.String({ pattern: "^[a-z][a-zA-Z0-9_-]{0,39}$" }), dollars("One unit, in dollars."), {
        description:
          "Units besides tokens by name, in dollars each, such as `call` of a tool. A group with units needs no `input` and no `output`.",
      }),
    ),
    discount: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description:
          "What is taken off the prices of the price book, instead of prices: 0.12 for 12 %. It has no effect on models that the price book does not have.",
      }),
    ),
    batch: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description:
          "What a batch of the provider costs, as a share of these prices: 0.5 for half of them. Default: 0.5.",
      }),
    ),
  },
  { ...CLOSED, description: "Prices in dollars a million tokens, or a discount." },
);

export const prices = section(
  "prices",
  Type.Record(
    Type.String(),
    Type.Union([Type.Literal(0), priceMembers], {
      "x-expects": "0, or a group with `input` and `output`",
    }),
    {
      default: {},
      examples: [
        {
          "openai/gpt-5.4": { input: 2.5, cacheRead: 0.25, output: 15 },
          "azure/*": { discount: 0.12 },
          "ollama/*": 0,
        },
      ],
      description:
        "Prices of models, by `provider/model`, the model's name or a pattern, in dollars a million tokens. They replace the shipped price book and what a provider reports. An exact name is before a pattern, a longer pattern before a shorter one. `0`: the model costs nothing.",
    },
  ),
  { faults: priceFaults },
);

/** The provider's name of a model, alone or behind the name of the provider and a slash. A `*` stands for any text. */
const TARGET = /^\S{1,200}$/;

/** Names that can match no model, and groups without what a price needs. */
function priceFaults(written: unknown): Fault[] {
  return Object.entries(written as Record<string, unknown>).flatMap(([name, setting]) => {
    const path: Path = ["prices", name];
    const clause = TARGET.test(name)
      ? settingFault(name, setting)
      : `${JSON.stringify(name)} must be a model or a pattern over models, such as "openai/gpt-5.4" or "ollama/*"`;
    return clause === undefined ? [] : [{ path, clause }];
  });
}

function settingFault(name: string, setting: unknown): string | undefined {
  if (typeof setting !== "object" || setting === null) return undefined;
  const { length: members } = Object.keys(setting);
  if ("discount" in setting)
    return members === ("batch" in setting ? 2 : 1)
      ? undefined
      : `the price of "${name}" must be a discount or prices, not both`;
  if ("units" in setting && !("input" in setting) && !("output" in setting)) return undefined;
  const missing = ["input", "output"].filter((member) => !(member in setting));
  return missing.length === 0 ? undefined : `the price of "${name}" has no ${missing.join(" and no ")}`;
}
