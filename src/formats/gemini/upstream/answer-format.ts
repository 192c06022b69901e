/** Encodes the format of the answer (src/formats/README.md#structured-answers). */
import type { ChatRequest } from "../../../core/chat.ts";
import type { JsonObject } from "../../../core/json.ts";
import { describedSchema } from "../../shared/answer-tool.ts";
import { fieldPath } from "../../shared/paths.ts";
import type { EncodeContext } from "./content.ts";
import { responseMember } from "./schema-doors.ts";

export interface EncodedFormat {
  /** Members of `generationConfig`. */
  fields: JsonObject;
  /** A sentence for the system instruction if the fields are not enough. */
  instruction?: string;
}

const JSON_TYPE: JsonObject = { responseMimeType: "application/json" };

export function encodeAnswerFormat(
  request: ChatRequest,
  hasTools: boolean,
  context: EncodeContext,
): EncodedFormat {
  const { answerFormat: format } = request;
  if (!format || format.type === "text") return { fields: {} };
  const { facts, traits, reportLoss } = context;
  const path = fieldPath(request, "answerFormat");
  const support = hasTools && !facts.combines ? "prompt" : traits.jsonSchema;
  const fields = support === "prompt" ? {} : JSON_TYPE;
  if (format.type === "json-schema" && support !== "prompt" && support !== "json-object")
    return { fields: { ...fields, ...responseMember(describedSchema(format), path, context) } };
  if (format.type === "json" && support !== "prompt") return { fields };
  reportLoss("downgraded", path, "requested in the system prompt, not enforced");
  const rule = "Respond with one JSON object only, without any text around it";
  if (format.type === "json") return { fields, instruction: `${rule}.` };
  return {
    fields,
    instruction: `${rule}, that fits this JSON schema:\n${JSON.stringify(describedSchema(format))}`,
  };
}
