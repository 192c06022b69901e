/** Decodes a request. */
import type { AnswerFormat, ChatRequest, FieldPaths, ReasoningOptions } from "../../../core/chat.ts";
import type { CodecContext } from "../../../core/context.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { list, number, text } from "../../shared/read.ts";
import { FORMAT, OWN_FIELDS } from "../own-fields.ts";
import { toJsonSchema } from "./json-schema.ts";
import { decodeTurns } from "./messages.ts";
import { camelCased, spelledIn } from "./spelling.ts";
import { decodeToolChoice, decodeTools, type Spell } from "./tools.ts";

/** Fields of the canonical request, and `generationConfig` and `toolConfig`, of which the rest is kept. */
const CANONICAL: ReadonlySet<string> = new Set([
  "model",
  "stream",
  "contents",
  "systemInstruction",
  "tools",
  "toolConfig",
  "generationConfig",
  "serviceTier",
]);

/** Members of `generationConfig` with a canonical equivalent. */
const CANONICAL_CONFIG: ReadonlySet<string> = new Set([
  "temperature",
  "topP",
  "topK",
  "maxOutputTokens",
  "stopSequences",
  "thinkingConfig",
]);

const PATHS: FieldPaths = {
  turns: "contents",
  toolChoice: "toolConfig.functionCallingConfig",
  maxTokens: "generationConfig.maxOutputTokens",
  temperature: "generationConfig.temperature",
  topP: "generationConfig.topP",
  topK: "generationConfig.topK",
  stop: "generationConfig.stopSequences",
  reasoning: "generationConfig.thinkingConfig",
  effort: "generationConfig.thinkingConfig.thinkingLevel",
  answerFormat: "generationConfig.responseMimeType",
  serviceTier: "serviceTier",
};

const BUDGET_PATHS: FieldPaths = { ...PATHS, effort: PATHS.reasoning };

/**
 * @param given a request that `checkRequest` accepted, with the members `model` and `stream`
 * @throws GatewayError `invalid-request` for parts without data
 */
export function decodeRequest(given: JsonObject, context: CodecContext): ChatRequest {
  const body = camelCased(given);
  const spell: Spell = body === given ? (path) => path : (path) => spelledIn(given, path);
  const config = isObject(body.generationConfig) ? body.generationConfig : {};
  const thinking = isObject(config.thinkingConfig) ? config.thinkingConfig : {};
  const answerFormat = decodeAnswerFormat(config);
  return {
    model: text(body.model) ?? context.model,
    turns: decodeTurns(body, spell, context),
    tools: decodeTools(body.tools, spell, context),
    toolChoice: decodeToolChoice(body.toolConfig),
    maxTokens: number(config.maxOutputTokens),
    temperature: number(config.temperature),
    topP: number(config.topP),
    topK: number(config.topK),
    stop: list(config.stopSequences).filter((sequence) => typeof sequence === "string"),
    stream: body.stream === true,
    reasoning: decodeThinking(thinking),
    answerFormat,
    serviceTier: text(body.serviceTier)?.toLowerCase(),
    style: { hideReasoning: thinking.includeThoughts !== true },
    extra: { [FORMAT]: collectExtra(body, config, answerFormat !== undefined) },
    ownFields: { [FORMAT]: OWN_FIELDS },
    paths: pathsOf(thinking, body === given ? undefined : spell),
  };
}

/** The effort is at the member that asks for reasoning. @param spell absent if the client has the spelling of the documentation */
function pathsOf({ thinkingLevel }: JsonObject, spell: Spell | undefined): FieldPaths {
  const paths = thinkingLevel == null ? BUDGET_PATHS : PATHS;
  if (!spell) return paths;
  return Object.fromEntries(Object.entries(paths).map(([field, path]) => [field, spell(path)]));
}

/** Decodes `thinkingConfig`: a budget of 0 switches reasoning off, one of -1 leaves it to the model. */
function decodeThinking({
  includeThoughts,
  thinkingBudget,
  thinkingLevel,
}: JsonObject): ReasoningOptions | undefined {
  const effort = text(thinkingLevel)?.toLowerCase();
  const budget = number(thinkingBudget);
  if (effort === undefined && budget === undefined) return undefined;
  return {
    ...(effort !== undefined && effort !== "thinking_level_unspecified" && { effort }),
    ...(budget !== undefined && modeOf(budget)),
    ...(includeThoughts !== true && { display: "omitted" }),
  };
}

function modeOf(budget: number): ReasoningOptions {
  if (budget === 0) return { mode: "off" };
  return budget < 0 ? { mode: "adaptive" } : { mode: "budget", budget };
}

const JSON_TYPE = "application/json";

/** Decodes the type and the schema of the answer; `undefined` for text and for types that only this format has. */
function decodeAnswerFormat(config: JsonObject): AnswerFormat | undefined {
  const type = text(config.responseMimeType) ?? "";
  if (type !== "" && type !== JSON_TYPE) return undefined;
  const schema: Json | undefined = config.responseJsonSchema ?? config.responseSchema;
  if (isObject(schema)) return { type: "json-schema", schema: toJsonSchema(schema) };
  return type === JSON_TYPE ? { type: "json" } : undefined;
}

const ANSWER_FORMAT: ReadonlySet<string> = new Set([
  "responseMimeType",
  "responseSchema",
  "responseJsonSchema",
]);

/** Collects fields without a canonical equivalent, and the remaining members of fields that are decoded in part. */
function collectExtra(body: JsonObject, config: JsonObject, hasAnswerFormat: boolean): JsonObject {
  const extra = without(body, (name) => CANONICAL.has(name));
  const isText = config.responseMimeType === "text/plain";
  const rest = without(
    config,
    (name) => CANONICAL_CONFIG.has(name) || (ANSWER_FORMAT.has(name) && (hasAnswerFormat || isText)),
  );
  if (Object.keys(rest).length > 0) extra.generationConfig = rest;
  const toolConfig = withoutCalling(body.toolConfig);
  if (toolConfig) extra.toolConfig = toolConfig;
  return extra;
}

/** The members of `toolConfig` besides the choice among the functions. */
function withoutCalling(toolConfig: Json | undefined): JsonObject | undefined {
  if (!isObject(toolConfig)) return undefined;
  const { functionCallingConfig: calling, ...rest } = toolConfig;
  const isDecoded = decodeToolChoice(toolConfig) !== undefined;
  const kept = isObject(calling)
    ? without(calling, (name) => isDecoded && (name === "mode" || name === "allowedFunctionNames"))
    : {};
  const all = { ...rest, ...(Object.keys(kept).length > 0 && { functionCallingConfig: kept }) };
  return Object.keys(all).length > 0 ? all : undefined;
}

/** `Object.fromEntries`, because assignment would not store a member named `__proto__`. */
function without(object: JsonObject, isLeftOut: (name: string) => boolean): JsonObject {
  return Object.fromEntries(
    Object.entries(object).filter(([name, value]) => !isLeftOut(name) && value != null),
  );
}
