/** Decodes a Messages request. */
import type { AnswerFormat, ChatRequest, FieldPaths, ReasoningOptions } from "../../../core/chat.ts";
import type { CodecContext } from "../../../core/context.ts";
import { GatewayError } from "../../../core/error.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject, parseJson } from "../../../core/json.ts";
import { list, number, text } from "../../shared/read.ts";
import { FORMAT, OWN_FIELDS } from "../own-fields.ts";
import type { ReportLoss } from "./content.ts";
import { decodeCache } from "./content.ts";
import { decodeMessages, decodeSystem } from "./messages.ts";
import { decodeToolChoice, decodeTools } from "./tools.ts";

/** Fields of the canonical request; all others go into `extra.messages`. */
const CANONICAL = new Set([
  "model",
  "messages",
  "max_tokens",
  "system",
  "tools",
  "tool_choice",
  "stop_sequences",
  "stream",
  "thinking",
  "output_config",
  "output_format",
  "cache_control",
  "metadata",
  "service_tier",
  "temperature",
  "top_p",
  "top_k",
]);

/** The tier without priority capacity. */
const STANDARD_TIER = "standard_only";

const PATHS: FieldPaths = {
  turns: "messages",
  toolChoice: "tool_choice",
  parallelToolCalls: "tool_choice.disable_parallel_tool_use",
  maxTokens: "max_tokens",
  temperature: "temperature",
  topP: "top_p",
  topK: "top_k",
  stop: "stop_sequences",
  reasoning: "thinking",
  effort: "output_config.effort",
  answerFormat: "output_config.format",
  serviceTier: "service_tier",
  user: "metadata.user_id",
};

/**
 * @param body a request that `checkRequest` accepted
 * @throws GatewayError `invalid-request` for a known block without a required member
 */
export function decodeRequest(body: JsonObject, context: CodecContext): ChatRequest {
  if (body.thread != null) refuseThread(context);
  const messages = list(body.messages);
  const reportLoss: ReportLoss = (path) => context.reportLoss("dropped", path);
  const thinking = decodeThinking(body.thinking);
  const output = isObject(body.output_config) ? body.output_config : {};
  const user = isObject(body.metadata) ? text(body.metadata.user_id) : undefined;
  const reasoning = withEffort(thinking.reasoning, text(output.effort));
  return {
    model: text(body.model) ?? "",
    turns: [...decodeSystem(body.system, reportLoss), ...decodeMessages(messages, reportLoss)],
    tools: decodeTools(list(body.tools), messages),
    ...decodeToolChoice(body.tool_choice),
    maxTokens: number(body.max_tokens),
    temperature: number(body.temperature),
    topP: number(body.top_p),
    topK: number(body.top_k),
    stop: list(body.stop_sequences).filter((text) => typeof text === "string"),
    stream: body.stream === true,
    reasoning,
    answerFormat: decodeAnswerFormat(output.format ?? body.output_format),
    ...decodeCache(body.cache_control),
    user,
    session: context.headers.get("x-claude-code-session-id") ?? sessionInUserId(user),
    serviceTier: body.service_tier === STANDARD_TIER ? "standard" : text(body.service_tier),
    style: { hideReasoning: reasoning?.display === "omitted" },
    extra: { [FORMAT]: collectExtra(body, output, thinking.rest) },
    ownFields: { [FORMAT]: OWN_FIELDS },
    paths: PATHS,
  };
}

/**
 * Anthropic stores the conversation of a thread, and the request contains only new messages. On this error code the SDK
 * sends whole conversations instead.
 * @throws GatewayError unless the target speaks this format
 */
function refuseThread({ sameFormat, target }: CodecContext): void {
  if (sameFormat) return;
  throw new GatewayError(
    "invalid-request",
    `thread: the provider ${target.provider} keeps no message threads; send the whole conversation without it.`,
    { param: "thread", code: "thread_unsupported_request", details: { unsupported: ["thread"] } },
  );
}

const MODES: ReadonlyMap<string, ReasoningOptions["mode"]> = new Map(
  Object.entries<ReasoningOptions["mode"]>({
    disabled: "off",
    adaptive: "adaptive",
    enabled: "budget",
    between_tools: "between-tools",
  }),
);

/** Decodes `thinking` into reasoning options and the members without a canonical equivalent. */
function decodeThinking(thinking: Json | undefined): { reasoning?: ReasoningOptions; rest?: JsonObject } {
  if (!isObject(thinking)) return {};
  const mode = MODES.get(String(thinking.type));
  if (!mode) return { rest: thinking };
  const { type: _type, budget_tokens, display, ...rest } = thinking;
  const reasoning: ReasoningOptions = { mode };
  if (mode === "budget" && typeof budget_tokens === "number") reasoning.budget = budget_tokens;
  if (typeof display === "string") reasoning.display = display;
  return { reasoning, rest: Object.keys(rest).length > 0 ? rest : undefined };
}

function withEffort(
  reasoning: ReasoningOptions | undefined,
  effort: string | undefined,
): ReasoningOptions | undefined {
  return effort === undefined ? reasoning : { ...reasoning, effort };
}

function decodeAnswerFormat(format: Json | undefined): AnswerFormat | undefined {
  if (!isObject(format) || format.type !== "json_schema" || !isObject(format.schema)) return undefined;
  return { type: "json-schema", schema: format.schema };
}

/** Collects fields without a canonical equivalent, and the remaining members of fields that are decoded in part. */
function collectExtra(body: JsonObject, output: JsonObject, thinking: JsonObject | undefined): JsonObject {
  // Object.fromEntries, because assignment would not store a member named `__proto__`.
  const others = Object.entries(body).filter(([field, value]) => !CANONICAL.has(field) && value != null);
  const extra: JsonObject = Object.fromEntries(others);
  const { effort: _effort, format, ...outputRest } = output;
  if (format != null && !decodeAnswerFormat(format)) outputRest.format = format;
  if (Object.keys(outputRest).length > 0) extra.output_config = outputRest;
  const { user_id: _user, ...metadataRest } = isObject(body.metadata) ? body.metadata : {};
  if (Object.keys(metadataRest).length > 0) extra.metadata = metadataRest;
  if (thinking) extra.thinking = thinking;
  if (body.output_format != null && !decodeAnswerFormat(body.output_format))
    extra.output_format = body.output_format;
  if (body.tool_choice != null && !decodeToolChoice(body.tool_choice).toolChoice)
    extra.tool_choice = body.tool_choice;
  return extra;
}

/** Claude Code writes its session id into `metadata.user_id`: as JSON, or in older versions after `_session_`. */
function sessionInUserId(user: string | undefined): string | undefined {
  if (user === undefined) return undefined;
  const parsed = user.startsWith("{") ? parseJson(user) : undefined;
  if (isObject(parsed)) return text(parsed.session_id);
  return /_session_([\w-]+)$/.exec(user)?.[1];
}
