/**
 * The operations of Ollama's API on models and on the server, which weir answers from its list of models. A member without a
 * counterpart is empty.
 */
import { Type } from "@sinclair/typebox";
import { sha256 } from "../../../core/ids.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { LocalOperation } from "../../../core/local-operation.ts";
import type { ListedModel } from "../../../core/model-listing.ts";
import { text } from "../../shared/read.ts";
import { anything, count, open, optional, toJson } from "../../shared/schema.ts";
import { missing } from "../../shared/request-fault.ts";

/**
 * The version of Ollama that clients find. They compare it: GitHub Copilot in VS Code wants 0.6.4, Codex one that serves
 * `/v1/responses`. 0.14.0 is the first one with each of the APIs that weir serves, `/v1/messages` as the last.
 */
const VERSION = "0.14.0";

/** The date of a model whose release is not known. Unix seconds. */
const CREATED = 1_700_000_000;

/** weir does not know weights: `family` names the provider. */
function details({ provider, facts = {} }: ListedModel): JsonObject {
  const { contextWindow } = facts;
  return {
    parent_model: "",
    format: "",
    family: provider,
    families: [provider],
    parameter_size: "",
    quantization_level: "",
    ...(contextWindow !== undefined && { context_length: contextWindow }),
  };
}

/** The abilities that clients may offer. An ability that is not known counts as given: clients hide what is absent, and weir reports losses. */
export function capabilitiesOf({ does, facts = {} }: Pick<ListedModel, "does" | "facts">): string[] {
  if (!does.includes("chat")) return does.filter((task) => task === "embedding");
  const { input, abilities = {} } = facts;
  return [
    "completion",
    ...(abilities.tools === false ? [] : ["tools"]),
    ...(input === undefined || input.includes("image") ? ["vision"] : []),
    // Clients that find it may switch reasoning on without being asked.
    ...(abilities.reasoning ? ["thinking"] : []),
  ];
}

function modifiedAt({ facts }: ListedModel): string {
  return new Date((facts?.created ?? CREATED) * 1000).toISOString();
}

function listed(model: ListedModel): JsonObject {
  return {
    name: model.id,
    model: model.id,
    modified_at: modifiedAt(model),
    size: 0,
    digest: sha256(model.id),
    details: details(model),
    capabilities: capabilitiesOf(model),
  };
}

function shown(model: ListedModel): JsonObject {
  const { provider, facts = {} } = model;
  const { contextWindow } = facts;
  return {
    modelfile: "",
    parameters: "",
    template: "",
    details: details(model),
    model_info: {
      "general.architecture": provider,
      "general.basename": model.id,
      ...(contextWindow !== undefined && { [`${provider}.context_length`]: contextWindow }),
    },
    capabilities: capabilitiesOf(model),
    modified_at: modifiedAt(model),
  };
}

/** Older clients write `name`. */
function nameIn({ model, name }: JsonObject): string {
  const found = text(model) || text(name);
  if (found) return found;
  throw missing("model");
}

const Details = open({
  family: Type.String({ description: "The provider." }),
  families: Type.Array(Type.String()),
  format: Type.String(),
  parameter_size: Type.String(),
  quantization_level: Type.String(),
  context_length: Type.Optional(count({ description: "Most tokens of request and answer together." })),
});

const Capabilities = Type.Array(
  Type.String({ description: "`completion`, `tools`, `vision`, `thinking` or `embedding`." }),
);

const Tag = open({
  name: Type.String(),
  model: Type.String(),
  modified_at: Type.String({ format: "date-time" }),
  size: count(),
  digest: Type.String({ description: "SHA-256 of the name." }),
  details: Details,
  capabilities: Capabilities,
});

const Shown = open({
  details: Details,
  model_info: anything({
    description: "`general.architecture`, and `<architecture>.context_length` if it is known.",
  }),
  capabilities: Capabilities,
  modified_at: Type.String({ format: "date-time" }),
});

export const local: readonly LocalOperation[] = [
  {
    method: "GET",
    path: "/api/tags",
    id: "listOllamaModels",
    summary: "List models (ollama)",
    schemas: { answer: toJson(open({ models: Type.Array(Tag) }, { title: "OllamaModelList" })) },
    of: "listed",
    answer: (models) => ({ models: models.map(listed) }),
  },
  {
    method: "POST",
    path: "/api/show",
    id: "showOllamaModel",
    summary: "Show a model (ollama)",
    schemas: {
      request: toJson(
        open(
          {
            model: optional(Type.String()),
            name: optional(Type.String({ description: "The older name of `model`." })),
          },
          { title: "OllamaShowRequest" },
        ),
      ),
      answer: toJson(open(Shown.properties, { title: "OllamaShownModel" })),
    },
    of: nameIn,
    answer: ([model]) => shown(model!),
  },
  {
    method: "GET",
    path: "/api/ps",
    id: "listOllamaRunningModels",
    summary: "List models in memory (ollama): none, because weir loads no models",
    schemas: { answer: toJson(open({ models: Type.Array(anything()) }, { title: "OllamaRunningModels" })) },
    answer: () => ({ models: [] }),
  },
  {
    method: "GET",
    path: "/api/version",
    id: "describeOllamaVersion",
    summary: "The version of Ollama whose API weir serves",
    open: true,
    schemas: { answer: toJson(open({ version: Type.String() }, { title: "OllamaVersion" })) },
    answer: () => ({ version: VERSION }),
  },
];
