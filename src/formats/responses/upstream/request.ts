/** Encodes a canonical request. Equal requests give equal bytes (src/formats/README.md#determinism). */
import type { ChatRequest } from "../../../core/chat.ts";
import type { CodecContext } from "../../../core/context.ts";
import { invalidRequest } from "../../../core/error.ts";
import { ToolNames } from "../../../core/ids.ts";
import { isObject, type JsonObject } from "../../../core/json.ts";
import { encodeEffort } from "../../shared/effort.ts";
import { moveImages } from "../../shared/assistant-images.ts";
import { encodeContextOf } from "../../shared/encode-context.ts";
import { encodeIdentity, encodeSampling, reportPrefill } from "../../shared/openai-fields.ts";
import { toolNames } from "../../shared/openai-tools.ts";
import { fieldPath } from "../../shared/paths.ts";
import { reportUncarried } from "../../shared/uncarried.ts";
import { modelFacts } from "../../shared/openai-models.ts";
import { FORMAT } from "../own-fields.ts";
import type { EncodeContext } from "./content.ts";
import { encodeTurns, message } from "./messages.ts";
import { encodeReasoning } from "./reasoning.ts";
import { encodeTools } from "./tools.ts";
import { encodeAnswerFormat, type EncodedFormat } from "../../shared/openai-answer-format.ts";
import { encodeExtraFields } from "../../shared/extra-fields.ts";

/**
 * Encodes the body. `input` comes last, so that a longer conversation begins with the bytes of the shorter one.
 * @throws GatewayError `invalid-request` for what weir can neither translate nor drop
 */
export function encodeRequest(request: ChatRequest, codecContext: CodecContext): JsonObject {
  const context: EncodeContext = {
    ...encodeContextOf(codecContext),
    format: FORMAT,
    facts: modelFacts(codecContext.target.model),
    names: new ToolNames(toolNames(request), codecContext.toolNames),
  };
  const effort = encodeEffort(request, context);
  const reasoning = encodeReasoning(request, effort, context);
  const { text, instruction } = encodeText(request, context);
  const { instructions, input } = encodeTurns(moveImages(request, FORMAT, context), context);
  if (instruction !== undefined) instructions.push(instruction);
  const system = instructions.join("\n\n");
  if (input.length === 0 && system === "") throw noContent(fieldPath(request, "turns"));
  // With `json_object` the provider demands the word JSON in the input, and a client may have it in the system prompt only.
  const isInput = input.length === 0 || request.answerFormat?.type === "json";
  if (isInput && system !== "") input.unshift(message("developer", system));
  reportPrefill(request, context);
  reportUncarried(request, { user: true, imageDetail: true }, context);
  return {
    model: codecContext.target.model,
    ...(request.stream && { stream: true }),
    // The client repeats the whole conversation, so the provider need not store it.
    store: false,
    ...encodeLimit(request, context),
    ...encodeSampling(request, effort, context),
    ...reasoning,
    ...text,
    ...encodeIdentity(request, context),
    ...encodeTools(request, context),
    ...encodeExtraFields(request, FORMAT, { ...reasoning, ...text }, context),
    ...(!isInput && system !== "" && { instructions: system }),
    input,
  };
}

function noContent(path: string) {
  return invalidRequest(`${path}: at least one message must have content.`, path, "invalid_value");
}

/** The provider refuses a lower limit. */
const MIN_OUTPUT = 16;

function encodeLimit(request: ChatRequest, { facts, reportLoss }: EncodeContext): JsonObject {
  const { maxTokens } = request;
  if (maxTokens === undefined) return {};
  const most = facts?.maxOutput ?? Number.POSITIVE_INFINITY;
  const sent = Math.max(MIN_OUTPUT, Math.min(maxTokens, most));
  if (sent < maxTokens)
    reportLoss("clamped", fieldPath(request, "maxTokens"), `the model's output limit is ${most} tokens`);
  if (sent > maxTokens)
    reportLoss(
      "clamped",
      fieldPath(request, "maxTokens"),
      `the provider's lowest limit is ${MIN_OUTPUT} tokens`,
    );
  return { max_output_tokens: sent };
}

/** `text`, and a sentence for the system prompt if the field is not enough. */
function encodeText(
  request: ChatRequest,
  context: EncodeContext,
): { text: JsonObject; instruction?: string } {
  const { field, instruction } = encodeTextFormat(request, context);
  const { verbosity } = request;
  const text = { ...(field && { format: field }), ...(verbosity !== undefined && { verbosity }) };
  return { text: Object.keys(text).length > 0 ? { text } : {}, instruction };
}

/** Encodes `text.format`. The members that chat-completions nests under `json_schema` are beside `type`. */
function encodeTextFormat(request: ChatRequest, context: EncodeContext): EncodedFormat {
  const { field, instruction } = encodeAnswerFormat(request, context);
  if (!field || !isObject(field.json_schema)) return { field, instruction };
  const flat: JsonObject = { type: "json_schema", ...field.json_schema };
  return { field: flat, instruction };
}
