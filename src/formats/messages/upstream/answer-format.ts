/** Parts of a structured answer in this format (src/formats/README.md#structured-answers). A schema goes to `output_config.format`. */
import { type AnswerShapes, describedSchema } from "../../shared/answer-tool.ts";
import { sanitiseSchema } from "../../shared/claude-schema.ts";
import type { ModelFacts } from "../models.ts";

export const ANSWER_SHAPES: AnswerShapes<ModelFacts> = {
  compile: (format) => sanitiseSchema(describedSchema(format)),
  native: (_format, schema) => ({ type: "json_schema", schema }),
  tool: (name, description, schema) => ({ name, description, input_schema: schema }),
  choice: (name) => ({ type: "tool", name }),
};
