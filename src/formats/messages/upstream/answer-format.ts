/** Encodes the format of the answer: natively, through a tool, or in the prompt (src/formats/README.md#structured-answers). */
import type { AnswerFormat, ChatRequest } from "../../../core/chat.ts";
import type { CodecContext } from "../../../core/context.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { Traits } from "../../../core/provider.ts";
import type { ModelFacts } from "../models.ts";
import { modelFacts } from "../models.ts";
import { fieldPath } from "../../shared/paths.ts";
import type { EncodeContext } from "./content.ts";
import type { Sanitised } from "./sanitise.ts";
import { flattenRoot, sanitiseSchema } from "./sanitise.ts";

export interface EncodedFormat {
  /** `output_config.format`. */
  format?: JsonObject;
  /** The tool whose input is the answer. */
  tools: JsonObject[];
  choice?: JsonObject;
  instruction?: string;
}

/** Name of the tool through which models without native support give a structured answer. */
const RESPOND = "respond";

type JsonSchema = AnswerFormat & { type: "json-schema" };

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
    return { tools: [], instruction: "Respond with one JSON object only." };
  }
  if (answerFormat?.type !== "json-schema") return { tools: [] };
  const clean = sanitiseSchema(answerFormat.schema);
  switch (chooseMode(request, answerFormat, facts, traits, clean)) {
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
        instruction: `Respond with one JSON object only, which follows this JSON schema:\n${JSON.stringify(answerFormat.schema)}`,
      };
  }
}

/** Chooses the native form if model, provider and schema allow it, and never a tool whose name the client uses. */
function chooseMode(
  request: ChatRequest,
  format: JsonSchema,
  facts: ModelFacts,
  traits: Traits,
  clean: Sanitised,
): "native" | "tool" | "prompt" {
  const trait = traits.jsonSchema ?? "native";
  if (trait === "native" && facts.schemas && !clean.recursive) return "native";
  const taken = request.tools.some(({ name }) => name === RESPOND);
  return trait !== "native" || taken || format.schema.type === "array" ? "prompt" : "tool";
}

function respondTool(
  request: ChatRequest,
  format: JsonSchema,
  hasTools: boolean,
  { facts, traits }: EncodeContext,
): EncodedFormat {
  const tool: JsonObject = {
    name: RESPOND,
    description: format.description ?? "Gives the final answer. Its input is the answer.",
    input_schema: flattenRoot(format.schema).schema,
  };
  const forcible = !hasTools && facts.forcedTools && !request.reasoning && traits.forcedToolChoice !== false;
  return {
    tools: [tool],
    choice: forcible ? { type: "tool", name: RESPOND } : undefined,
    instruction: forcible
      ? undefined
      : `Give your final answer by calling the tool ${RESPOND}, and write no other text.`,
  };
}

/** Whether `encodeRequest` added this tool for this call, so that the input of its calls is the answer. */
export function isAnswerTool(name: string, { request, target }: CodecContext): boolean {
  const format = request?.answerFormat;
  if (name !== RESPOND || !request || format?.type !== "json-schema") return false;
  const clean = sanitiseSchema(format.schema);
  return chooseMode(request, format, modelFacts(target.model), target.traits, clean) === "tool";
}
