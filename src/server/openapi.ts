/** `GET /openapi.json`: describes the endpoints, with the schemas that validate the requests. */
import type { ClientCodec, Format } from "../core/format.ts";
import type { JsonObject } from "../core/json.ts";

export function openApiDocument(
  formats: readonly (Format & { client: ClientCodec })[],
  version: string,
): JsonObject {
  const generating = formats.map(({ id, client }) => [client.path, { post: generateOperation(id) }]);
  return {
    openapi: "3.1.0",
    info: { title: "weir", version, description: "A gateway for language-model generation." },
    security: [{ bearer: [] }, { apiKey: [] }],
    paths: {
      ...Object.fromEntries(generating),
      ...Object.fromEntries(
        formats.flatMap(({ id, client }) =>
          client.countPath === undefined ? [] : [[client.countPath, { post: countOperation(id) }]],
        ),
      ),
      "/v1/explain": {
        post: operation(
          "Explain a request",
          "Who would serve the request, what weir would send, and which fields would be lost.",
        ),
      },
      "/v1/models": { get: operation("List models", "The models this gateway lists.") },
      "/v1/models/{id}": {
        get: {
          ...operation("Retrieve a model", "One model; its id may contain slashes and colons."),
          parameters: [{ name: "id", in: "path", required: true, schema: { type: "string" } }],
        },
      },
      "/health": { get: { ...operation("Health", "The gateway is up."), security: [] } },
    },
    components: {
      schemas: Object.fromEntries(formats.map(({ id, client }) => [schemaName(id), client.schema])),
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer" },
        apiKey: { type: "apiKey", in: "header", name: "x-api-key" },
      },
    },
  };
}

/** `chat-completions` → `ChatCompletionsRequest`. */
export function schemaName(format: string): string {
  const words = format.split("-").map((word) => word[0]!.toUpperCase() + word.slice(1));
  return `${words.join("")}Request`;
}

function generateOperation(format: string): JsonObject {
  return {
    ...operation(
      `Generate (${format})`,
      "Generates the next reply; `stream: true` selects server-sent events.",
    ),
    requestBody: {
      required: true,
      content: { "application/json": { schema: { $ref: `#/components/schemas/${schemaName(format)}` } } },
    },
  };
}

function countOperation(format: string): JsonObject {
  return operation(`Count tokens (${format})`, "The input tokens of a request, counted or estimated.");
}

function operation(summary: string, description: string): JsonObject {
  return {
    summary,
    responses: {
      "200": { description, content: { "application/json": { schema: { type: "object" } } } },
      default: { description: "An error in the format of the route." },
    },
  };
}
