/** Secrets in the operator's API: where they are from and how old they are, never what they are. */
import { type Static, Type } from "@sinclair/typebox";
import { contract } from "../../operator/contract.ts";
import { answer, time } from "../../operator/shapes.ts";

export const SecretList = answer({
  secrets: Type.Array(
    answer({
      reference: Type.String({ description: "As the config has it: `vault:secret/data/llm#openai`." }),
      store: Type.String({ description: "Kind of the store." }),
      version: Type.Optional(Type.String({ description: "As the store names it." })),
      readAt: Type.Optional(time("When it was read last.")),
      nextAt: time("When it is read next."),
      leaseMs: Type.Optional(Type.Number({ description: "How long the store leaves it to weir." })),
      usedBy: Type.Array(Type.String(), { description: "Options of the config that have it." }),
      fault: Type.Optional(
        Type.String({ description: "Why it could not be read last time; the last value stays in use." }),
      ),
    }),
  ),
});
export type SecretList = Static<typeof SecretList>;

const count = (description: string) => Type.Integer({ minimum: 0, description });

export const Rekeyed = answer({
  rewrapped: count("Secrets that have the key of now."),
  current: count("Secrets that had it before."),
  unreadable: count("Secrets that no key of the config opens."),
});
export type Rekeyed = Static<typeof Rekeyed>;

export const rekeySecrets = contract({
  method: "POST",
  path: "/admin/v1/secrets/rekey",
  id: "rekeySecrets",
  summary: "Wraps the keys of all sealed secrets in the store with `store.sealKey`",
  needs: { role: "admin", on: "gateway" },
  alone: true,
  answer: { name: "Rekeyed", schema: Rekeyed },
  errors: ["not_available", "gateway_failed"],
});

export const listSecrets = contract({
  method: "GET",
  path: "/admin/v1/secrets",
  id: "listSecrets",
  summary: "The secrets to which the config refers, with store, version and age; never their values",
  needs: { role: "read", on: "gateway" },
  answer: { name: "SecretList", schema: SecretList },
});
