/** The options of guards that ask: services, models, and what happens while they give no verdict. */
import { type Static, Type } from "@sinclair/typebox";
import { CLOSED, oneOf, secret } from "../../../config/sections/kinds.ts";
import { FORMS, ON_ERROR } from "../declarations.ts";

const score = (description: string) => Type.Number({ minimum: 0, maximum: 1, description });

export const webhook = Type.Union(
  [
    Type.String(),
    Type.Object(
      {
        url: Type.String({ description: "Gets a POST with the texts, and answers with a verdict." }),
        form: Type.Optional(
          oneOf(FORMS, {
            description:
              "The form of requests and answers: weir's own, or that of services made for LiteLLM, Portkey or agentgateway. Default: `weir`.",
          }),
        ),
        secret: Type.Optional(
          secret(
            "Signs each request: `x-weir-signature: t=…,v1=…` has the HMAC-SHA-256 of the time, a dot and the body.",
          ),
        ),
        headers: Type.Optional(
          Type.Record(Type.String(), secret("Value of the header."), {
            description: "Headers of weir's requests to the service.",
          }),
        ),
        forward: Type.Optional(
          Type.Array(Type.String(), {
            examples: [["x-tenant"]],
            description:
              "Names of headers of clients that the service gets too, in `call.headers`. Never their credentials. Default: none.",
          }),
        ),
        images: Type.Optional(
          Type.Boolean({ description: "Whether the service gets images too. Default: `false`." }),
        ),
        holds: Type.Optional(
          Type.Boolean({
            description:
              "The service says by `hold` how much of each piece of an answer may go on, as the mode `window` needs it. Default: `false`.",
          }),
        ),
      },
      CLOSED,
    ),
  ],
  {
    "x-expects": "a URL, or a group with url",
    examples: ["http://127.0.0.1:8090/check"],
    description: "A service that judges: a URL, or a group with more options.",
  },
);

/** Members of a guard. */
export const ASKING = {
  webhook: Type.Optional(webhook),
  presidio: Type.Optional(
    Type.String({
      examples: ["http://127.0.0.1:5002"],
      description: "URL of Presidio's analyzer, which finds values such as names and places.",
    }),
  ),
  entities: Type.Optional(
    Type.Array(Type.String(), {
      minItems: 1,
      examples: [["PERSON", "LOCATION"]],
      description: "With `presidio`: what it finds. Default: all that it knows.",
    }),
  ),
  language: Type.Optional(
    Type.String({
      pattern: "^[a-z]{2}$",
      description: "With `presidio`: language of the texts. Default: `en`.",
    }),
  ),
  over: Type.Optional(score("With `presidio`: least score of a value. Default: that of the service.")),
  moderate: Type.Optional(
    Type.Object(
      {
        model: Type.String({
          examples: ["openai/omni-moderation-latest"],
          description:
            "A moderation model of a provider, asked where the provider moderates (`does`), else by `POST /moderations` below its base URL.",
        }),
        categories: Type.Optional(
          Type.Array(Type.String(), {
            minItems: 1,
            examples: [["sexual/minors", "violence"]],
            description: "Categories that count. Default: all.",
          }),
        ),
        over: Type.Optional(score("Score from which a text counts. Default: the model decides.")),
        images: Type.Optional(
          Type.Boolean({
            description:
              "Whether the model gets images of requests: false for models that judge texts only. Default: `true`.",
          }),
        ),
      },
      { ...CLOSED, description: "A moderation model that judges." },
    ),
  ),
  model: Type.Optional(
    Type.Object(
      {
        name: Type.String({ examples: ["openai/gpt-5-mini"], description: "As clients name it." }),
        instruction: Type.String({
          minLength: 1,
          examples: ["The user asks for advice on medicine."],
          description: "What it looks for: it flags a call if the sentence is true.",
        }),
      },
      { ...CLOSED, description: "A model of weir that judges. Its calls are booked on the caller." },
    ),
  ),
  bedrock: Type.Optional(
    Type.Object(
      {
        guardrail: Type.String({ description: "Id or ARN of the guardrail." }),
        version: Type.Optional(Type.String({ description: "Default: `DRAFT`." })),
        region: Type.Optional(Type.String({ description: "Default: `AWS_REGION`, or that of the profile." })),
        profile: Type.Optional(Type.String({ description: "Profile in `~/.aws`." })),
        endpoint: Type.Optional(
          Type.String({ description: "URL of the service. Default: that of the region." }),
        ),
      },
      { ...CLOSED, description: "A guardrail of Amazon Bedrock that judges or masks." },
    ),
  ),
  plugin: Type.Optional(
    Type.String({
      examples: ["company-names"],
      description:
        "A guard that a file in the folder of plugins brings, by its name there. While none brings it, there is no verdict.",
    }),
  ),
  timeout: Type.Optional(
    Type.String({
      pattern: "^[1-9][0-9]{0,5}(ms|s)$",
      "x-expects": "a time such as 800ms or 2s",
      description: "Longest time of a question to a service or a model. Default: `1s`.",
    }),
  ),
  every: Type.Optional(
    Type.Integer({
      minimum: 100,
      maximum: 1_000_000,
      description:
        "With the mode `after`: the number of characters of an answer that are judged at once. Default: 2000.",
    }),
  ),
  overlap: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 10_000,
      description:
        "With the modes `window` and `after`: the number of characters in front of a piece of an answer that are judged once more. Default: 200.",
    }),
  ),
  onError: Type.Optional(
    oneOf(ON_ERROR, {
      description:
        "What happens to a call without a verdict: `block`: it ends with status 503 and the code `guard_unavailable`; `pass`: it goes on, and the record and the header say `unavailable`. Default: `block`.",
    }),
  ),
};

const asking = Type.Object(ASKING);
export type AskingOptions = Static<typeof asking>;
export type WebhookOptions = Exclude<NonNullable<AskingOptions["webhook"]>, string>;

/** Names of the options of which each is something that a guard asks. */
export const ASKED = ["webhook", "presidio", "moderate", "model", "bedrock", "plugin"] as const;

const TIMEOUT_MS = 1_000;

/** @param text such as `800ms`, `2s` */
export function timeoutMs(text: string | undefined): number {
  if (text === undefined) return TIMEOUT_MS;
  return Number.parseInt(text, 10) * (text.endsWith("ms") ? 1 : 1_000);
}
