/** Lists models in the shape of `models.list` and `models.get` of the Gemini API. */
import { Type } from "@sinclair/typebox";
import { invalidRequest } from "../../../core/error.ts";
import type { ListedModel, ModelListing } from "../../../core/model-listing.ts";
import type { ModelFacts } from "../../../core/model-facts.ts";
import type { JsonObject } from "../../../core/json.ts";
import { open, toJson } from "../../shared/schema.ts";
import { nameIn } from "./address.ts";

/** The methods that weir serves of every model that generates. */
const METHODS = ["generateContent", "streamGenerateContent", "countTokens"];
const EMBED = "embedContent";

function one({ id, provider, does, facts = {} }: ListedModel): JsonObject {
  const { name = id, contextWindow, maxOutput, abilities } = facts;
  return {
    name: `models/${id}`,
    version: "",
    displayName: name,
    description: `Served by ${provider}`,
    ...(contextWindow !== undefined && { inputTokenLimit: contextWindow }),
    ...(maxOutput !== undefined && { outputTokenLimit: maxOutput }),
    ...(abilities?.reasoning !== undefined && { thinking: abilities.reasoning }),
    supportedGenerationMethods: methodsOf(does, facts),
  };
}

/** A model that may do both embeds only if that is known: clients offer what they find. */
function methodsOf(does: readonly string[], { output }: ModelFacts): string[] {
  const answers = does.includes("chat");
  const embeds = does.includes("embedding") && (!answers || output?.includes("embedding"));
  return [...(answers ? METHODS : []), ...(embeds ? [EMBED] : [])];
}

/** All models in one page, unless the client asks for pages. The token of a page is the number of models before it. */
function list(models: readonly ListedModel[], query: URLSearchParams): JsonObject {
  const size = readNumber(query, "pageSize", "page_size") || models.length;
  const from = readNumber(query, "pageToken", "page_token") ?? 0;
  if (from > models.length) throw invalidNumber("pageToken");
  const end = from + size;
  return {
    models: models.slice(from, end).map(one),
    ...(end < models.length && { nextPageToken: String(end) }),
  };
}

function readNumber(query: URLSearchParams, ...names: [string, string]): number | undefined {
  const name = names.find((one) => query.get(one));
  const text = name && query.get(name)!;
  if (!text) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw invalidNumber(name);
}

function invalidNumber(name: string) {
  return invalidRequest(`${name}: no such page.`, name, "invalid_value");
}

const Model = open(
  {
    name: Type.String({ description: "`models/` and the model name." }),
    version: Type.String(),
    displayName: Type.String(),
    description: Type.String(),
    inputTokenLimit: Type.Optional(
      Type.Integer({ description: "Absent if it is not known, as the members below." }),
    ),
    outputTokenLimit: Type.Optional(Type.Integer()),
    thinking: Type.Optional(Type.Boolean()),
    supportedGenerationMethods: Type.Array(Type.String()),
  },
  { title: "GeminiModel" },
);

const ModelList = open(
  {
    models: Type.Array(Model),
    nextPageToken: Type.Optional(Type.String({ description: "Absent in the last page." })),
  },
  { title: "GeminiModelList" },
);

export const models: ModelListing = {
  paths: [
    "/v1beta/models",
    "/v1beta1/models",
    "/v1alpha/models",
    // Vertex AI in express mode.
    "/v1beta1/publishers/google/models",
    "/v1/publishers/google/models",
  ],
  modelPaths: [
    "/v1beta/models/{+id}",
    "/v1beta1/models/{+id}",
    "/v1alpha/models/{+id}",
    "/v1beta1/publishers/{publisher}/models/{+id}",
    "/v1/publishers/{publisher}/models/{+id}",
  ],
  idOf: (path) => nameIn(path) ?? "",
  list,
  one,
  schemas: { list: toJson(ModelList), one: toJson(Model) },
};
