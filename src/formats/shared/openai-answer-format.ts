/** Encodes the format of the answer in the shape of `response_format`, which other formats of OpenAI flatten. */
import type { AnswerFormat, ChatRequest } from "../../core/chat.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { isObject } from "../../core/json.ts";
import { describedSchema } from "./answer-tool.ts";
import { fieldPath } from "./paths.ts";
import type { EncodeContext } from "./encode-context.ts";

/** The field, and a sentence for the system prompt if the field is not enough. */
export interface EncodedFormat {
  field?: JsonObject;
  instruction?: string;
}

export function encodeAnswerFormat(
  request: Pick<ChatRequest, "answerFormat" | "paths">,
  { sameFormat, traits, reportLoss }: EncodeContext,
): EncodedFormat {
  const { answerFormat: format } = request;
  if (!format || format.type === "text") return {};
  const support = traits.jsonSchema ?? "native";
  const hasMode = traits.jsonMode !== false && support !== "prompt";
  if (format.type === "json")
    return hasMode ? { field: { type: "json_object" } } : inPrompt(request, reportLoss);
  if (support === "native")
    return { field: { type: "json_schema", json_schema: encodeSchema(format, sameFormat) } };
  reportLoss(
    "downgraded",
    fieldPath(request, "answerFormat"),
    "requested in the system prompt, not enforced",
  );
  const instruction = `Respond with one JSON object only, without any text around it, that fits this JSON schema:\n${JSON.stringify(describedSchema(format))}`;
  return hasMode ? { field: { type: "json_object" }, instruction } : { instruction };
}

function inPrompt(
  request: Pick<ChatRequest, "paths">,
  reportLoss: EncodeContext["reportLoss"],
): EncodedFormat {
  reportLoss(
    "downgraded",
    fieldPath(request, "answerFormat"),
    "requested in the system prompt, not enforced",
  );
  return { instruction: ANY_OBJECT };
}

const ANY_OBJECT = "Respond with one JSON object only, without any text around it.";

function encodeSchema(
  format: Extract<AnswerFormat, { type: "json-schema" }>,
  sameFormat: boolean,
): JsonObject {
  const name = (format.name ?? "response").replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64);
  const strict = format.strict ?? (sameFormat ? undefined : isStrict(format.schema));
  return {
    name,
    ...(format.description !== undefined && { description: format.description }),
    schema: format.schema,
    ...(strict !== undefined && { strict }),
  };
}

/** Whether OpenAI accepts a schema as strict: all objects are closed and all properties required. */
function isStrict(schema: Json | undefined): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict);
  if (!isObject(schema)) return true;
  if (isObject(schema.properties)) {
    const required = Array.isArray(schema.required) ? schema.required : [];
    if (schema.additionalProperties !== false) return false;
    if (!Object.keys(schema.properties).every((name) => required.includes(name))) return false;
  }
  return Object.values(schema).every(isStrict);
}
