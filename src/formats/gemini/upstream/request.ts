/** Encodes a canonical request. Equal requests give equal bytes (src/formats/README.md#determinism). */
import type { ChatRequest, RequestField } from "../../../core/chat.ts";
import type { CodecContext } from "../../../core/context.ts";
import { invalidRequest } from "../../../core/error.ts";
import { ToolNames } from "../../../core/ids.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { encodeContextOf } from "../../shared/encode-context.ts";
import { toolNames } from "../../shared/openai-tools.ts";
import { fieldPath } from "../../shared/paths.ts";
import { reportUncarried } from "../../shared/uncarried.ts";
import { modelFacts } from "../models.ts";
import { encodeAnswerFormat } from "./answer-format.ts";
import type { EncodeContext } from "./content.ts";
import { encodeExtra } from "./extra.ts";
import { encodeTurns } from "./messages.ts";
import { encodeReasoning } from "./reasoning.ts";
import { planStop } from "./answer.ts";
import { encodeTools } from "./tools.ts";

/** Google wants a letter or `_` first; 64 characters fit every version. */
const TOOL_NAMES = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;

/**
 * Encodes the body, whose members have a fixed order. The URL names the model and selects a stream.
 * @throws GatewayError `invalid-request` for what weir can neither translate nor drop
 */
export function encodeRequest(request: ChatRequest, codecContext: CodecContext): JsonObject {
  const context = encodeContext(request, codecContext);
  const extra = encodeExtra(request, context);
  reportUncarried(request, {}, context);
  const { tools, toolConfig } = encodeTools(request, context);
  const answer = encodeAnswerFormat(request, tools.length > 0, context);
  const { contents, system } = encodeTurns(request, answer.instruction, context);
  if (contents.length === 0) throw noContent(fieldPath(request, "turns"));
  const config: JsonObject = {
    ...encodeSampling(request, context),
    ...encodeLimit(request, context),
    ...encodeStop(request, context),
    ...answer.fields,
    ...encodeReasoning(request, context),
    ...extra.config,
  };
  return {
    contents,
    ...(system.length > 0 && { systemInstruction: { parts: system } }),
    ...(tools.length > 0 && { tools }),
    ...named("toolConfig", mergeConfig(extra.toolConfig, toolConfig)),
    ...encodeSafety(extra.safetySettings, context),
    ...named("generationConfig", config),
    ...encodeTier(request, context),
    ...extra.members,
  };
}

function noContent(path: string) {
  return invalidRequest(`${path}: at least one message must have content.`, path, "invalid_value");
}

function encodeContext(request: ChatRequest, context: CodecContext): EncodeContext {
  return {
    ...encodeContextOf(context),
    facts: modelFacts(context.target.model),
    names: new ToolNames(toolNames(request), context.toolNames, TOOL_NAMES),
  };
}

/** The client's own members, under those that the request decides. */
function mergeConfig(given: JsonObject, decided: JsonObject): JsonObject {
  const { functionCallingConfig: own } = given;
  const { functionCallingConfig: calling } = decided;
  const merged = isObject(own) && isObject(calling) && { functionCallingConfig: { ...own, ...calling } };
  return { ...given, ...decided, ...merged };
}

/** The member, unless it is empty. */
function named(name: string, value: JsonObject): JsonObject {
  return Object.keys(value).length > 0 ? { [name]: value } : {};
}

/** Google's limit. */
const MAX_TEMPERATURE = 2;

function encodeSampling(request: ChatRequest, { reportLoss }: EncodeContext): JsonObject {
  const { temperature, topP, topK } = request;
  if (temperature !== undefined && temperature > MAX_TEMPERATURE)
    reportLoss("clamped", fieldPath(request, "temperature"), `the provider's limit is ${MAX_TEMPERATURE}`);
  return {
    ...(temperature !== undefined && { temperature: Math.min(MAX_TEMPERATURE, temperature) }),
    ...(topP !== undefined && { topP }),
    ...(topK !== undefined && { topK }),
  };
}

function encodeLimit(request: ChatRequest, { facts, reportLoss }: EncodeContext): JsonObject {
  const { maxTokens } = request;
  if (maxTokens === undefined) return {};
  const most = facts.maxOutput ?? Number.POSITIVE_INFINITY;
  if (maxTokens > most)
    reportLoss("clamped", fieldPath(request, "maxTokens"), `the model's output limit is ${most} tokens`);
  return { maxOutputTokens: Math.min(maxTokens, most) };
}

function encodeStop(request: ChatRequest, { traits }: EncodeContext): JsonObject {
  const { sent } = planStop(request.stop, traits);
  return sent.length > 0 ? { stopSequences: sent } : {};
}

/** The categories that a request can switch off. */
const CATEGORIES = ["HARASSMENT", "HATE_SPEECH", "SEXUALLY_EXPLICIT", "DANGEROUS_CONTENT", "CIVIC_INTEGRITY"];

/** The client's own settings win. */
function encodeSafety(given: Json | undefined, { traits }: EncodeContext): JsonObject {
  if (given !== undefined) return { safetySettings: given };
  if (traits.safety !== "off") return {};
  return {
    safetySettings: CATEGORIES.map((name) => ({ category: `HARM_CATEGORY_${name}`, threshold: "OFF" })),
  };
}

const TIERS: ReadonlyMap<string, string> = new Map([
  ["standard", "standard"],
  ["flex", "flex"],
  ["priority", "priority"],
  ["fast", "priority"],
]);

function encodeTier(request: ChatRequest, { traits, reportLoss }: EncodeContext): JsonObject {
  reportUnsupported(request, "verbosity", request.verbosity, reportLoss);
  const { serviceTier } = request;
  if (serviceTier === undefined || serviceTier === "auto") return {};
  const tier = traits.serviceTiers === false ? undefined : TIERS.get(serviceTier);
  if (tier !== undefined) return { serviceTier: tier };
  if (serviceTier !== "standard") reportUnsupported(request, "serviceTier", serviceTier, reportLoss);
  return {};
}

function reportUnsupported(
  request: ChatRequest,
  field: RequestField,
  value: string | undefined,
  reportLoss: EncodeContext["reportLoss"],
): void {
  if (value !== undefined)
    reportLoss("dropped", fieldPath(request, field), "the provider has no equivalent field");
}
