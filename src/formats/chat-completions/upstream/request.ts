/** Encodes a canonical request. Equal requests give equal bytes (src/formats/README.md#determinism). */
import type { ChatRequest } from "../../../core/chat.ts";
import type { CodecContext, CodecTarget } from "../../../core/context.ts";
import { ToolNames } from "../../../core/ids.ts";
import type { JsonObject } from "../../../core/json.ts";
import { invalidRequest } from "../../../core/error.ts";
import { moveImages } from "../../shared/assistant-images.ts";
import { encodeContextOf } from "../../shared/encode-context.ts";
import { encodeIdentity, encodeSampling, reportPrefill } from "../../shared/openai-fields.ts";
import { toolNames } from "../../shared/openai-tools.ts";
import { fieldPath } from "../../shared/paths.ts";
import { reportUncarried } from "../../shared/uncarried.ts";
import { modelFacts } from "../../shared/openai-models.ts";
import { FORMAT } from "../own-fields.ts";
import type { EncodeContext } from "./content.ts";
import { encodeExtra } from "./extra.ts";
import { limitField } from "./fit.ts";
import { encodeMessages } from "./messages.ts";
import { planStop } from "./stop-sequences.ts";
import { encodeTools } from "./tools.ts";
import { encodeAnswerFormat } from "../../shared/openai-answer-format.ts";
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
  const messages = encodeMessages(moveImages(request, FORMAT, context), instruction, context);
  if (messages.length === 0) throw noContent(fieldPath(request, "turns"));
  reportPrefill(request, context);
  reportUncarried(request, { user: true, names: true, imageDetail: true }, context);
  let body: JsonObject = { model: target.model };
  if (request.stream) Object.assign(body, encodeStreaming(context));
  Object.assign(body, encodeLimit(request, target, context), encodeSampling(request, effort, context));
  Object.assign(body, encodeStop(request, context));
  if (effort !== undefined) body.reasoning_effort = effort;
  if (responseFormat) body.response_format = responseFormat;
  Object.assign(body, encodeIdentity(request, context));
  const others = encodeExtra(request, effort, context);
  // A spread, because assignment would not store a member named `__proto__`.
  if (others) body = { ...body, ...others };
  Object.assign(body, encodeTools(request, context));
  body.messages = messages;
  return body;
}

function noContent(path: string) {
  return invalidRequest(`${path}: at least one message must have content.`, path, "invalid_value");
}

function encodeContext(request: ChatRequest, context: CodecContext): EncodeContext {
  return {
    ...encodeContextOf(context),
    format: FORMAT,
    facts: modelFacts(context.target.model),
    isGemini: /(?:^|\/)gemini-/.test(context.target.model),
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
): JsonObject | undefined {
  const { maxTokens } = request;
  if (maxTokens === undefined) return undefined;
  if (target.traits.outputLimit === false) {
    reportLoss("dropped", fieldPath(request, "maxTokens"), "the provider keeps to no output limit");
    return undefined;
  }
  const most = facts?.maxOutput ?? Number.POSITIVE_INFINITY;
  if (maxTokens > most)
    reportLoss("clamped", fieldPath(request, "maxTokens"), `the model's output limit is ${most} tokens`);
  return { [limitField(target)]: Math.min(maxTokens, most) };
}

/** Always a list: some servers refuse a string. */
function encodeStop(request: ChatRequest, context: EncodeContext): JsonObject | undefined {
  if (request.stop.length === 0) return undefined;
  const { sent } = planStop(request.stop, context);
  return sent.length > 0 ? { stop: sent } : undefined;
}
