/** Encodes the format of the answer: natively, through a tool, or in the prompt (src/formats/README.md#structured-answers). */
import type { ChatRequest } from "../../../core/chat.ts";
import type { CodecContext } from "../../../core/context.ts";
import type { JsonObject } from "../../../core/json.ts";
import {
  ANY_OBJECT,
  chooseMode,
  followSchema,
  type JsonSchema,
  RESPOND,
  RESPOND_DESCRIPTION,
  RESPOND_ONLY,
} from "../../shared/answer-tool.ts";
import { flattenRoot, type Sanitised, sanitiseSchema } from "../../shared/claude-schema.ts";
import { fieldPath } from "../../shared/paths.ts";
import { type ModelFacts, modelFacts } from "../models.ts";
import type { EncodeContext } from "./context.ts";

export interface EncodedFormat {
  /** `outputConfig.textFormat`. */
  format?: JsonObject;
  /** The tool whose input is the answer. */
  tools: JsonObject[];
  choice?: JsonObject;
  instruction?: string;
}

/** Encodes the requested format and reports the losses. */
export function encodeAnswerFormat(
  request: ChatRequest,
  hasTools: boolean,
  context: EncodeContext,
): EncodedFormat {
  const { answerFormat } = request;
  const { facts, traits, reportLoss } = context;
  const path = fieldPath(request, "answerFormat");
  if (answerFormat?.type === "json") {
    reportLoss("downgraded", path, "requested in the system prompt, not enforced");
    return { tools: [], instruction: ANY_OBJECT };
  }
  if (answerFormat?.type !== "json-schema") return { tools: [] };
  const clean = compiled(answerFormat, facts);
  switch (chooseMode(request, answerFormat, facts.schemas && !clean.recursive, traits)) {
    case "native":
      if (clean.changed) reportLoss("converted", path, "constraints are described, not enforced");
      return { tools: [], format: textFormat(answerFormat, clean.schema) };
    case "tool":
      reportLoss("downgraded", path, "the model gives the answer through a tool call");
      return respondTool(request, answerFormat, hasTools, context);
    case "prompt":
      reportLoss("downgraded", path, "requested in the system prompt, not enforced");
      return { tools: [], instruction: followSchema(answerFormat) };
  }
}

/** Claude compiles a subset of JSON schema. */
function compiled(
  { schema }: JsonSchema,
  { claude }: ModelFacts,
): Pick<Sanitised, "schema" | "changed" | "recursive"> {
  return claude ? sanitiseSchema(schema) : { schema, changed: false, recursive: false };
}

/** The schema is JSON as text. */
function textFormat({ name, description }: JsonSchema, schema: JsonObject): JsonObject {
  const jsonSchema: JsonObject = {
    schema: JSON.stringify(schema),
    name: (name ?? "response").replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64),
    ...(description && { description }),
  };
  return { type: "json_schema", structure: { jsonSchema } };
}

function respondTool(
  request: ChatRequest,
  format: JsonSchema,
  hasTools: boolean,
  { facts, traits }: EncodeContext,
): EncodedFormat {
  const toolSpec: JsonObject = {
    name: RESPOND,
    description: format.description || RESPOND_DESCRIPTION,
    inputSchema: { json: flattenRoot(format.schema).schema },
  };
  const isForced = !hasTools && facts.forcedTools && !request.reasoning && traits.forcedToolChoice !== false;
  return {
    tools: [{ toolSpec }],
    choice: isForced ? { tool: { name: RESPOND } } : undefined,
    instruction: isForced ? undefined : RESPOND_ONLY,
  };
}

/** Whether `encodeRequest` added this tool for this call, so that the input of its calls is the answer. */
export function isAnswerTool(name: string, { request, target }: CodecContext): boolean {
  const format = request?.answerFormat;
  if (name !== RESPOND || !request || format?.type !== "json-schema") return false;
  const facts = modelFacts(target.model);
  return (
    chooseMode(request, format, facts.schemas && !compiled(format, facts).recursive, target.traits) === "tool"
  );
}
