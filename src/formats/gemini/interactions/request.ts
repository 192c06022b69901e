/** Decodes interactions. */
import type { AnswerFormat, ChatRequest, FieldPaths, Tool, ToolChoice, Turn } from "../../../core/chat.ts";
import type { CodecContext } from "../../../core/context.ts";
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import { list, number, text } from "../../shared/read.ts";
import { missing } from "../../shared/request-fault.ts";
import { refuseHosted } from "../../shared/tools.ts";
import { INTERACTIONS, OWN_FIELDS } from "./own-fields.ts";
import { decodeSteps, stepsOf } from "./steps.ts";

const CANONICAL = new Set([
  ...["model", "stream", "input", "system_instruction", "tools", "generation_config", "service_tier"],
  ...["previous_interaction_id", "store"],
]);

const CANONICAL_CONFIG = new Set([
  ...["temperature", "top_p", "max_output_tokens", "stop_sequences", "thinking_level", "thinking_summaries"],
]);

const PATHS: FieldPaths = {
  turns: "input",
  toolChoice: "generation_config.tool_choice",
  maxTokens: "generation_config.max_output_tokens",
  temperature: "generation_config.temperature",
  topP: "generation_config.top_p",
  stop: "generation_config.stop_sequences",
  reasoning: "generation_config.thinking_level",
  effort: "generation_config.thinking_level",
  answerFormat: "response_format",
  serviceTier: "service_tier",
};

/** @throws GatewayError `invalid-request` for content that the canonical request cannot express */
export function decodeRequest(body: JsonObject, context: CodecContext): ChatRequest {
  const config = isObject(body.generation_config) ? body.generation_config : {};
  const effort = text(config.thinking_level)?.toLowerCase();
  const answerFormat = decodeFormat(body.response_format);
  const toolChoice = decodeChoice(config.tool_choice);
  return {
    model: text(body.model) ?? context.model,
    turns: [...systemTurn(body.system_instruction), ...decodeSteps(stepsOf(body.input), "input")],
    tools: decodeTools(body.tools, context),
    toolChoice,
    maxTokens: number(config.max_output_tokens),
    temperature: number(config.temperature),
    topP: number(config.top_p),
    stop: list(config.stop_sequences).filter((sequence) => typeof sequence === "string"),
    stream: body.stream === true,
    reasoning: effort === undefined ? undefined : { effort },
    answerFormat,
    serviceTier: text(body.service_tier)?.toLowerCase(),
    style: { hideReasoning: config.thinking_summaries === "none" },
    extra: { [INTERACTIONS]: extraOf(body, config, { answerFormat, toolChoice }) },
    ownFields: { [INTERACTIONS]: OWN_FIELDS },
    paths: PATHS,
  };
}

function systemTurn(instruction: Json | undefined): Turn[] {
  if (typeof instruction !== "string" || instruction === "") return [];
  const path = "system_instruction";
  return [{ role: "system", blocks: [{ type: "text", text: instruction, path }], path }];
}

function decodeTools(tools: Json | undefined, context: CodecContext): Tool[] {
  const decoded = list(tools).flatMap((tool, index) =>
    isObject(tool) ? [decodeTool(tool, `tools[${index}]`)] : [],
  );
  if (!context.sameFormat)
    refuseHosted(
      decoded,
      ({ name }) => name,
      undefined,
      (name) => name === "computer_use",
    );
  return decoded;
}

function decodeTool(tool: JsonObject, path: string): Tool {
  const { type, name, description, parameters } = tool;
  if (type !== "function")
    return {
      ...{ kind: "foreign", name: String(type), path, format: INTERACTIONS, value: tool },
      ...(type === "google_search" && { searchesWeb: true }),
    };
  if (typeof name !== "string" || name === "") throw missing(`${path}.name`);
  return {
    ...{ kind: "function", name, path, memberPaths: { parameters: `${path}.parameters` } },
    ...(typeof description === "string" && { description }),
    ...(isObject(parameters) && { parameters }),
  };
}

function decodeChoice(choice: Json | undefined): ToolChoice | undefined {
  const allowed = isObject(choice) ? choice.allowed_tools : undefined;
  const names = isObject(allowed) ? list(allowed.tools).filter((name) => typeof name === "string") : [];
  switch (text(isObject(allowed) ? allowed.mode : choice)?.toLowerCase()) {
    case "auto":
    case "validated":
      return names.length === 0 ? { type: "auto" } : { type: "allowed", names, required: false };
    case "none":
      return { type: "none" };
    case "any":
      if (names.length === 0) return { type: "required" };
      return names.length === 1
        ? { type: "tool", name: names[0]! }
        : { type: "allowed", names, required: true };
    default:
      return undefined;
  }
}

/** `undefined` for what is not one text. */
function decodeFormat(format: Json | undefined): AnswerFormat | undefined {
  const [only, ...others] = Array.isArray(format) ? format : [format];
  if (!isObject(only) || others.length > 0 || (only.type !== undefined && only.type !== "text"))
    return undefined;
  if (isObject(only.schema)) return { type: "json-schema", schema: only.schema };
  return only.mime_type === "application/json" ? { type: "json" } : { type: "text" };
}

/** Fields without a canonical equivalent, and what is left of those that are decoded in part. */
function extraOf(
  body: JsonObject,
  config: JsonObject,
  decoded: Pick<ChatRequest, "answerFormat" | "toolChoice">,
): JsonObject {
  const isRead = (name: string) =>
    CANONICAL.has(name) || (name === "response_format" && decoded.answerFormat);
  const rest = without(config, (name) =>
    Boolean(CANONICAL_CONFIG.has(name) || (name === "tool_choice" && decoded.toolChoice)),
  );
  return {
    ...without(body, (name) => Boolean(isRead(name))),
    ...(Object.keys(rest).length > 0 && { generation_config: rest }),
  };
}

function without(object: JsonObject, isLeftOut: (name: string) => boolean): JsonObject {
  return Object.fromEntries(
    Object.entries(object).filter(([name, value]) => !isLeftOut(name) && value != null),
  );
}
