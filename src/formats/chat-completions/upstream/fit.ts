/**
 * Fits the body of a client of the format to what the host can do, as the config says it. Members that the host takes stay the
 * same values, so that the native lane sends their bytes unchanged.
 */
import type { CodecContext, CodecTarget } from "../../../core/context.ts";
import { isObject, type JsonObject } from "../../../core/json.ts";
import { encodeAnswerFormat } from "../../shared/openai-answer-format.ts";
import { encodeContextOf } from "../../shared/encode-context.ts";
import { decodeAnswerFormat } from "../client/request.ts";
import { type FitContext, fitMessages, fitTools, UNSUPPORTED } from "./fit-members.ts";
import { list } from "../../shared/read.ts";
import { modelFacts } from "../../shared/openai-models.ts";
import { MISTRAL_IDS } from "./messages.ts";
import { planStop } from "./stop-sequences.ts";
import type { MaxTokensField } from "../../../core/provider.ts";

/** @returns a body with other members, or the same values */
export function fit(body: JsonObject, codecContext: CodecContext): JsonObject {
  const { model, sameFormat, target } = codecContext;
  const context: FitContext = {
    ...{ model, sameFormat, target },
    reportLoss: (code, path, note) => codecContext.reportLoss(code, path, note),
  };
  const fitted = { ...body };
  fitStream(fitted, context);
  fitLimit(fitted, context);
  fitChoices(fitted, body["stream"] !== fitted["stream"], context);
  fitTools(fitted, context);
  fitEffort(fitted, context);
  const instruction = fitAnswerFormat(fitted, context);
  if (Array.isArray(body.messages)) fitted.messages = fitMessages(body.messages, instruction, context);
  return fitted;
}

/** A host that does not stream is asked for JSON; one whose JSON has no token counts for a stream, unless it has several choices. */
function fitStream(body: JsonObject, { target: { traits }, reportLoss }: FitContext): void {
  const canCount = traits.streaming !== false && traits.streamOptions !== false;
  if (traits.streaming === false) {
    if (body.stream === true) body.stream = false;
    delete body.stream_options;
  }
  if (traits.jsonUsage === false && body.stream !== true) {
    const isPlain = (body.n == null || body.n === 1) && body.logprobs !== true;
    if (canCount && isPlain) body.stream = true;
    else reportLoss("dropped", "usage", "answers of the provider in JSON have no token counts");
  }
  if (traits.streamOptions !== false || body.stream_options === undefined) return;
  delete body.stream_options;
  reportLoss("dropped", "stream_options", UNSUPPORTED);
}

const LIMITS = ["max_tokens", "max_completion_tokens"] as const;

/** Renames the limit to the name that the host takes, if the config says it. */
function fitLimit(body: JsonObject, { target, reportLoss }: FitContext): void {
  const given = LIMITS.find((name) => body[name] != null);
  if (given === undefined) return;
  if (target.traits.outputLimit === false) {
    for (const name of LIMITS) delete body[name];
    reportLoss("dropped", given, "the provider keeps to no output limit");
    return;
  }
  const field = limitField(target);
  if (target.maxTokensField === undefined || given === field) return;
  const limit = body[given]!;
  delete body[given];
  body[field] ??= limit;
}

/** @param converts weir reads the whole answer to write it in the other form, which carries one choice and no log probabilities */
function fitChoices(
  body: JsonObject,
  converts: boolean,
  { target: { traits }, reportLoss }: FitContext,
): void {
  if ((traits.n === false || converts) && typeof body.n === "number") {
    if (body.n > 1) reportLoss("dropped", "n", UNSUPPORTED);
    delete body.n;
  }
  if (traits.logprobs !== false && !converts) return;
  if (body.logprobs === true) reportLoss("dropped", "logprobs", UNSUPPORTED);
  delete body.logprobs;
  delete body.top_logprobs;
}

function fitEffort(body: JsonObject, { target: { traits }, reportLoss }: FitContext): void {
  if (traits.reasoningEffort !== false || body.reasoning_effort === undefined) return;
  delete body.reasoning_effort;
  reportLoss("dropped", "reasoning_effort", UNSUPPORTED);
}

/** @returns what the prompt must ask for instead */
function fitAnswerFormat(body: JsonObject, context: FitContext): string | undefined {
  const { response_format: given } = body;
  if (!isObject(given)) return undefined;
  const request = { answerFormat: decodeAnswerFormat(given), paths: { answerFormat: "response_format" } };
  const { field, instruction } = encodeAnswerFormat(request, encodeContextOf(context));
  if (instruction === undefined) return undefined;
  if (field) body.response_format = field;
  else delete body.response_format;
  return instruction;
}

/**
 * Whether a request of the format's own clients cannot go to the host in the client's form: stop sequences that weir has to watch for, ids of calls that it has to exchange, reasoning that it has to add again, and a
 * choice among several tools: they concern more than single members of the request.
 */
export function mustTranslate({ fitsNative, traits, model }: CodecTarget, body: () => JsonObject): boolean {
  if (!fitsNative) return false;
  const { stop, tools, messages, tool_choice: choice } = body();
  const stops = typeof stop === "string" ? [stop] : list(stop).filter((one) => typeof one === "string");
  const { watched } = planStop(stops, { traits, facts: modelFacts(model) });
  if (traits.maxStop !== undefined && watched.length > 0) return true;
  const takesChoices = traits.forcedToolChoice !== false && traits.namedToolChoice !== false;
  if (!takesChoices && isObject(choice) && choice.type === "allowed_tools") return true;
  // Reasoning of the answer to this request can be added to the next one only if weir has read it.
  const ids = callIdsIn(list(messages));
  if (traits.reasoningReplay === "required" && list(tools).length + ids.length > 0) return true;
  return traits.toolIds === "mistral" && ids.some((id) => !MISTRAL_IDS.legal.test(id));
}

function callIdsIn(messages: readonly unknown[]): string[] {
  return messages
    .flatMap((message) => (isObject(message) ? list(message.tool_calls) : []))
    .flatMap((call) => (isObject(call) && typeof call.id === "string" ? call.id : []));
}

/** The field for the output limit. Hosts ignore a limit under a name they do not know; most know `max_tokens`. */
export function limitField({ maxTokensField, model }: CodecTarget): MaxTokensField {
  if (maxTokensField) return maxTokensField;
  // Aggregators put the name of the vendor before that of the model.
  const facts = modelFacts(model) ?? modelFacts(model.split("/").at(-1)!);
  return facts?.completionTokens ? "max_completion_tokens" : "max_tokens";
}

/**
 * Renames `max_completion_tokens` to `max_tokens` for hosts other than the vendor that know only the latter. The other
 * direction is not needed: hosts that require `max_completion_tokens` refuse the other name with a 400.
 */
export function renamedMembers(target: CodecTarget): readonly (readonly [from: string, to: string])[] {
  return !target.isVendor && limitField(target) === "max_tokens"
    ? [["max_completion_tokens", "max_tokens"]]
    : [];
}
