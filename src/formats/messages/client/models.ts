/**
 * A model as clients of the format read it: the members of Anthropic's list (`ModelInfo` of its SDK). `capabilities` is
 * `null`: its type promises every capability, and weir knows only some.
 */
import { Type } from "@sinclair/typebox";
import type { JsonObject } from "../../../core/json.ts";
import type { ListedModel, ModelMembers } from "../../../core/model-listing.ts";
import { nullable, open, toJson } from "../../shared/schema.ts";
import { SOME_DATE } from "../../shared/listed.ts";

function of({ id, facts = {} }: ListedModel): JsonObject {
  const { name = id, created = SOME_DATE, contextWindow = null, maxOutput = null, deprecatedOn } = facts;
  return {
    type: "model",
    display_name: name,
    created_at: new Date(created * 1000).toISOString().replace(".000", ""),
    lifecycle: deprecatedOn === undefined ? "active" : "deprecated",
    capabilities: null,
    max_input_tokens: contextWindow,
    max_tokens: maxOutput,
    retires_at: deprecatedOn === undefined ? null : `${deprecatedOn}T00:00:00Z`,
  };
}

const describeMembers = () =>
  open({
    type: Type.Literal("model"),
    display_name: Type.String({ description: "The name for people; the id where no other is known." }),
    created_at: Type.String({ description: "The date `created` in the form of RFC 3339." }),
    lifecycle: Type.Union([Type.Literal("active"), Type.Literal("deprecated")], {
      description: "`deprecated`: the provider has announced the day on which it turns the model off.",
    }),
    capabilities: Type.Null({ description: "See `architecture` instead." }),
    max_input_tokens: nullable(Type.Integer(), { description: "Most tokens of a request." }),
    max_tokens: nullable(Type.Integer(), { description: "Most tokens of an answer." }),
    retires_at: nullable(Type.String(), {
      description: "The date `expiration_date` in the form of RFC 3339.",
    }),
  });

/** The schema is made when it is read: only the OpenAPI document needs it. */
export const modelMembers: ModelMembers = {
  of,
  get schema() {
    return toJson(describeMembers());
  },
};
