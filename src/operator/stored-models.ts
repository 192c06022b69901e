/** Models that were added at run time. What a member may be, only a worker knows: it checks an entry as it checks the config. */
import { Type } from "@sinclair/typebox";
import { answer, words } from "./shapes.ts";

const member = (description: string) => Type.Optional(Type.Unknown({ description }));

const members = {
  to: member(
    "The model that the name stands for, as in `aliases`: `provider/model`; or a list, as in `routes`.",
  ),
  fallbacks: member("As in `fallbacks`: models that are tried in order when the others failed."),
  routing: member("As in `routing`: `weight`, `latency`, `usage` or `cost`."),
  set: member("As in `models`: values for requests that do not say otherwise."),
  force: member("As in `models`: values that replace those of the client."),
  body: member("As in `models`: members for the request to the provider."),
  timeouts: member("As in `models`: they precede those of the provider."),
  retries: member("As in `models`: they precede `retries` of the config."),
  circuitBreaker: member("As in `models`: it precedes that of the provider."),
  price: member("As in `prices`, for the model in `to`: dollars a million tokens, or 0."),
};

const OPEN = { additionalProperties: true };

export const NewStoredModel = Type.Object(
  { name: Type.String({ minLength: 1, maxLength: 200, description: "As clients write it." }), ...members },
  OPEN,
);

export const StoredModelChange = Type.Object(members, {
  ...OPEN,
  description: "Members that change; `null` removes one.",
});

export const StoredModelView = answer({
  name: Type.String(),
  ...members,
  state: words(
    ["serving", "shadowed", "unserved", "refused", "damaged", "unknown"],
    "`shadowed`: the config file defines the name and precedes. `unserved`: no provider serves one of its models. `refused`: the config would refuse it. `damaged`: its row cannot be used. `unknown`: no worker runs.",
  ),
  why: Type.Optional(Type.String({ description: "One sentence; absent while it serves." })),
  version: Type.String(),
  warnings: Type.Optional(Type.Array(Type.String())),
});
