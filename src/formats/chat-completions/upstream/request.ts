/** Encodes a canonical request. Equal requests give equal bytes (src/formats/README.md#determinism). */
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
 * Encodes the body. `messages` comes last, so that a longer conversation begins with the bytes of the shorter one.
 * @throws GatewayError `invalid-request` for what weir can neither translate nor drop
 */
export function encodeRequest(request: ChatRequest, call: Call): JsonObject {
  const context = contextOf(request, call);
  const { field: responseFormat, instruction } = encodeAnswerFormat(request.answerFormat, context);
  const effort = encodeEffort(request, context);
  const messages = encodeMessages(request, instruction, context);
  if (messages.length === 0)
    throw invalidRequest("messages: at least one message must have content.", "messages", "invalid_value");
  reportPrefill(request, call);
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
    call.reportLoss("clamped", fieldPath(call, "maxTokens"), `the model's output limit is ${most} tokens`);
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
    // Omitting the default value is no loss.
    if (temperature !== undefined && temperature !== 1)
      call.reportLoss("dropped", "temperature", "the model does not take this field");
    if (topP !== undefined && topP !== 1)
      call.reportLoss("dropped", "top_p", "the model does not take this field");
  }
  if (topK !== undefined && traits.topK) sent.top_k = topK;
  return sent;
}

/** Always a list: some servers refuse a string. */
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

/** Tiers of other formats; those of this format are passed on. */
const TIERS: Record<string, string> = { standard_only: "default" };

function encodeTier(tier: string, call: Call): string | undefined {
  if (call.format === FORMAT) return tier;
  return getOwn(TIERS, tier);
}

/** Reports a loss for a last message of the assistant (prefill): not every model continues it. */
function reportPrefill(request: ChatRequest, call: Call): void {
  const last = request.turns.at(-1);
  if (call.format === FORMAT || last?.role !== "assistant") return;
  if (last.blocks.some((block) => block.type === "tool-call")) return;
  call.reportLoss(
    "downgraded",
    turnPaths(request.turns, call).at(-1)!,
    "the model may not continue the last assistant message",
  );
}
