/** The parameters of the operations in paths, queries and headers. */
import { Type } from "@sinclair/typebox";
import type { CallHeader } from "../core/call-header.ts";
import { namesOf } from "./choose-format.ts";
import type { ClientFormat, Parameter } from "./operation.ts";

export const MODEL_ID: Parameter = {
  name: "id",
  in: "path",
  required: true,
  description: "Model name; it may contain slashes and colons.",
  schema: Type.String({ minLength: 1 }),
};

export const URL_MODEL: Parameter = { ...MODEL_ID, name: "model" };

export const LIMIT: Parameter = {
  name: "limit",
  in: "query",
  description: "Maximum number of models in the answer. Default: all.",
  schema: Type.Integer({ minimum: 1 }),
};

export const AFTER_ID: Parameter = {
  name: "after_id",
  in: "query",
  description: "The models after this one; all models if it is not in the list.",
  schema: Type.String(),
};

export const SUPPORTED: Parameter = {
  name: "supported_parameters",
  in: "query",
  description:
    "Only models that are known to take these members of a request; names with commas between them.",
  schema: Type.String(),
};

export const ANSWER_ID: Parameter = {
  name: "id",
  in: "path",
  required: true,
  description: "Id of an answer.",
  schema: Type.String({ pattern: "^[A-Za-z0-9_-]{1,200}$" }),
};

export const CONVERSATION_ID: Parameter = {
  name: "id",
  in: "path",
  required: true,
  description: "Id of a conversation.",
  schema: Type.String(),
};

export const CONVERSATION_ITEM: Parameter = {
  name: "item",
  in: "path",
  required: true,
  description: "Id of an item of the conversation.",
  schema: Type.String(),
};

export const KEPT_ID: Parameter = {
  name: "id",
  in: "path",
  required: true,
  description: "The name without its beginning.",
  schema: Type.String({ pattern: "^[A-Za-z0-9_-]{1,200}$" }),
};

export const PAGE_SIZE: Parameter = {
  name: "pageSize",
  in: "query",
  description: "Most entries in a page. Default: 50.",
  schema: Type.Integer({ minimum: 0 }),
};

export const PAGE_TOKEN: Parameter = {
  name: "pageToken",
  in: "query",
  description: "`nextPageToken` of the page before.",
  schema: Type.String(),
};

export const ITEM_LIMIT: Parameter = {
  name: "limit",
  in: "query",
  description: "Maximum number of items in the page.",
  schema: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
};

export const ITEM_ORDER: Parameter = {
  name: "order",
  in: "query",
  description: "Order of the items.",
  schema: Type.Union([Type.Literal("asc"), Type.Literal("desc")], { default: "desc" }),
};

export const AFTER_ITEM: Parameter = {
  name: "after",
  in: "query",
  description: "Id of the item before the page.",
  schema: Type.String(),
};

export const STRICT: Parameter = {
  name: "x-weir-strict",
  in: "header",
  description: "`true`: weir refuses a request that it cannot translate without a loss.",
  schema: Type.String(),
};

/** `?format=` of an operation that takes requests of several formats. */
export function formatName(formats: readonly ClientFormat[]): Parameter {
  return {
    name: "format",
    in: "query",
    description:
      "Format of the request, or the path that its client asks. Default: the format that alone fits its headers and members.",
    schema: Type.Union([
      ...namesOf(formats).map((name) => Type.Literal(name)),
      Type.String({ pattern: "^/", description: "A path, for example `/v1/messages`." }),
    ]),
  };
}

/** The headers of features that requests of an operation may have. */
export function callHeaders(
  headers: readonly CallHeader[],
  operation: "generate" | "compact" | "embeddings" | "kinds",
): Parameter[] {
  return headers.flatMap(({ name, request }) => {
    if (!request || !(request.with ?? ["generate"]).includes(operation)) return [];
    const { description, values } = request;
    const schema = values ? Type.Union(values.map((value) => Type.Literal(value))) : Type.String();
    return [{ name, in: "header", description, schema }];
  });
}

/** A header that the clients of a format send. */
export function clientHeader(name: string): Parameter {
  return {
    name,
    in: "header",
    description: "Clients of this format send it.",
    schema: Type.String(),
  };
}
