/** Answers bound to JSON: natively, through a tool, or by asking (src/formats/README.md#structured-answers). */
import type { Call } from "../../../core/call.ts";
import type { AnswerFormat, ChatRequest } from "../../../core/chat.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { ModelFacts } from "../models.ts";
import { modelFacts } from "../models.ts";
import { fieldPath } from "./paths.ts";
import type { Sanitised } from "./sanitise.ts";
import { flattenRoot, sanitiseSchema } from "./sanitise.ts";

export interface BoundAnswer {
  /** `output_config.format`. */
  format?: JsonObject;
  /** The tool the answer is given through. */
  tools: JsonObject[];
  choice?: JsonObject;
  sentence?: string;
}

/** Name of the tool through which models without the native way give an answer with a schema. */
const RESPOND = "respond";

type JsonSchema = AnswerFormat & { type: "json-schema" };

/** How the wish for JSON is written. */
export function bindAnswer(
  request: ChatRequest,
  hasTools: boolean,
  facts: ModelFacts,
  call: Call,
): BoundAnswer {
  const { answerFormat } = request;
  if (answerFormat?.type === "json") {
    call.reportLoss("downgraded", fieldPath("answerFormat", call), "asked for in the system prompt");
    return { tools: [], sentence: "Respond with one JSON object only." };
  }
  if (answerFormat?.type !== "json-schema") return { tools: [] };
  const clean = sanitiseSchema(answerFormat.schema);
  switch (wayOf(request, answerFormat, facts, call, clean)) {
    case "native":
      if (clean.changed)
        call.reportLoss(
          "converted",
          fieldPath("answerFormat", call),
          "constraints are described, not enforced",
        );
      return { tools: [], format: { type: "json_schema", schema: clean.schema } };
    case "tool":
      call.reportLoss("downgraded", fieldPath("answerFormat", call), "the answer is given through a tool");
      return respondTool(request, answerFormat, hasTools, facts, call);
    case "prompt":
      call.reportLoss("downgraded", fieldPath("answerFormat", call), "asked for in the system prompt");
      return {
        tools: [],
        sentence: `Respond with one JSON object only, which follows this JSON schema:\n${JSON.stringify(answerFormat.schema)}`,
      };
  }
}

/** The native way where model, provider and schema allow it; a tool never where a program of the client has its name. */
function wayOf(
  request: ChatRequest,
  format: JsonSchema,
  facts: ModelFacts,
  call: Call,
  clean: Sanitised,
): "native" | "tool" | "prompt" {
  const trait = call.target?.provider.traits?.jsonSchema ?? "native";
  if (trait === "native" && facts.schemas && !clean.recursive) return "native";
  const taken = request.tools.some(({ name }) => name === RESPOND);
  return trait !== "native" || taken || format.schema.type === "array" ? "prompt" : "tool";
}

function respondTool(
  request: ChatRequest,
  format: JsonSchema,
  hasTools: boolean,
  facts: ModelFacts,
  call: Call,
): BoundAnswer {
  const tool: JsonObject = {
    name: RESPOND,
    description: format.description ?? "Gives the final answer. Its input is the answer.",
    input_schema: flattenRoot(format.schema).schema,
  };
  const forcible =
    !hasTools &&
    facts.forcedTools &&
    !request.reasoning &&
    call.target?.provider.traits?.forcedToolChoice !== false;
  return {
    tools: [tool],
    choice: forcible ? { type: "tool", name: RESPOND } : undefined,
    sentence: forcible
      ? undefined
      : `Give your final answer by calling the tool ${RESPOND}, and write no other text.`,
  };
}

/** Whether calls of this tool are the answer itself, as `encodeRequest` has arranged it for this call. */
export function isAnswerTool(name: string, call: Call): boolean {
  const { request, target } = call;
  const format = request?.answerFormat;
  if (name !== RESPOND || !request || !target || format?.type !== "json-schema") return false;
  return wayOf(request, format, modelFacts(target.model), call, sanitiseSchema(format.schema)) === "tool";
}
