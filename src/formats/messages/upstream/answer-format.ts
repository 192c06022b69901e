/** Encodes the format of the answer: natively, through a tool, or in the prompt (src/formats/README.md#structured-answers). */
import type { ChatRequest } from "../../../core/chat.ts";
import type { CodecContext } from "../../../core/context.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { ModelFacts } from "../models.ts";
import { factsFor } from "../models.ts";
import { fieldPath } from "../../shared/paths.ts";
import {
  ANY_OBJECT,
  chooseMode,
  describedSchema,
  followSchema,
  type JsonSchema,
  RESPOND,
  RESPOND_DESCRIPTION,
  RESPOND_ONLY,
} from "../../shared/answer-tool.ts";
import type { EncodeContext } from "./content.ts";
import type { Sanitised } from "../../shared/claude-schema.ts";
import { flattenRoot, sanitiseSchema } from "../../shared/claude-schema.ts";

export interface EncodedFormat {
  /** `output_config.format`. */
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
  const clean = sanitiseSchema(describedSchema(answerFormat));
  switch (chooseMode(request, answerFormat, isNative(facts, clean), traits)) {
    case "native":
      if (clean.changed) reportLoss("converted", path, "constraints are described, not enforced");
      return { tools: [], format: { type: "json_schema", schema: clean.schema } };
    case "tool":
      reportLoss("downgraded", path, "the model gives the answer through a tool call");
      return respondTool(request, answerFormat, hasTools, context);
    case "prompt":
      reportLoss("downgraded", path, "requested in the system prompt, not enforced");
      return {
        tools: [],
        instruction: followSchema(answerFormat),
      };
  }
}

/** Whether the provider enforces the schema. */
function isNative(facts: ModelFacts, { recursive }: Sanitised): boolean {
  return facts.schemas && !recursive;
}

function respondTool(
  request: ChatRequest,
  format: JsonSchema,
  hasTools: boolean,
  { facts, traits }: EncodeContext,
): EncodedFormat {
  const tool: JsonObject = {
    name: RESPOND,
    description: format.description ?? RESPOND_DESCRIPTION,
    input_schema: flattenRoot(format.schema).schema,
  };
  const forcible = !hasTools && facts.forcedTools && !request.reasoning && traits.forcedToolChoice !== false;
  return {
    tools: [tool],
    choice: forcible ? { type: "tool", name: RESPOND } : undefined,
    instruction: forcible ? undefined : RESPOND_ONLY,
  };
}

/** Whether `encodeRequest` added this tool for this call, so that the input of its calls is the answer. */
export function isAnswerTool(name: string, { request, target }: CodecContext): boolean {
  const format = request?.answerFormat;
  if (name !== RESPOND || !request || format?.type !== "json-schema") return false;
  const clean = sanitiseSchema(format.schema);
  return chooseMode(request, format, isNative(factsFor(target), clean), target.traits) === "tool";
}
