/** Encodes a canonical request. Equal requests give equal bytes (src/formats/README.md#determinism). */
import type { ChatRequest } from "../../../core/chat.ts";
import type { CodecContext } from "../../../core/context.ts";
import { maskUser, ToolNames } from "../../../core/ids.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { checkForeignFields } from "../../shared/foreign-fields.ts";
import { moveImages } from "../../shared/assistant-images.ts";
import { encodeContextOf } from "../../shared/encode-context.ts";
import { encodeSampling, type Sampling } from "../../shared/claude-sampling.ts";
import { reportUncarried } from "../../shared/uncarried.ts";
import { isForced } from "../../shared/tools.ts";
import { fieldPath } from "../../shared/paths.ts";
import type { ModelFacts } from "../models.ts";
import { defaultMaxTokens, factsFor } from "../models.ts";
import type { EncodeContext } from "./content.ts";
import { FORMAT } from "../own-fields.ts";
import { placeCacheMarks } from "./caching.ts";
import { type EncodedReasoning, encodeReasoning } from "../../shared/claude-reasoning.ts";
import { encodeAnswerFormat } from "../../shared/answer-tool.ts";
import { ANSWER_SHAPES } from "./answer-format.ts";
import { encodeExtra } from "./extra.ts";
import { encodeTools } from "./tools.ts";
import type { Draft } from "./tool-results.ts";
import { encodeTurns, endWithUser, finishDraft } from "./messages.ts";

/**
 * Encodes the body and reports losses.
 * @throws GatewayError `invalid-request` for what weir can neither translate nor drop
 */
export function encodeRequest(request: ChatRequest, codecContext: CodecContext): JsonObject {
  const context = encodeContext(request, codecContext);
  checkForeignFields(request, FORMAT, context);
  reportUncarried(request, { user: true }, context);
  if (request.verbosity !== undefined)
    context.reportLoss("dropped", fieldPath(request, "verbosity"), "the provider has no equivalent field");
  const { facts } = context;
  const maxTokens = encodeMaxTokens(request, context);
  const names = new ToolNames(namesIn(request), codecContext.toolNames);
  const turns = encodeTurns(moveImages(request, FORMAT, context), names, context);
  const { tools, choice, instruction } = encodeTools(request, names, context);
  const answer = encodeAnswerFormat(request, tools.length > 0, context, ANSWER_SHAPES);
  const requested = encodeReasoning(request, turns.effort, maxTokens, context);
  const reasoning = settleThinking(
    requested,
    turns.messages,
    isForced(request) && choice?.type !== "auto",
    request,
    context,
  );
  const thinks = isOn(reasoning, facts);
  const messages = endWithUser(turns.messages, facts.prefill && !thinks && !context.bound, context);
  const { system } = turns;
  for (const text of [instruction, answer.instruction])
    if (text !== undefined) system.push({ type: "text", text });
  const extra = request.extra[FORMAT] ?? NO_MEMBERS;
  const allTools = answer.tools.length > 0 ? [...tools, ...answer.tools] : tools;
  const toolChoice = answer.choice ?? choice;

  let body: JsonObject = { model: codecContext.target.model, max_tokens: maxTokens };
  if (request.stream) body.stream = true;
  addSampling(body, encodeSampling(request, thinks, context));
  Object.assign(
    body,
    encodeStop(request, context),
    encodeThinking(reasoning, extra.thinking, context),
    encodeOutput(reasoning.effort, answer.format, extra.output_config),
    encodeUser(request.user, extra.metadata, context),
    encodeServiceTier(request, context),
  );
  const others = encodeExtra(extra, requested.thinking !== undefined && !reasoning.thinking);
  // A spread, because assignment would not store a member named `__proto__`.
  if (others) body = { ...body, ...others };
  if (system.length > 0) body.system = system;
  if (allTools.length > 0) body.tools = allTools;
  if (allTools.length > 0 && toolChoice) body.tool_choice = toolChoice;
  const finished = messages.map(finishDraft);
  placeCacheMarks(body, finished, request, context);
  // The last member, so that a longer conversation begins with the same bytes.
  body.messages = finished;
  return body;
}

const NO_MEMBERS: JsonObject = {};

function encodeContext({ answerFormat }: ChatRequest, context: CodecContext): EncodeContext {
  return {
    ...encodeContextOf(context),
    facts: factsFor(context.target),
    bound: answerFormat?.type === "json-schema",
  };
}

function encodeMaxTokens(request: ChatRequest, { facts, reportLoss }: EncodeContext): number {
  const { maxTokens: wanted } = request;
  if (wanted === undefined) return defaultMaxTokens(facts);
  if (wanted > facts.maxTokens)
    reportLoss(
      "clamped",
      fieldPath(request, "maxTokens"),
      `the model's output limit is ${facts.maxTokens} tokens`,
    );
  return Math.min(wanted, facts.maxTokens);
}

/** Returns the names of all declared and called tools, in their order. */
function namesIn({ tools, turns, toolChoice }: ChatRequest): string[] {
  const names: string[] = [];
  for (const { kind, name } of tools) if (kind !== "foreign") names.push(name);
  for (const { blocks } of turns)
    for (const block of blocks) if (block.type === "tool-call") names.push(block.name);
  if (toolChoice?.type === "tool") names.push(toolChoice.name);
  return names;
}

function isOn({ thinking }: EncodedReasoning, facts: ModelFacts): boolean {
  return thinking ? thinking.type !== "disabled" : facts.thinksByDefault;
}

/**
 * Drops a thinking budget where Anthropic refuses it: with a forced tool, which the client needs more, and after tool
 * results if the reasoning before the tool call is missing.
 */
function settleThinking(
  reasoning: EncodedReasoning,
  messages: readonly Draft[],
  forced: boolean,
  request: ChatRequest,
  { reportLoss }: EncodeContext,
): EncodedReasoning {
  if (reasoning.thinking?.type !== "enabled") return reasoning;
  const reason = forced
    ? "not possible with a forced tool"
    : isMidToolUseUnsigned(messages)
      ? "the reasoning before the last tool call is missing"
      : undefined;
  if (reason === undefined) return reasoning;
  reportLoss("dropped", fieldPath(request, "reasoning"), reason);
  return { ...reasoning, thinking: undefined };
}

/** Whether the last assistant message called tools and does not begin with reasoning. */
function isMidToolUseUnsigned(messages: readonly Draft[]): boolean {
  const last = messages.findLast(({ role }) => role === "assistant");
  if (!last?.blocks.some(({ wire }) => wire.type === "tool_use")) return false;
  const after = messages[messages.indexOf(last) + 1];
  if (!after?.blocks.some(({ wire }) => wire.type === "tool_result")) return false;
  const first = last.blocks[0]?.wire.type;
  return first !== "thinking" && first !== "redacted_thinking";
}

function addSampling(body: JsonObject, { temperature, topP, topK }: Sampling): void {
  if (temperature !== undefined) body.temperature = temperature;
  if (topP !== undefined) body.top_p = topP;
  if (topK !== undefined) body.top_k = topK;
}

function encodeStop(request: ChatRequest, { reportLoss }: EncodeContext): JsonObject | undefined {
  const { stop } = request;
  if (stop.length === 0) return undefined;
  const kept = stop.filter((text) => text.trim() !== "");
  if (kept.length < stop.length)
    reportLoss("dropped", fieldPath(request, "stop"), "the provider refuses blank stop sequences");
  return kept.length > 0 ? { stop_sequences: kept } : undefined;
}

function encodeThinking(
  { thinking }: EncodedReasoning,
  rest: Json | undefined,
  { facts, sameFormat, traits }: EncodeContext,
): JsonObject | undefined {
  const needsBinding = facts.bindsReasoning && traits.blockBinding === true && !sameFormat;
  // The translated conversation may differ from the one that the reasoning is bound to: ask to drop such blocks.
  const bound = needsBinding && { block_binding: { prefix_mismatch_behavior: "drop_block" } };
  if (!thinking) {
    if (isObject(rest) && rest.type !== undefined) return { thinking: rest };
    return bound && facts.thinksByDefault ? { thinking: { type: "adaptive", ...bound } } : undefined;
  }
  return {
    thinking: { ...thinking, ...(isObject(rest) && rest), ...(thinking.type === "adaptive" && bound) },
  };
}

function encodeOutput(
  effort: string | undefined,
  format: JsonObject | undefined,
  rest: Json | undefined,
): JsonObject | undefined {
  if (effort === undefined && !format && rest === undefined) return undefined;
  const output: JsonObject = {
    ...(effort !== undefined && { effort }),
    ...(format && { format }),
    ...(isObject(rest) && rest),
  };
  return Object.keys(output).length > 0 ? { output_config: output } : undefined;
}

/** weir hashes names and e-mail addresses of users; a client of this format decides itself. */
function encodeUser(
  user: string | undefined,
  rest: Json | undefined,
  { sameFormat }: EncodeContext,
): JsonObject | undefined {
  if (user === undefined && rest === undefined) return undefined;
  const metadata: JsonObject = {
    ...(isObject(rest) && rest),
    ...(user !== undefined && { user_id: sameFormat ? user : maskUser(user) }),
  };
  return Object.keys(metadata).length > 0 ? { metadata } : undefined;
}

/** `auto` is the default and uses priority capacity if there is any. */
const SERVICE_TIERS: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    standard: "standard_only",
    flex: "standard_only",
    priority: "auto",
    scale: "auto",
  }),
);

function encodeServiceTier(
  request: ChatRequest,
  { facts, reportLoss }: EncodeContext,
): JsonObject | undefined {
  const { serviceTier: tier } = request;
  if (tier === undefined || tier === "auto") return undefined;
  if (tier === "flex" || tier === "fast" || !SERVICE_TIERS.has(tier))
    reportLoss(tier === "flex" ? "converted" : "dropped", fieldPath(request, "serviceTier"));
  const word = SERVICE_TIERS.get(tier);
  return word !== undefined && facts.claude ? { service_tier: word } : undefined;
}
