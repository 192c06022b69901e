/** Parts of a structured answer in this format (src/formats/README.md#structured-answers). A schema goes to `outputConfig.textFormat`. */
import type { JsonObject } from "../../../core/json.ts";
import { type AnswerShapes, type JsonSchema, RESPOND_DESCRIPTION } from "../../shared/answer-tool.ts";
import { sanitiseSchema } from "../../shared/claude-schema.ts";
import type { ModelFacts } from "../models.ts";

export const ANSWER_SHAPES: AnswerShapes<ModelFacts> = {
  // Claude compiles a subset of JSON schema.
  compile: ({ schema }, { claude }) =>
    claude ? sanitiseSchema(schema) : { schema, changed: false, recursive: false },
  native: textFormat,
  tool: (name, description, schema) => ({
    toolSpec: { name, description: description || RESPOND_DESCRIPTION, inputSchema: { json: schema } },
  }),
  choice: (name) => ({ tool: { name } }),
};

/** The schema is JSON as text. */
function textFormat({ name, description }: JsonSchema, schema: JsonObject): JsonObject {
  const jsonSchema: JsonObject = {
    schema: JSON.stringify(schema),
    name: (name ?? "response").replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64),
    ...(description && { description }),
  };
  return { type: "json_schema", structure: { jsonSchema } };
}
