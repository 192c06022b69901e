/** Who serves a model name, what a request would become, and calls from the console. */
import { answer, mapOf, request, words } from "./shapes.ts";
import { type Static, Type } from "@sinclair/typebox";
import { contract } from "./contract.ts";

export const PlanStep = answer({
  deployment: Type.String(),
  provider: Type.String(),
  model: Type.String({ description: "The provider's name of the model." }),
  lane: Type.String({ description: "`native`, `translated` or `generated`." }),
  url: Type.String({ description: "Empty for a provider that is a program." }),
  role: words(["target", "fallback", "larger"], "`larger`: tried when the prompt does not fit."),
  weight: Type.Number(),
  priority: Type.String(),
  reason: Type.String(),
  state: words(["healthy", "on-trial", "left-alone", "full"]),
  until: Type.Optional(
    Type.Integer({ description: "Until when it is left alone. Milliseconds since 1970." }),
  ),
});
export type PlanStep = Static<typeof PlanStep>;

export const Routing = answer({
  model: Type.String(),
  plan: Type.Array(PlanStep, { description: "Empty if no provider serves the name." }),
  candidates: Type.Array(
    answer({
      provider: Type.String(),
      pattern: Type.String(),
      model: Type.String(),
      source: Type.String(),
      reason: Type.String(),
      wins: Type.Boolean(),
    }),
    { description: "The providers that match the name, in order of precedence." },
  ),
  fault: Type.Optional(Type.String({ description: "Why no provider serves the name." })),
});
export type Routing = Static<typeof Routing>;

export const Models = answer({
  models: Type.Array(answer({ id: Type.String(), provider: Type.String() }), {
    description: "Names that the gateway lists to clients; providers may serve others.",
  }),
  aliases: mapOf(Type.String(), "The name behind each alias."),
  routes: Type.Array(Type.String()),
  formats: Type.Array(
    answer({
      id: Type.String(),
      path: Type.String({ description: "Where clients of this format send requests." }),
    }),
  ),
});
export type Models = Static<typeof Models>;

export const KnownModel = answer(
  {
    id: Type.String({ description: "`provider/model`, or as the config names it." }),
    places: Type.Array(Type.String(), { description: "Where the config names it: `aliases.fast`." }),
    others: Type.Optional(
      Type.Array(Type.String(), { description: "Other models of the routes and fallbacks that name it." }),
    ),
    name: Type.Optional(Type.String({ description: "For people." })),
    contextWindow: Type.Optional(Type.Integer({ description: "Most tokens of a request." })),
    maxOutput: Type.Optional(Type.Integer({ description: "Most tokens of an answer." })),
    takes: Type.Optional(Type.Array(Type.String(), { description: "`text`, `image`, `audio`, …" })),
    can: Type.Optional(Type.Array(Type.String(), { description: "`tools`, `jsonSchema`, `reasoning`, …" })),
    input: Type.Optional(Type.Number({ description: "Picodollars a token." })),
    output: Type.Optional(Type.Number({ description: "Picodollars a token." })),
    lastDay: Type.Optional(
      Type.String({ description: "Day on which the provider turns it off: `2026-12-31`." }),
    ),
    ends: Type.Optional(
      Type.String({
        description:
          "Of a model that the config names and that ends within 30 days, or has ended: a sentence.",
      }),
    ),
  },
  { description: "What is absent is not known." },
);
export type KnownModel = Static<typeof KnownModel>;

/** The request of a call of the console: of `explain` and of the playground. */
export const Trial = request({
  format: Type.String({
    pattern: "^[a-z][a-z0-9-]{0,63}$",
    "x-expects": "the name of a format such as chat-completions",
    description: "The client's format: `chat-completions`, `messages`, `responses`.",
  }),
  key: Type.Optional(
    Type.String({
      maxLength: 100,
      description: "Id or name of a key for calls, by which the call is admitted and booked. Absent: no key.",
    }),
  ),
  body: Type.Unsafe<Record<string, unknown>>(
    Type.Object({}, { additionalProperties: true, description: "The body that a client would send." }),
  ),
  headers: Type.Optional(
    Type.Record(Type.String({ pattern: "^[A-Za-z0-9-]{1,64}$" }), Type.String({ maxLength: 1_000 }), {
      maxProperties: 20,
      description: "Further headers, such as x-weir-strict.",
    }),
  ),
});
export type Trial = Static<typeof Trial>;

/** The answer of `POST /v1/explain`, or the error of the gateway in the client's format. */
export const Explained = answer({
  status: Type.Integer({ description: "200, or what the call would get." }),
  sentBody: Type.Optional(Type.Unknown()),
  explained: Type.Optional(
    answer({
      format: Type.String(),
      model: Type.String(),
      served_by: answer({
        provider: Type.String(),
        deployment: Type.String(),
        model: Type.String(),
        lane: Type.String(),
        format: Type.Union([Type.String(), Type.Null()]),
        reason: Type.String(),
      }),
      plan: Type.Array(Type.Unknown()),
      request: Type.Union([
        answer({
          method: Type.String(),
          url: Type.String(),
          headers: mapOf(Type.String(), "Credentials are replaced by the names of their variables."),
          body: Type.Unknown(),
          changed: Type.Optional(Type.Array(Type.String())),
        }),
        Type.Null(),
      ]),
      cost: Type.Optional(
        Type.Unknown({ description: "What the call may cost, and the budgets that it asks." }),
      ),
      plugins: Type.Optional(
        mapOf(
          Type.Record(Type.String(), Type.Unknown()),
          "What plugins say that they would do, by their names.",
        ),
      ),
      losses: Type.Array(
        answer({ code: Type.String(), path: Type.String(), note: Type.Optional(Type.String()) }),
      ),
    }),
  ),
  error: Type.Optional(Type.Unknown({ description: "The error in the client's format." })),
});
export type Explained = Static<typeof Explained>;

/** Header of an answer of the playground that the gateway gave, in contrast to an error of the admin API. */
export const RELAYED = "x-weir-relayed";

export const routing = contract({
  method: "GET",
  path: "/admin/v1/routing/{model}",
  id: "routing",
  summary: "The plan for a model name, and how its deployments are",
  needs: { role: "read", on: "path" },
  answer: { name: "Routing", schema: Routing },
  errors: ["gateway_failed"],
});

export const listModels = contract({
  method: "GET",
  path: "/admin/v1/models",
  id: "listModels",
  summary: "The names of models and routes, and the formats of clients",
  needs: { role: "read", on: "path" },
  answer: { name: "Models", schema: Models },
  errors: ["gateway_failed"],
});

export const listModelFacts = contract({
  method: "GET",
  path: "/admin/v1/model-facts",
  id: "listModelFacts",
  summary: "What is known of models, and which of the config end soon",
  needs: { role: "read", on: "path" },
  query: request({
    of: Type.Optional(
      Type.Array(Type.String({ maxLength: 300 }), {
        maxItems: 100,
        description: "Names, for example `provider/model`. The models that the config names follow.",
      }),
    ),
  }),
  answer: { name: "ModelFacts", schema: answer({ models: Type.Array(KnownModel) }) },
  errors: ["gateway_failed"],
});

export const explain = contract({
  method: "POST",
  path: "/admin/v1/explain",
  id: "explain",
  summary: "What the gateway would send for a request, and what it may cost; nothing is sent",
  needs: { role: "read", on: "path" },
  alone: true,
  body: Trial,
  answer: { name: "Explained", schema: Explained },
  errors: ["not_found", "gateway_failed"],
});

export const playground = contract({
  method: "POST",
  path: "/admin/v1/playground",
  id: "playground",
  summary: "Makes a call, which is booked as any other; answers what the gateway answers",
  description: `An answer of the gateway has the header \`${RELAYED}: 1\`; without it the answer is an error of this API.`,
  needs: { role: "admin", on: "path" },
  alone: true,
  body: Trial,
  answer: { text: "*/*" },
  errors: ["not_found", "gateway_failed"],
});
