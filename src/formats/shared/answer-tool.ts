/**
 * A structured answer in formats that have a tool for models that enforce no schema: natively, through the tool, or by a sentence in
 * the prompt (src/formats/README.md#structured-answers).
 */
import type { AnswerFormat, ChatRequest } from "../../core/chat.ts";
import type { CodecContext } from "../../core/context.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Traits } from "../../core/provider.ts";
import { flattenRoot, type Sanitised } from "./claude-schema.ts";
import type { EncodeContext } from "./encode-context.ts";
import { fieldPath } from "./paths.ts";

export type JsonSchema = AnswerFormat & { type: "json-schema" };

/** The format of the answer in a request. */
export interface EncodedFormat {
  /** The member with the schema, for a model that enforces it. */
  format?: JsonObject;
  /** The tool whose input is the answer. */
  tools: JsonObject[];
  choice?: JsonObject;
  instruction?: string;
}

/** Abilities of a model. */
interface Facts {
  schemas: boolean;
  forcedTools: boolean;
}

/** How a format writes the parts of a structured answer. */
export interface AnswerShapes<ModelFacts extends Facts> {
  /** The schema in the form that the model enforces. */
  compile(format: JsonSchema, facts: ModelFacts): Pick<Sanitised, "schema" | "changed" | "recursive">;
  native(format: JsonSchema, schema: JsonObject): JsonObject;
  tool(name: string, description: string, schema: JsonObject): JsonObject;
  choice(name: string): JsonObject;
}

/** Name of the tool whose input is the answer. */
const RESPOND = "respond";
export const RESPOND_DESCRIPTION = "Gives the final answer. Its input is the answer.";
/** For the system prompt, if the model cannot be forced to call the tool. */
const RESPOND_ONLY = `Give your final answer by calling the tool ${RESPOND}, and write no other text.`;
/** For the system prompt, if any object will do. */
const ANY_OBJECT = "Respond with one JSON object only.";

/** Encodes the requested format and reports the losses. @param hasTools the request has tools of the client */
export function encodeAnswerFormat<ModelFacts extends Facts>(
  request: ChatRequest,
  hasTools: boolean,
  { facts, traits, reportLoss }: Pick<EncodeContext, "traits" | "reportLoss"> & { facts: ModelFacts },
  shapes: AnswerShapes<ModelFacts>,
): EncodedFormat {
  const { answerFormat } = request;
  const path = fieldPath(request, "answerFormat");
  if (answerFormat?.type === "json") {
    reportLoss("downgraded", path, "requested in the system prompt, not enforced");
    return { tools: [], instruction: ANY_OBJECT };
  }
  if (answerFormat?.type !== "json-schema") return { tools: [] };
  const clean = shapes.compile(answerFormat, facts);
  switch (chooseMode(request, answerFormat, facts.schemas && !clean.recursive, traits)) {
    case "native":
      if (clean.changed) reportLoss("converted", path, "constraints are described, not enforced");
      return { tools: [], format: shapes.native(answerFormat, clean.schema) };
    case "tool": {
      reportLoss("downgraded", path, "the model gives the answer through a tool call");
      const { schema, description = RESPOND_DESCRIPTION } = answerFormat;
      const tools = [shapes.tool(RESPOND, description, flattenRoot(schema).schema)];
      const isForced =
        !hasTools && facts.forcedTools && !request.reasoning && traits.forcedToolChoice !== false;
      return isForced ? { tools, choice: shapes.choice(RESPOND) } : { tools, instruction: RESPOND_ONLY };
    }
    case "prompt":
      reportLoss("downgraded", path, "requested in the system prompt, not enforced");
      return { tools: [], instruction: followSchema(answerFormat) };
  }
}

/** Whether {@link encodeAnswerFormat} added this tool for this call, so that the input of its calls is the answer. */
export function isAnswerTool<ModelFacts extends Facts>(
  name: string,
  { request, target }: CodecContext,
  facts: ModelFacts,
  shapes: AnswerShapes<ModelFacts>,
): boolean {
  const format = request?.answerFormat;
  if (name !== RESPOND || !request || format?.type !== "json-schema") return false;
  const isNative = facts.schemas && !shapes.compile(format, facts).recursive;
  return chooseMode(request, format, isNative, target.traits) === "tool";
}

/** For the system prompt, if there is no tool either. */
function followSchema(format: JsonSchema): string {
  return `Respond with one JSON object only, which follows this JSON schema:\n${JSON.stringify(describedSchema(format))}`;
}

/** The schema with the description of the format, for providers that have no other place for it. */
export function describedSchema({ schema, description }: JsonSchema): JsonObject {
  if (description === undefined || schema.description === description) return schema;
  const own = typeof schema.description === "string" ? `\n\n${schema.description}` : "";
  return { ...schema, description: description + own };
}

/**
 * Chooses the native form if model, provider and schema allow it, and never a tool whose name the client uses.
 * @param isNative whether the model enforces the schema
 */
function chooseMode(
  request: ChatRequest,
  { schema }: JsonSchema,
  isNative: boolean,
  traits: Traits,
): "native" | "tool" | "prompt" {
  const trait = traits.jsonSchema ?? "native";
  if (trait === "native" && isNative) return "native";
  const isTaken = request.tools.some(({ name }) => name === RESPOND);
  return trait !== "native" || isTaken || schema.type === "array" ? "prompt" : "tool";
}
