/** Canonical request → chat-completions request. Fixed order, nothing random: histories are cached. */
import type { Call } from "../../../core/call.ts";
import type { ChatRequest } from "../../../core/chat.ts";
import { maskUser, ToolNames } from "../../../core/ids.ts";
import type { JsonObject } from "../../../core/json.ts";
import { invalidRequest } from "../../../core/error.ts";
import { getOwn } from "../../../core/own.ts";
import type { Traits } from "../../../core/provider.ts";
import { modelFacts, takesSampling } from "../models.ts";
import { type EncodeContext, FORMAT } from "./content.ts";
import { encodeExtra } from "./extra.ts";
import { limitField } from "./limit-field.ts";
import { fieldPath, turnPaths } from "./paths.ts";
import { encodeMessages } from "./messages.ts";
import { splitStop } from "./stop-sequences.ts";
import { encodeTools, toolNames } from "./tools.ts";
import { encodeAnswerFormat } from "./answer-format.ts";
import { encodeEffort } from "./reasoning.ts";

/**
 * Writes the body. The messages stand last, so that a longer conversation begins with the bytes of the shorter one.
 * @throws GatewayError `invalid-request` for what nothing may stand in for.
 */
export function encodeRequest(request: ChatRequest, call: Call): JsonObject {
  const context = contextOf(request, call);
  const { field: responseFormat, instruction } = encodeAnswerFormat(request.answerFormat, context);
  const effort = encodeEffort(request, context);
  const messages = encodeMessages(request, instruction, context);
  if (messages.length === 0)
    throw invalidRequest("messages: at least one message has to say something.", "messages", "invalid_value");
  notePrefill(request, call);
  return {
    model: call.target?.model ?? request.model,
    ...(request.stream && encodeStreaming(context)),
    ...encodeLimit(request, context),
    ...encodeSampling(request, effort, context),
    ...encodeStop(request, context),
    ...(effort !== undefined && { reasoning_effort: effort }),
    ...(responseFormat && { response_format: responseFormat }),
    ...encodeIdentity(request, context),
    ...encodeExtra(request, effort, context),
    ...encodeTools(request, context),
    messages,
  };
}

function contextOf(request: ChatRequest, call: Call): EncodeContext {
  return {
    call,
    provider: call.target?.provider.name ?? "",
    traits: call.target?.provider.traits ?? {},
    facts: modelFacts(call.target?.model ?? request.model),
    names: new ToolNames(toolNames(request), call.toolNames),
  };
}

function encodeStreaming({ traits }: EncodeContext): JsonObject {
  return { stream: true, ...(traits.streamOptions !== false && { stream_options: { include_usage: true } }) };
}

function encodeLimit({ maxTokens }: ChatRequest, { call, facts }: EncodeContext): JsonObject {
  if (maxTokens === undefined) return {};
  const field = call.target ? limitField(call.target) : "max_tokens";
  const most = facts?.maxOutput ?? Number.POSITIVE_INFINITY;
  if (maxTokens > most)
    call.reportLoss("clamped", fieldPath(call, "maxTokens"), `the model writes ${most} tokens at most`);
  return { [field]: Math.min(maxTokens, most) };
}

function encodeSampling(
  { temperature, topP, topK }: ChatRequest,
  effort: string | undefined,
  { call, traits, facts }: EncodeContext,
): JsonObject {
  const sent: JsonObject = {};
  if (takesSampling(facts, effort)) {
    if (temperature !== undefined) sent.temperature = temperature;
    if (topP !== undefined) sent.top_p = topP;
  } else {
    // The default value says nothing: leaving it out loses nothing.
    if (temperature !== undefined && temperature !== 1)
      call.reportLoss("dropped", "temperature", "a reasoning model");
    if (topP !== undefined && topP !== 1) call.reportLoss("dropped", "top_p", "a reasoning model");
  }
  if (topK !== undefined && traits.topK) sent.top_k = topK;
  return sent;
}

/** Always a list: some servers refuse a single text. */
function encodeStop(request: ChatRequest, context: EncodeContext): JsonObject {
  const { sent } = splitStop(request.stop, context);
  return sent.length > 0 ? { stop: sent } : {};
}

function encodeIdentity(
  { user, session, serviceTier }: ChatRequest,
  { call, traits }: EncodeContext,
): JsonObject {
  const tier = serviceTier === undefined ? undefined : encodeTier(serviceTier, call);
  return {
    ...(user !== undefined && { [traits.userField ?? "user"]: maskUser(user) }),
    ...(session !== undefined && traits.promptCacheKey && { prompt_cache_key: maskUser(session) }),
    ...(tier !== undefined && { service_tier: tier }),
  };
}

/** Tiers of the messages format; those of this format are passed on. */
const TIERS: Record<string, string> = { standard_only: "default" };

function encodeTier(tier: string, call: Call): string | undefined {
  if (call.format === FORMAT) return tier;
  return getOwn(TIERS, tier);
}

/** A begun answer is left as the last message; whether the model goes on with it, nobody can promise. */
function notePrefill(request: ChatRequest, call: Call): void {
  const last = request.turns.at(-1);
  if (call.format === FORMAT || last?.role !== "assistant") return;
  if (last.blocks.some((block) => block.type === "tool-call")) return;
  call.reportLoss("downgraded", turnPaths(request.turns, call).at(-1)!, "the model may begin anew");
}
