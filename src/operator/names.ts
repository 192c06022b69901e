/** Names for suggestions: of what exists and of what calls have used, never read from the rows of calls. */
import { type Static, Type } from "@sinclair/typebox";
import { answer } from "./shapes.ts";

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
