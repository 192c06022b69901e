/** Decodes a Responses request. */
import type { AnswerFormat, ChatRequest, FieldPaths, ReasoningOptions } from "../../../core/chat.ts";
import type { CodecContext } from "../../../core/context.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { decodePromptCache } from "../../shared/prompt-cache.ts";
import { list, text } from "../../shared/read.ts";
import { FORMAT, OWN_FIELDS } from "../own-fields.ts";
import { decodeTurns } from "./messages.ts";
import { ECHOED } from "./response.ts";
import { decodeToolChoice, decodeTools } from "./tools.ts";

/** Fields of the canonical request; all others go into `extra` and reach providers of this format unchanged. */
const CANONICAL: ReadonlySet<string> = new Set([
  "model",
  "input",
  "instructions",
  "max_output_tokens",
  "temperature",
  "top_p",
  "stream",
  "stream_options",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "reasoning",
  "text",
  "user",
  "safety_identifier",
  "prompt_cache_key",
  "service_tier",
  // What weir itself answers for.
  "store",
  "previous_response_id",
]);

/** A client may name its user in both members; weir reads the first. */
const USER = ["safety_identifier", "user"];

const PATHS: FieldPaths = {
  turns: "input",
  toolChoice: "tool_choice",
  parallelToolCalls: "parallel_tool_calls",
  maxTokens: "max_output_tokens",
  temperature: "temperature",
  topP: "top_p",
  reasoning: "reasoning",
  effort: "reasoning.effort",
  answerFormat: "text.format",
  verbosity: "text.verbosity",
  serviceTier: "service_tier",
};

/** Decodes a valid body. @throws GatewayError for items and parts that lack members of their type, and for hosted tools */
export function decodeRequest(body: JsonObject, context: CodecContext): ChatRequest {
  const updated = latestUpdate(body);
  const turns = decodeTurns(body, context);
  const tools = decodeTools(body, context);
  const toolChoice = decodeToolChoice(body.tool_choice);
  const reasoning = decodeReasoningOptions(updated.effort);
  const answerFormat = decodeAnswerFormat(updated.format);
  const verbosity = isObject(body.text) ? text(body.text.verbosity) : undefined;
  const cache = decodePromptCache(body, turns, tools);
  return {
    model: body.model as string,
    turns,
    tools,
    ...(toolChoice && { toolChoice }),
    ...(typeof body.parallel_tool_calls === "boolean" && { parallelToolCalls: body.parallel_tool_calls }),
    ...(typeof body.max_output_tokens === "number" && { maxTokens: body.max_output_tokens }),
    ...(typeof body.temperature === "number" && { temperature: body.temperature }),
    ...(typeof body.top_p === "number" && { topP: body.top_p }),
    stop: [],
    stream: body.stream === true,
    ...(reasoning && { reasoning }),
    ...(answerFormat && { answerFormat }),
    ...(verbosity && { verbosity }),
    ...(cache && { cache }),
    ...named(
      "user",
      USER.map((name) => text(body[name])).find((user) => user),
    ),
    ...named("session", text(body.prompt_cache_key)),
    ...named("serviceTier", body.service_tier === "default" ? "standard" : text(body.service_tier)),
    style: {
      echo: Object.fromEntries(
        ECHOED.filter((name) => body[name] != null).map((name) => [name, body[name]!]),
      ),
    },
    extra: decodeExtra(body, { toolChoice, answerFormat }),
    ownFields: { [FORMAT]: OWN_FIELDS },
    paths: { ...PATHS, user: USER.find((name) => text(body[name])) ?? "user" },
  };
}

function named<Name extends string>(name: Name, value: string | undefined): { [name in Name]?: string } {
  return (value ? { [name]: value } : {}) as { [name in Name]?: string };
}

/** Effort and format of the request, or those of the last item that changes them. */
function latestUpdate(body: JsonObject): { effort: Json | undefined; format: Json | undefined } {
  let effort = isObject(body.reasoning) ? body.reasoning.effort : undefined;
  let format = isObject(body.text) ? body.text.format : undefined;
  for (const item of list(body.input)) {
    if (!isObject(item) || item.type !== "configuration_update") continue;
    if (isObject(item.reasoning)) effort = item.reasoning.effort ?? effort;
    if (isObject(item.text)) format = item.text.format ?? format;
  }
  return { effort, format };
}

function decodeReasoningOptions(effort: Json | undefined): ReasoningOptions | undefined {
  if (typeof effort !== "string" || effort === "") return undefined;
  return effort === "none" ? { mode: "off", effort } : { effort };
}

function decodeAnswerFormat(format: Json | undefined): AnswerFormat | undefined {
  if (!isObject(format)) return undefined;
  if (format.type === "text") return { type: "text" };
  if (format.type === "json_object") return { type: "json" };
  if (format.type !== "json_schema") return undefined;
  const { schema, strict } = format;
  return {
    type: "json-schema",
    ...named("name", text(format.name)),
    ...named("description", text(format.description)),
    schema: isObject(schema) ? schema : {},
    ...(typeof strict === "boolean" && { strict }),
  };
}

/** Collects fields without a canonical equivalent, including unknown forms of known fields. */
function decodeExtra(
  body: JsonObject,
  read: { toolChoice: unknown; answerFormat: unknown },
): Record<string, JsonObject> {
  // Object.fromEntries, because assignment would not store a member named `__proto__`.
  const others = Object.entries(body).filter(([name, value]) => !CANONICAL.has(name) && value != null);
  const extra: JsonObject = Object.fromEntries(others);
  const { effort: _effort, ...reasoningRest } = isObject(body.reasoning) ? body.reasoning : {};
  if (Object.keys(reasoningRest).length > 0) extra.reasoning = reasoningRest;
  if (!read.toolChoice && body.tool_choice != null) extra.tool_choice = body.tool_choice;
  const { format, verbosity: _verbosity, ...textRest } = isObject(body.text) ? body.text : {};
  if (format != null && !read.answerFormat) textRest.format = format;
  if (Object.keys(textRest).length > 0) extra.text = textRest;
  return Object.keys(extra).length > 0 ? { [FORMAT]: extra } : {};
}
