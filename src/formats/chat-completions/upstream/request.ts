/** Encodes a canonical request. Equal requests give equal bytes (src/formats/README.md#determinism). */
import type { ChatRequest } from "../../../core/chat.ts";
import type { CodecContext, CodecTarget } from "../../../core/context.ts";
import { maskUser, ToolNames } from "../../../core/ids.ts";
import type { JsonObject } from "../../../core/json.ts";
import { invalidRequest } from "../../../core/error.ts";
import { encodeContextOf } from "../../shared/encode-context.ts";
import { toolNames } from "../../shared/openai-tools.ts";
import { fieldPath, turnPath } from "../../shared/paths.ts";
import { modelFacts, takesSampling } from "../models.ts";
import { FORMAT } from "../own-fields.ts";
import type { EncodeContext } from "./content.ts";
import { encodeExtra } from "./extra.ts";
import { limitField } from "./limit-field.ts";
import { encodeMessages } from "./messages.ts";
import { splitStop } from "./stop-sequences.ts";
import { encodeTools } from "./tools.ts";
import { encodeAnswerFormat } from "./answer-format.ts";
import { encodeEffort } from "./reasoning.ts";

/**
 * Encodes the body. `messages` comes last, so that a longer conversation begins with the bytes of the shorter one.
 * @throws GatewayError `invalid-request` for what weir can neither translate nor drop
 */
export function encodeRequest(request: ChatRequest, codecContext: CodecContext): JsonObject {
  const { target } = codecContext;
  const context = encodeContext(request, codecContext);
  const { field: responseFormat, instruction } = encodeAnswerFormat(request, context);
  const effort = encodeEffort(request, context);
  const messages = encodeMessages(request, instruction, context);
  if (messages.length === 0) throw noContent(fieldPath(request, "turns"));
  reportPrefill(request, context);
  return {
    model: target.model,
    ...(request.stream && encodeStreaming(context)),
    ...encodeLimit(request, target, context),
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

function noContent(path: string) {
  return invalidRequest(`${path}: at least one message must have content.`, path, "invalid_value");
}

function encodeContext(request: ChatRequest, context: CodecContext): EncodeContext {
  return {
    ...encodeContextOf(context),
    format: FORMAT,
    facts: modelFacts(context.target.model),
    names: new ToolNames(toolNames(request), context.toolNames),
  };
}

function encodeStreaming({ traits }: EncodeContext): JsonObject {
  return { stream: true, ...(traits.streamOptions !== false && { stream_options: { include_usage: true } }) };
}

function encodeLimit(
  request: ChatRequest,
  target: CodecTarget,
  { facts, reportLoss }: EncodeContext,
): JsonObject {
  const { maxTokens } = request;
  if (maxTokens === undefined) return {};
  const most = facts?.maxOutput ?? Number.POSITIVE_INFINITY;
  if (maxTokens > most)
    reportLoss("clamped", fieldPath(request, "maxTokens"), `the model's output limit is ${most} tokens`);
  return { [limitField(target)]: Math.min(maxTokens, most) };
}

function encodeSampling(
  request: ChatRequest,
  effort: string | undefined,
  { traits, facts, reportLoss }: EncodeContext,
): JsonObject {
  const { temperature, topP, topK } = request;
  const sent: JsonObject = {};
  if (takesSampling(facts, effort)) {
    if (temperature !== undefined) sent.temperature = temperature;
    if (topP !== undefined) sent.top_p = topP;
  } else {
    // Omitting the default value is no loss.
    if (temperature !== undefined && temperature !== 1)
      reportLoss("dropped", fieldPath(request, "temperature"), "the model does not take this field");
    if (topP !== undefined && topP !== 1)
      reportLoss("dropped", fieldPath(request, "topP"), "the model does not take this field");
  }
  if (topK !== undefined && traits.topK) sent.top_k = topK;
  else if (topK !== undefined)
    reportLoss("dropped", fieldPath(request, "topK"), "the provider does not accept this field");
  return sent;
}

/** Always a list: some servers refuse a string. */
function encodeStop(request: ChatRequest, context: EncodeContext): JsonObject {
  const { sent } = splitStop(request.stop, context);
  return sent.length > 0 ? { stop: sent } : {};
}

function encodeIdentity(
  { user, session, serviceTier }: ChatRequest,
  { sameFormat, traits }: EncodeContext,
): JsonObject {
  // Tiers of other vendors have other prices and queues.
  const tier = serviceTier === "standard" ? "default" : sameFormat ? serviceTier : undefined;
  return {
    ...(user !== undefined && { [traits.userField ?? "user"]: maskUser(user) }),
    ...(session !== undefined && traits.promptCacheKey && { prompt_cache_key: maskUser(session) }),
    ...(tier !== undefined && { service_tier: tier }),
  };
}

/** Reports a loss for a last message of the assistant (prefill): not every model continues it. */
function reportPrefill(request: ChatRequest, { sameFormat, reportLoss }: EncodeContext): void {
  const last = request.turns.at(-1);
  if (sameFormat || last?.role !== "assistant") return;
  if (last.blocks.some((block) => block.type === "tool-call")) return;
  reportLoss("downgraded", turnPath(last, request), "the model may not continue the last assistant message");
}
