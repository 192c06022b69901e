/** Decodes a chat-completions request. */
import type {
  AnswerFormat,
  AnswerStyle,
  CacheMark,
  ChatRequest,
  FieldPaths,
  ReasoningOptions,
  RequestField,
} from "../../../core/chat.ts";
import type { CodecContext } from "../../../core/context.ts";
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import { getOwn } from "../../../core/own.ts";
import { FORMAT, OWN_FIELDS } from "../own-fields.ts";
import { decodePromptCache } from "../../shared/prompt-cache.ts";
import { decodeMessages } from "./messages.ts";
import { decodeToolChoice, decodeTools } from "./tools.ts";

/** Fields of the canonical request; all others go into `extra` and reach providers of this format unchanged. */
const CANONICAL: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "max_tokens",
  "max_completion_tokens",
  "temperature",
  "top_p",
  "top_k",
  "stop",
  "stream",
  "stream_options",
  "tools",
  "tool_choice",
  "functions",
  "function_call",
  "parallel_tool_calls",
  "response_format",
  "reasoning_effort",
  "user",
  "safety_identifier",
  "prompt_cache_key",
  "service_tier",
  "verbosity",
  "cache_control",
]);

const PATHS: FieldPaths = {
  turns: "messages",
  toolChoice: "tool_choice",
  parallelToolCalls: "parallel_tool_calls",
  maxTokens: "max_tokens",
  temperature: "temperature",
  topP: "top_p",
  topK: "top_k",
  stop: "stop",
  reasoning: "reasoning_effort",
  effort: "reasoning_effort",
  answerFormat: "response_format",
  verbosity: "verbosity",
  serviceTier: "service_tier",
  user: "user",
};

/** Fields that clients write in several ways, and these in the order in which weir reads them. */
const SPELLINGS: readonly (readonly [fields: readonly RequestField[], names: readonly string[]])[] = [
  [["toolChoice"], ["tool_choice", "function_call"]],
  [["maxTokens"], ["max_completion_tokens", "max_tokens"]],
  [["user"], ["safety_identifier", "user"]],
  [
    ["reasoning", "effort"],
    ["thinking", "reasoning", "reasoning_effort", "enable_thinking"],
  ],
];

/** Where the client wrote each field; a field that it did not write has its usual name. */
function pathsOf(body: JsonObject): FieldPaths {
  let paths: Partial<Record<RequestField, string>> | undefined;
  for (const [fields, names] of SPELLINGS) {
    const written = names.find((name) => body[name] != null);
    if (written === undefined || written === PATHS[fields[0]!]) continue;
    paths ??= { ...PATHS };
    for (const field of fields) paths[field] = written;
  }
  return paths ?? PATHS;
}

/** Decodes a valid body. @throws GatewayError for content parts that lack members of their type */
export function decodeRequest(body: JsonObject, _context: CodecContext): ChatRequest {
  const turns = decodeMessages(body.messages as JsonObject[]);
  const tools = decodeTools(body);
  const toolChoice = decodeToolChoice(body);
  const reasoning = decodeReasoningOptions(body);
  const answerFormat = decodeAnswerFormat(body.response_format);
  const cache = decodePromptCache(body, turns, tools);
  const tier = body.service_tier === "default" ? "standard" : body.service_tier;
  const request: ChatRequest = {
    model: body.model as string,
    turns,
    tools,
    stop: decodeStop(body.stop),
    stream: body.stream === true,
    style: decodeStyle(body),
    extra: decodeExtra(body, { toolChoice, answerFormat }),
    ownFields: { [FORMAT]: OWN_FIELDS },
    paths: pathsOf(body),
  };
  // Assignments: spreads of what is absent would cost as much as the rest of the request.
  if (toolChoice) request.toolChoice = toolChoice;
  if (reasoning) request.reasoning = reasoning;
  if (answerFormat) request.answerFormat = answerFormat;
  if (cache) request.cache = cache;
  setPresent(request, "parallelToolCalls", body.parallel_tool_calls, isBoolean);
  setPresent(request, "maxTokens", body.max_completion_tokens ?? body.max_tokens, isNumber);
  setPresent(request, "temperature", body.temperature, isNumber);
  setPresent(request, "topP", body.top_p, isNumber);
  setPresent(request, "topK", body.top_k, isNumber);
  setPresent(request, "verbosity", body.verbosity, isText);
  setPresent(request, "user", body.safety_identifier ?? body.user, isText);
  setPresent(request, "session", body.prompt_cache_key, isText);
  setPresent(request, "serviceTier", tier, isText);
  return request;
}

function setPresent<Name extends keyof ChatRequest, Kind extends Json & ChatRequest[Name]>(
  request: ChatRequest,
  name: Name,
  value: Json | undefined,
  is: (value: Json | undefined) => value is Kind,
): void {
  if (is(value)) request[name] = value;
}

const isBoolean = (value: Json | undefined) => typeof value === "boolean";
const isNumber = (value: Json | undefined) => typeof value === "number";
const isText = (value: Json | undefined): value is string => typeof value === "string" && value !== "";

/** Returns `{[name]: value}` if the value is present and of the right type. */
function present<Name extends string, Kind extends Json>(
  name: Name,
  value: Json | undefined,
  is: (value: Json | undefined) => value is Kind,
): { [name in Name]?: Kind } {
  return is(value) ? ({ [name]: value } as { [name in Name]?: Kind }) : {};
}

function decodeStop(stop: Json | undefined): string[] {
  if (typeof stop === "string") return [stop];
  return Array.isArray(stop) ? stop.filter((text) => typeof text === "string") : [];
}

/**
 * Decodes the reasoning options from the most specific field: `thinking` (shape of Messages), `reasoning` (shape of
 * OpenRouter), `reasoning_effort`, then `enable_thinking` of Qwen and others.
 */
function decodeReasoningOptions(body: JsonObject): ReasoningOptions | undefined {
  const effort = isText(body.reasoning_effort) ? fromEffort(body.reasoning_effort) : undefined;
  const openRouter = isObject(body.reasoning) ? fromOpenRouter(body.reasoning) : undefined;
  const thinking = isObject(body.thinking) ? fromThinking(body.thinking) : undefined;
  if (thinking) return { ...(thinking.mode !== "off" && (openRouter ?? effort)), ...thinking };
  if (openRouter ?? effort) return { ...effort, ...openRouter };
  if (typeof body.enable_thinking === "boolean") return { mode: body.enable_thinking ? "adaptive" : "off" };
  return undefined;
}

function fromEffort(effort: string): ReasoningOptions {
  return effort === "none" ? { mode: "off", effort } : { effort };
}

const MODES: Record<string, ReasoningOptions["mode"]> = {
  disabled: "off",
  adaptive: "adaptive",
  enabled: "adaptive",
  between_tools: "between-tools",
};

function fromThinking({ type, budget_tokens: budget, display }: JsonObject): ReasoningOptions | undefined {
  const mode = getOwn(MODES, String(type));
  if (!mode) return undefined;
  return {
    ...(mode !== "off" && isNumber(budget) ? { mode: "budget", budget } : { mode }),
    ...(isText(display) && { display }),
  };
}

function fromOpenRouter({ effort, max_tokens: budget, enabled }: JsonObject): ReasoningOptions | undefined {
  if (enabled === false || effort === "none") return { mode: "off" };
  if (isNumber(budget)) return { mode: "budget", budget, ...(isText(effort) && { effort }) };
  if (isText(effort)) return { effort };
  return enabled === true ? { mode: "adaptive" } : undefined;
}

export function decodeAnswerFormat(format: Json | undefined): AnswerFormat | undefined {
  if (!isObject(format)) return undefined;
  if (format.type === "text") return { type: "text" };
  if (format.type === "json_object") return { type: "json" };
  if (format.type !== "json_schema" || !isObject(format.json_schema)) return undefined;
  const { name, description, schema, strict } = format.json_schema;
  return {
    type: "json-schema",
    ...present("name", name, isText),
    ...present("description", description, isText),
    schema: isObject(schema) ? schema : {},
    ...present("strict", strict, isBoolean),
  };
}

function decodeStyle(body: JsonObject): AnswerStyle {
  const style: AnswerStyle = {};
  if (isObject(body.stream_options) && body.stream_options.include_usage === true) style.includeUsage = true;
  if (Array.isArray(body.functions) && !Array.isArray(body.tools)) style.legacyFunctions = true;
  if (isObject(body.reasoning) && body.reasoning.exclude === true) style.hideReasoning = true;
  return style;
}

/** Collects fields without a canonical equivalent, including unknown forms of known fields. */
function decodeExtra(
  body: JsonObject,
  read: { toolChoice: unknown; answerFormat: unknown },
): Record<string, JsonObject> {
  const others: [string, Json][] = [];
  for (const name in body) if (!CANONICAL.has(name) && body[name] != null) others.push([name, body[name]]);
  // Object.fromEntries, because assignment would not store a member named `__proto__`.
  const extra: JsonObject = others.length === 0 ? {} : Object.fromEntries(others);
  if (!read.toolChoice && body.tool_choice != null) extra.tool_choice = body.tool_choice;
  if (!read.answerFormat && body.response_format != null) extra.response_format = body.response_format;
  return Object.keys(extra).length > 0 ? { [FORMAT]: extra } : {};
}
