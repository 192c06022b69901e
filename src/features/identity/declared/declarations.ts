/** The schema of a person in the config. */
import { Type } from "@sinclair/typebox";
import { CLOSED } from "../../../config/sections/kinds.ts";

const text = (description: string) => Type.String({ description });

/** Roles on paths. */
export const grantsSchema = (describe: (role: string) => string) =>
  Type.Object(
    Object.fromEntries(
      ["viewer", "member", "manager", "admin", "auditor"].map((role) => [
        role,
        Type.Optional(text(describe(role))),
      ]),
    ),
    CLOSED,
  );

export const declaredPerson = Type.Object(
  {
    provider: Type.Optional(text("Name of the provider that knows the person. Or `issuer`.")),
    issuer: Type.Optional(text("Issuer of its tokens, as an entry of `providers` or `jwt` has it.")),
    subject: Type.Optional(
      Type.String({
        pattern: "^.{1,255}$",
        "x-expects": "a text of at most 255 characters",
        description: "Permanent id at the issuer, in the claim that `subject` names. Or `email`.",
      }),
    ),
    email: Type.Optional(
      Type.String({
        // Of a longer address weir keeps the beginning only.
        pattern: "^(?=.{3,79}$)[^@\\s]+@[^@\\s]+$",
        "x-expects": "an e-mail address of at most 79 characters",
        description: "Address that the issuer says is verified: `email_verified` is true.",
      }),
    ),
    name: Type.Optional(
      Type.String({
        pattern: "^.{1,80}$",
        "x-expects": "a name of at most 80 characters",
        description: "Until the issuer says the name.",
      }),
    ),
    path: Type.Optional(text("Where its calls are booked. Default: as its tokens say.")),
    grants: Type.Optional(
      Type.Array(
        grantsSchema((role) => `The path on which the person is ${role}.`),
        { description: "Roles on paths: `[{member: /eng}, {viewer: /}]`." },
      ),
    ),
  },
  CLOSED,
);
