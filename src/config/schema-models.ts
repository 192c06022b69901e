/** Options of the requests of a model. */
import { Type } from "@sinclair/typebox";
import type { JsonObject } from "../core/json.ts";
import { CLOSED, oneOf } from "./schema-kinds.ts";
import { upstreamTimeouts } from "./schema-providers.ts";
import { modelCircuitBreaker, modelRetries } from "./schema-retries.ts";

/** How hard a model thinks, in words that each client format has. */
const EFFORTS = ["minimal", "low", "medium", "high", "xhigh"] as const;

const requestSettings = (description: string) =>
  Type.Optional(
    Type.Object(
      {
        temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
        topP: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
        maxTokens: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000_000 })),
        reasoningEffort: Type.Optional(oneOf(EFFORTS, {})),
      },
      { ...CLOSED, description },
    ),
  );

const modelOptions = Type.Object(
  {
    set: requestSettings("Values for requests that do not say otherwise."),
    force: requestSettings("Values that replace those of the client."),
    body: Type.Optional(
      Type.Unsafe<JsonObject>(
        Type.Object(
          {},
          {
            additionalProperties: true,
            "x-expects": "a map of names to values",
            description:
              "Members that weir adds to the request for the provider, unless the request has them.",
          },
        ),
      ),
    ),
    timeouts: Type.Optional(upstreamTimeouts),
    retries: modelRetries,
    circuitBreaker: modelCircuitBreaker,
  },
  CLOSED,
);

/** The members of an entry of `models`. */
export const MODEL_SETTINGS: readonly string[] = Object.keys(modelOptions.properties);

export const modelsSection = Type.Record(Type.String(), modelOptions, {
  default: {},
  examples: [{ "gpt-5-thinking": { set: { reasoningEffort: "high" } } }],
  description:
    "Settings of the requests of a model, by model name, alias, route or pattern: `{set, force, body, timeouts, retries, circuitBreaker}`. The most specific entry applies (README of this folder).",
});

export const modelSetsSection = Type.Record(
  Type.String(),
  Type.Array(Type.String(), { minItems: 1, "x-expects": "a list of at least one model or pattern" }),
  {
    default: {},
    examples: [{ cheap: ["gpt-5.4-nano", "claude-haiku-*", "groq/*"] }],
    description:
      'Named sets of models: `cheap: [gpt-5.4-nano, claude-haiku-*]`. Where a model pattern may stand, `"@cheap"` stands for the patterns of the set (README of this folder).',
  },
);
