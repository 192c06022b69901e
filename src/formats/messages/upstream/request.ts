/** The canonical request → a Messages request. Equal requests give equal bytes, because prompt caches compare them. */
import type { Call } from "../../../core/call.ts";
import type { ChatRequest } from "../../../core/chat.ts";
import { maskUser, ToolNames } from "../../../core/ids.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import type { ModelFacts } from "../models.ts";
import { defaultMaxTokens, modelFacts } from "../models.ts";
import type { EncodeContext } from "./content.ts";
import { FORMAT } from "./content.ts";
import { placeCacheMarks } from "./caching.ts";
import { checkExtra } from "./extra.ts";
import { fieldPath } from "./paths.ts";
import type { EncodedReasoning } from "./reasoning.ts";
import { encodeReasoning } from "./reasoning.ts";
import { bindAnswer } from "./answer-format.ts";
import { encodeTools, isForced } from "./tools.ts";
import type { Draft } from "./tool-results.ts";
import { encodeTurns, endWithUser, finishDraft } from "./messages.ts";

/**
 * Writes the body and records on the call what is not carried over as it was.
 * @throws GatewayError `invalid-request` for what the format cannot express and the caller cannot do without.
 */
export function encodeRequest(request: ChatRequest, call: Call): JsonObject {
  checkExtra(request, call);
  const model = call.target?.model ?? request.model;
  const facts = modelFacts(model);
  const maxTokens = encodeMaxTokens(request.maxTokens, facts, call);
  const context: EncodeContext = { call, facts, bound: request.answerFormat?.type === "json-schema" };
  const names = new ToolNames(namesIn(request), call.toolNames);
  const turns = encodeTurns(request, names, context);
  const { tools, choice, sentence } = encodeTools(request, names, facts, call);
  const answer = bindAnswer(request, tools.length > 0, facts, call);
  const wished = encodeReasoning(request, turns.effort, maxTokens, facts, call);
  const reasoning = settleThinking(
    wished,
    turns.messages,
    isForced(request) && choice?.type !== "auto",
    call,
  );
  const thinks = isOn(reasoning, facts);
  const messages = endWithUser(turns.messages, facts.prefill && !thinks && !context.bound, context);
  const system = [...turns.system, ...sentences(sentence, answer.sentence)];
  const extra = request.extra[FORMAT] ?? {};

  const body: JsonObject = {
    model,
    max_tokens: maxTokens,
    ...(request.stream && { stream: true }),
    ...encodeSampling(request, thinks, facts, call),
    ...encodeStop(request.stop, call),
    ...encodeThinking(reasoning, extra.thinking, facts, call),
    ...encodeOutput(reasoning.effort, answer.format, extra.output_config),
    ...encodeUser(request.user, extra.metadata, call),
    ...encodeServiceTier(request.serviceTier, facts, call),
    ...without(extra, ["thinking", "output_config", "metadata", "context_management"]),
    ...encodeContextManagement(
      extra.context_management,
      wished.thinking !== undefined && !reasoning.thinking,
    ),
    ...(system.length > 0 && { system }),
    ...withTools([...tools, ...answer.tools], answer.choice ?? choice),
    messages: messages.map(finishDraft),
  };
  placeCacheMarks(body, request, facts, call);
  return lastMember(body, "messages");
}

function encodeMaxTokens(wanted: number | undefined, facts: ModelFacts, call: Call): number {
  if (wanted === undefined) return defaultMaxTokens(facts);
  if (wanted > facts.maxTokens)
    call.reportLoss("clamped", "max_tokens", `the model writes at most ${facts.maxTokens}`);
  return Math.min(wanted, facts.maxTokens);
}

/** Names of all tools, declared and called, in the order they appear. */
function namesIn({ tools, turns, toolChoice }: ChatRequest): string[] {
  const called = turns.flatMap(({ blocks }) =>
    blocks.flatMap((block) => (block.type === "tool-call" ? [block.name] : [])),
  );
  const chosen = toolChoice?.type === "tool" ? [toolChoice.name] : [];
  return [...tools.filter(({ kind }) => kind !== "foreign").map(({ name }) => name), ...called, ...chosen];
}

function isOn({ thinking }: EncodedReasoning, facts: ModelFacts): boolean {
  return thinking ? thinking.type !== "disabled" : facts.thinksByDefault;
}

/**
 * A thinking budget and a forced tool exclude each other: the tool is what the caller's program needs. A
 * budget also excludes a history that goes on behind a tool call without the reasoning in front of it.
 */
function settleThinking(
  reasoning: EncodedReasoning,
  messages: readonly Draft[],
  forced: boolean,
  call: Call,
): EncodedReasoning {
  if (reasoning.thinking?.type !== "enabled") return reasoning;
  const reason = forced
    ? "a tool is forced"
    : isMidToolUseUnsigned(messages)
      ? "the reasoning in front of the last tool call is missing"
      : undefined;
  if (reason === undefined) return reasoning;
  call.reportLoss("dropped", fieldPath("thinking", call), reason);
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

function encodeSampling(request: ChatRequest, thinks: boolean, facts: ModelFacts, call: Call): JsonObject {
  const { temperature, topP, topK } = request;
  const drop = (field: string) =>
    call.reportLoss("dropped", field, thinks ? "the model thinks" : "the model samples by itself");
  if (!facts.sampling || (thinks && facts.claude)) {
    const keepsTopP = facts.sampling && topP !== undefined && topP >= 0.95 && topP <= 1;
    if (temperature !== undefined) drop("temperature");
    if (topP !== undefined && !keepsTopP) drop("top_p");
    if (topK !== undefined) drop("top_k");
    return keepsTopP ? { top_p: topP } : {};
  }
  if (temperature !== undefined && temperature > 1) call.reportLoss("clamped", "temperature");
  const both = facts.claude && temperature !== undefined && topP !== undefined;
  if (both) call.reportLoss("dropped", "top_p", "only one of temperature and top_p is taken");
  return {
    ...(temperature !== undefined && { temperature: Math.min(1, temperature) }),
    ...(topP !== undefined && !both && { top_p: topP }),
    ...(topK !== undefined && { top_k: topK }),
  };
}

function encodeStop(stop: readonly string[], call: Call): JsonObject {
  const kept = stop.filter((text) => text.trim() !== "");
  if (kept.length < stop.length) call.reportLoss("dropped", fieldPath("stop", call), "blank stop sequences");
  return kept.length > 0 ? { stop_sequences: kept } : {};
}

function encodeThinking(
  { thinking }: EncodedReasoning,
  rest: Json | undefined,
  facts: ModelFacts,
  call: Call,
): JsonObject {
  const binding =
    facts.bindsReasoning && call.target?.provider.traits?.blockBinding === true && call.format !== FORMAT;
  // Rendered anew, a transcript cannot be promised to equal what the model saw when it thought.
  const bound = binding && { block_binding: { prefix_mismatch_behavior: "drop_block" } };
  if (!thinking) {
    if (isObject(rest) && rest.type !== undefined) return { thinking: rest };
    return bound && facts.thinksByDefault ? { thinking: { type: "adaptive", ...bound } } : {};
  }
  return {
    thinking: { ...thinking, ...(isObject(rest) && rest), ...(thinking.type === "adaptive" && bound) },
  };
}

function encodeOutput(
  effort: string | undefined,
  format: JsonObject | undefined,
  rest: Json | undefined,
): JsonObject {
  const output: JsonObject = {
    ...(effort !== undefined && { effort }),
    ...(format && { format }),
    ...(isObject(rest) && rest),
  };
  return Object.keys(output).length > 0 ? { output_config: output } : {};
}

/** A person's name or address does not leave; within one format the client's own word passes. */
function encodeUser(user: string | undefined, rest: Json | undefined, call: Call): JsonObject {
  const metadata: JsonObject = {
    ...(isObject(rest) && rest),
    ...(user !== undefined && { user_id: call.format === FORMAT ? user : maskUser(user) }),
  };
  return Object.keys(metadata).length > 0 ? { metadata } : {};
}

/** The words of both client formats; `auto` is what leaving it out means. */
const SERVICE_TIERS: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    standard_only: "standard_only",
    default: "standard_only",
    flex: "standard_only",
    priority: "auto",
    scale: "auto",
  }),
);

function encodeServiceTier(tier: string | undefined, facts: ModelFacts, call: Call): JsonObject {
  if (tier === undefined || tier === "auto") return {};
  if (tier === "flex" || tier === "fast" || !SERVICE_TIERS.has(tier))
    call.reportLoss(tier === "flex" ? "converted" : "dropped", "service_tier");
  const word = SERVICE_TIERS.get(tier);
  return word !== undefined && facts.claude ? { service_tier: word } : {};
}

/** Clearing thinking is refused where there is none: the edit goes with the thinking it is about. */
function encodeContextManagement(value: Json | undefined, thinkingDropped: boolean): JsonObject {
  if (value === undefined) return {};
  if (!thinkingDropped || !isObject(value) || !Array.isArray(value.edits))
    return { context_management: value };
  const edits = value.edits.filter(
    (edit) => !(isObject(edit) && String(edit.type).startsWith("clear_thinking")),
  );
  return edits.length > 0 ? { context_management: { ...value, edits } } : {};
}

function sentences(...texts: (string | undefined)[]): JsonObject[] {
  return texts.flatMap((text) => (text === undefined ? [] : [{ type: "text", text }]));
}

function withTools(tools: JsonObject[], choice: JsonObject | undefined): JsonObject {
  return tools.length === 0 ? {} : { tools, ...(choice && { tool_choice: choice }) };
}

function without(members: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)));
}

/** The conversation comes last: what grows from turn to turn stands behind what stays. */
function lastMember(body: JsonObject, name: string): JsonObject {
  const { [name]: last, ...rest } = body;
  return { ...rest, [name]: last };
}
