/**
 * llama.cpp's `POST /infill`, which fills the middle of a text with the tokens that its model has for it. Its endpoint for
 * completions ignores a text behind the prompt.
 */
import type { ChatRequest } from "../../../core/chat.ts";
import type { CodecContext } from "../../../core/context.ts";
import type { ChatEvent } from "../../../core/events.ts";
import type { AnswerReader, Frame } from "../../../core/format.ts";
import { isObject, type JsonObject } from "../../../core/json.ts";
import { INFILL } from "../own-fields.ts";
import { CompletionReader, readAnswer } from "./answer.ts";
import { encodeFor } from "./request.ts";

/** @throws GatewayError as `encodeRequest` */
export function encodeInfillRequest(request: ChatRequest, context: CodecContext): JsonObject {
  const { prompt, suffix, max_tokens: most, ...rest } = encodeFor(INFILL, request, context);
  return {
    ...rest,
    input_prefix: prompt,
    input_suffix: suffix ?? "",
    // What stands behind the token for the middle.
    prompt: "",
    ...(most !== undefined && { n_predict: most }),
  };
}

export function readInfillAnswer(body: JsonObject, context: CodecContext): ChatEvent[] {
  return readAnswer(asCompletion(body), context);
}

export function readInfillStream(_context: CodecContext): AnswerReader {
  return new InfillReader();
}

/** llama.cpp ends a stream with `stop: true`, and no further word. */
class InfillReader extends CompletionReader {
  override read(chunk: JsonObject, frame: Frame): ChatEvent[] {
    return super.read(asCompletion(chunk), frame);
  }
}

/** An answer, or a piece of one, in the shape of a completion; an error stays as it is. */
function asCompletion(body: JsonObject): JsonObject {
  const { content, stop, stop_type: ended, stopped_limit: isCut, model } = body;
  if (typeof content !== "string") return body;
  const finish = ended === "limit" || isCut === true ? "length" : "stop";
  const choice = { index: 0, text: content, finish_reason: stop === true ? finish : null };
  return {
    ...(typeof model === "string" && { model }),
    choices: [choice],
    ...(stop === true && { usage: usageOf(body) }),
  };
}

function usageOf({ tokens_evaluated: read, tokens_predicted: written, timings }: JsonObject): JsonObject {
  const cached = isObject(timings) ? timings["cache_n"] : undefined;
  return {
    ...(read !== undefined && { prompt_tokens: read }),
    ...(written !== undefined && { completion_tokens: written }),
    ...(cached !== undefined && { prompt_tokens_details: { cached_tokens: cached } }),
  };
}
