/** Names for suggestions: of what exists and of what calls have used, never read from the rows of calls. */
import { answer } from "./shapes.ts";
import { type Static, Type } from "@sinclair/typebox";
import { contract } from "./contract.ts";

const list = (description: string) => Type.Array(Type.String(), { description });

export const Names = answer({
  keys: Type.Array(
    answer({
      id: Type.String(),
      name: Type.String(),
      path: Type.String(),
      kind: Type.String(),
      gone: Type.Boolean({ description: "Revoked, expired or removed." }),
    }),
  ),
  paths: list("Of keys and of calls, with the paths above them."),
  tags: list(""),
  models: list("The providers' names of models that were called."),
  asked: list("Models as clients named them."),
  providers: list(""),
  deployments: list(""),
  formats: list(""),
  clients: list("Names and versions of SDKs."),
  budgets: Type.Array(answer({ id: Type.String(), name: Type.String() })),
});
export type Names = Static<typeof Names>;

export const listNames = contract({
  method: "GET",
  path: "/admin/v1/names",
  id: "listNames",
  summary: "Names of keys, paths, models and the rest, for suggestions; of each at most 500",
  needs: { role: "read", on: "path" },
  answer: { name: "Names", schema: Names },
});
