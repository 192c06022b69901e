/** Models that were added at run time. What a member may be, only a worker knows: it checks an entry as it checks the config. */
import { answer, PAGE, pageOf, request, words } from "./shapes.ts";
import { type Static, Type } from "@sinclair/typebox";
import type { Json } from "../core/json.ts";
import { contract } from "./contract.ts";

const member = (description: string) => Type.Optional(Type.Unsafe<Json>(Type.Unknown({ description })));

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
export type StoredModelView = Static<typeof StoredModelView>;

const ONE = { name: "StoredModel", schema: StoredModelView };

export const listStoredModels = contract({
  method: "GET",
  path: "/admin/v1/stored-models",
  id: "listStoredModels",
  summary: "Models that were added at run time, and whether they serve",
  needs: { role: "read", on: "gateway" },
  query: request(PAGE),
  answer: { name: "StoredModels", schema: pageOf("models", StoredModelView) },
  errors: ["gateway_failed"],
});

export const createStoredModel = contract({
  method: "POST",
  path: "/admin/v1/stored-models",
  id: "createStoredModel",
  summary: "Adds a model: a name for models of providers that the config has",
  description:
    "The entry is checked as if it were in the config file. It serves in all workers of this gateway before the answer; other gateways of the store read it within seconds.",
  needs: { role: "admin", on: "gateway" },
  body: NewStoredModel,
  answer: ONE,
  status: 201,
  errors: ["conflict", "declared", "gateway_failed"],
});

export const getStoredModel = contract({
  method: "GET",
  path: "/admin/v1/stored-models/{name}",
  id: "getStoredModel",
  summary: "One stored model",
  needs: { role: "read", on: "gateway" },
  answer: ONE,
  errors: ["not_found", "gateway_failed"],
});

export const changeStoredModel = contract({
  method: "PATCH",
  path: "/admin/v1/stored-models/{name}",
  id: "changeStoredModel",
  summary: "Changes a stored model",
  needs: { role: "admin", on: "gateway" },
  body: StoredModelChange,
  answer: ONE,
  errors: ["not_found", "declared", "gateway_failed"],
});

export const deleteStoredModel = contract({
  method: "DELETE",
  path: "/admin/v1/stored-models/{name}",
  id: "deleteStoredModel",
  summary: "Removes a stored model; calls that run go on",
  needs: { role: "admin", on: "gateway" },
  answer: { name: "DeletedModel", schema: Type.Object({ name: Type.String(), deleted: Type.Boolean() }) },
  errors: ["not_found", "gateway_failed"],
});
