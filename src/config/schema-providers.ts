/** Options of one provider and of the places it is called at. */
import { Type } from "@sinclair/typebox";
import type { Secret } from "../core/secret.ts";
import { CLOSED, oneOf, secret } from "./schema-kinds.ts";
import { liveModelsOption, speaksOption } from "./schema-sections.ts";

/** Names of a provider's deployments. */
export const DEPLOYMENT_NAME = /^[a-z0-9][a-z0-9-]{0,39}$/;

/** Those of the gateway's time limits that a single upstream may need otherwise. */
const upstreamTimeouts = Type.Object(
  {
    connectMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400_000 })),
    firstByteMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400_000 })),
    gapMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400_000 })),
    totalMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400_000 })),
  },
  { ...CLOSED, description: "Time limits of its own; what is left out is the gateway's (`timeouts`)." },
);

/** PEM files; a relative path begins at the config file. */
const upstreamTls = Type.Object(
  {
    ca: Type.Optional(
      Type.String({
        description:
          "PEM file of the authorities that may vouch for its certificate, instead of the public ones.",
      }),
    ),
    cert: Type.Optional(
      Type.String({ description: "PEM file of a client certificate, those of its issuers behind it." }),
    ),
    key: Type.Optional(Type.String({ description: "PEM file of its private key, not encrypted." })),
  },
  { ...CLOSED, description: "Certificates for the connections to it." },
);

export const weight = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: 1000,
    description: "Its share of the calls among those of the same priority. Default 1.",
  }),
);

export const priority = Type.Optional(
  Type.Integer({
    minimum: 0,
    maximum: 100,
    description: "Lower ones are used first, the others when those have failed. Default 0.",
  }),
);

const concurrency = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    description:
      "Most calls in flight there at once, in one process; one more goes elsewhere, or is a 503. Default: any number.",
  }),
);

const deploymentOptions = Type.Object(
  {
    name: Type.String({
      pattern: DEPLOYMENT_NAME.source,
      "x-expects": "lower-case letters, digits and dashes",
      description: "Behind the provider's name and a slash, it is what log and headers say.",
    }),
    apiKey: Type.Optional(secret("Its credential, instead of the provider's.")),
    baseUrl: Type.Optional(Type.String({ description: "Its address, instead of the provider's." })),
    weight,
    priority,
    concurrency,
    timeouts: Type.Optional(upstreamTimeouts),
  },
  { ...CLOSED, description: "One place a provider can be called at." },
);

export const providerOptions = Type.Object(
  {
    enabled: Type.Optional(
      Type.Boolean({
        default: true,
        description: "`false` switches the provider off, whatever else is set.",
      }),
    ),
    apiKey: Type.Optional(
      secret("Its credential. The provider's own variable, usually `<NAME>_API_KEY`, wins over it."),
    ),
    baseUrl: Type.Optional(
      Type.String({
        description: "Where it is, with the meaning its own SDK gives it. `<NAME>_BASE_URL` wins over it.",
      }),
    ),
    models: Type.Optional(
      Type.Array(Type.String(), { description: "Patterns over model names, instead of the plugin's own." }),
    ),
    speaks: speaksOption,
    liveModels: liveModelsOption,
    headers: Type.Optional(
      Type.Record(Type.String(), Type.Unsafe<Secret>(Type.String({ writeOnly: true })), {
        description:
          "Headers every request to it carries besides the plugin's own. `Authorization` or `x-api-key` stands in the place of an API key.",
      }),
    ),
    maxTokensField: Type.Optional(
      oneOf(["max_tokens", "max_completion_tokens"], {
        description:
          "Name of the output limit in chat-completions. Default: `max_tokens` at an address that is not the vendor's own, unless the model is one of OpenAI's that refuses it.",
      }),
    ),
    concurrency,
    timeouts: Type.Optional(upstreamTimeouts),
    tls: Type.Optional(upstreamTls),
    deployments: Type.Optional(
      Type.Array(deploymentOptions, {
        minItems: 1,
        "x-expects": "a list of at least one deployment",
        description: "The places it can be called at, instead of the one above.",
      }),
    ),
  },
  { ...CLOSED, description: "One provider's settings." },
);
