/** The options of guards that ask: services, models, and what happens while they give no verdict. */
import { type Static, Type } from "@sinclair/typebox";
import { CLOSED, oneOf, secret } from "../../../config/sections/kinds.ts";
import { ON_ERROR } from "../declarations.ts";

export const webhook = Type.Union(
  [
    Type.String(),
    Type.Object(
      {
        url: Type.String({ description: "Gets a POST with the texts, and answers with a verdict." }),
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
        "With the mode `after`: so many characters of an answer are judged at once. Default: 2000.",
    }),
  ),
  overlap: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 10_000,
      description:
        "With the modes `window` and `after`: so many characters in front of a piece of an answer are judged once more. Default: 200.",
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
export const ASKED = ["webhook"] as const;

const TIMEOUT_MS = 1_000;

/** @param text such as `800ms`, `2s` */
export function timeoutMs(text: string | undefined): number {
  if (text === undefined) return TIMEOUT_MS;
  return Number.parseInt(text, 10) * (text.endsWith("ms") ? 1 : 1_000);
}
