/** Lists models in the shape of `models.list` and `models.get` of the Gemini API. */
import { Type } from "@sinclair/typebox";
import { invalidRequest } from "../../../core/error.ts";
import type { ListedModel, ModelListing } from "../../../core/model-listing.ts";
import type { JsonObject } from "../../../core/json.ts";
import { open, toJson } from "../../shared/schema.ts";
import { nameIn } from "./address.ts";

/** What weir serves of every model. */
const METHODS = ["generateContent", "streamGenerateContent", "countTokens"];

function one({ id, provider }: ListedModel): JsonObject {
  return {
    name: `models/${id}`,
    version: "",
    displayName: id,
    description: `Served by ${provider}`,
    supportedGenerationMethods: METHODS,
  };
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
