/** Encodes a canonical request as one for a completion. */
import type { ChatRequest } from "../../../core/chat.ts";
import type { CodecContext } from "../../../core/context.ts";
import { invalidRequest } from "../../../core/error.ts";
import type { JsonObject } from "../../../core/json.ts";
import { encodeContextOf } from "../../../formats/shared/encode-context.ts";
import { encodeExtraFields } from "../../../formats/shared/extra-fields.ts";
import { checkForeignFields } from "../../../formats/shared/foreign-fields.ts";
import { sharedFields } from "../../../formats/shared/own-fields.ts";
import { fieldPath } from "../../../formats/shared/paths.ts";
import { FIM, FORMAT } from "../own-fields.ts";

/** @throws GatewayError for a request that is none for a completion, and for fields that weir must not drop */
export function encodeRequest(request: ChatRequest, context: CodecContext): JsonObject {
  const body = encodeCommon(request, context);
  const { user } = request;
  if (user !== undefined) body.user = user;
  if (request.stream) body.stream_options = { include_usage: true };
  return { ...body, ...extraOf(request, FORMAT, "seed", context) };
}

/** The same for Mistral. */
export function encodeFimRequest(request: ChatRequest, context: CodecContext): JsonObject {
  return encodeFor(FIM, request, context);
}

/** The same for hosts that take no user. */
export function encodeFor(format: string, request: ChatRequest, context: CodecContext): JsonObject {
  const body = encodeCommon(request, context);
  if (request.user !== undefined)
    context.reportLoss("dropped", fieldPath(request, "user"), "the provider does not accept a user id");
  return { ...body, ...extraOf(request, format, format === FIM ? "random_seed" : "seed", context) };
}

function encodeCommon(request: ChatRequest, context: CodecContext): JsonObject {
  const { completion, maxTokens, temperature, topP, stop, stream } = request;
  if (!completion)
    throw invalidRequest(`The model ${context.model} completes prompts; it takes no conversation.`, "model");
  const { prompt, suffix } = completion;
  return {
    model: context.target.model,
    prompt,
    ...(suffix !== undefined && { suffix }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(stop.length > 0 && { stop }),
    ...(stream && { stream: true }),
  };
}

/** The suffix of Ollama's clients is in the body. */
function withoutSuffix(request: ChatRequest): ChatRequest {
  const without = ({ suffix: _carried, ...others }: JsonObject): JsonObject => others;
  const extra = Object.entries(request.extra).map(([format, fields]) => [format, without(fields)]);
  return { ...request, extra: Object.fromEntries(extra) };
}

/** Fields of the format itself, and those of others that mean the same. */
function extraOf(request: ChatRequest, format: string, seedName: string, context: CodecContext): JsonObject {
  const hasPenalties = format !== FIM;
  checkForeignFields(
    withoutSuffix(request),
    format,
    context,
    hasPenalties ? ["seed", "presencePenalty", "frequencyPenalty"] : ["seed"],
  );
  const { seed, presencePenalty, frequencyPenalty } = sharedFields(request, format);
  return {
    ...(seed !== undefined && { [seedName]: seed }),
    ...(hasPenalties && presencePenalty !== undefined && { presence_penalty: presencePenalty }),
    ...(hasPenalties && frequencyPenalty !== undefined && { frequency_penalty: frequencyPenalty }),
    ...encodeExtraFields({ ...request, ownFields: {} }, format, {}, encodeContextOf(context)),
  };
}
