/** Encodes a canonical request. Equal requests give equal bytes (src/formats/README.md#determinism). */
import type { ChatRequest } from "../../../core/chat.ts";
import type { CodecContext } from "../../../core/context.ts";
import { ToolNames } from "../../../core/ids.ts";
import type { JsonObject } from "../../../core/json.ts";
import { moveImages } from "../../shared/assistant-images.ts";
import { encodeSampling, type Sampling } from "../../shared/claude-sampling.ts";
import { encodeContextOf } from "../../shared/encode-context.ts";
import { toolNames } from "../../shared/openai-tools.ts";
import { fieldPath } from "../../shared/paths.ts";
import { reportUncarried } from "../../shared/uncarried.ts";
import { modelFacts } from "../models.ts";
import { DocumentNames, type EncodeContext, FORMAT } from "./context.ts";
import { encodeAnswerFormat } from "../../shared/answer-tool.ts";
import { ANSWER_SHAPES } from "./answer-format.ts";
import { settleCachePoints } from "./caching.ts";
import { encodeTurns, endWithUser } from "./messages.ts";
import { encodeReasoning } from "./reasoning.ts";
import { planStop } from "./stop-sequences.ts";
import { encodeTools } from "./tools.ts";
import { encodeExtraFields } from "../../shared/extra-fields.ts";

/**
 * Encodes the body. `messages` come last, so that a longer conversation begins with the bytes of the shorter one.
 * @throws GatewayError `invalid-request` for what weir can neither translate nor drop
 */
export function encodeRequest(request: ChatRequest, codecContext: CodecContext): JsonObject {
  const context: EncodeContext = {
    ...encodeContextOf(codecContext),
    facts: modelFacts(codecContext.target.model),
    names: new ToolNames(toolNames(request), codecContext.toolNames),
    documents: new DocumentNames(),
  };
  if (request.verbosity !== undefined)
    context.reportLoss("dropped", fieldPath(request, "verbosity"), "the provider has no equivalent field");
  reportUncarried(request, {}, context);
  const turns = encodeTurns(moveImages(request, FORMAT, context), context);
  const offered = encodeTools(request, context);
  const answer = encodeAnswerFormat(request, offered.tools.length > 0, context, ANSWER_SHAPES);
  const choice = answer.choice ?? offered.choice;
  const { fields, thinks } = encodeReasoning(request, turns.messages, choice !== undefined, context);
  const sampling = settleSampling(request, thinks, context);
  const isBound = request.answerFormat?.type === "json-schema";
  const messages = endWithUser(turns.messages, context.facts.prefill && !thinks && !isBound, context);
  const system = [...turns.system, ...instructions(offered.instruction, answer.instruction)];
  const tools = [...offered.tools, ...answer.tools];
  settleCachePoints({ tools, system, messages }, request, context);
  const written: JsonObject = {
    ...encodeModelFields(fields, sampling, context),
    ...encodeInference(request, sampling, context),
    ...(answer.format && { outputConfig: { textFormat: answer.format } }),
    ...encodeTier(request, context),
  };
  return {
    ...written,
    ...encodeExtraFields(request, FORMAT, written, context),
    ...(system.length > 0 && { system }),
    ...(tools.length > 0 && { toolConfig: { tools, ...(choice && { toolChoice: choice }) } }),
    messages: messages.map(({ role, content }) => ({ role, content })),
  };
}

function instructions(...texts: (string | undefined)[]): JsonObject[] {
  return texts.flatMap((text) => (text === undefined ? [] : [{ text }]));
}

/** The sampling fields that the model takes. The format allows no temperature above 1. */
function settleSampling(request: ChatRequest, thinks: boolean, context: EncodeContext): Sampling {
  const { facts, reportLoss } = context;
  if (facts.claude) return encodeSampling(request, thinks, { ...context, facts: facts.claude });
  const { temperature, topP, topK } = request;
  if (temperature !== undefined && temperature > 1) reportLoss("clamped", fieldPath(request, "temperature"));
  if (topK !== undefined && facts.topK === undefined)
    reportLoss("dropped", fieldPath(request, "topK"), "the provider does not accept this field");
  return {
    ...(temperature !== undefined && { temperature: Math.min(1, temperature) }),
    ...(topP !== undefined && { topP }),
    ...(topK !== undefined && facts.topK !== undefined && { topK }),
  };
}

/** `additionalModelRequestFields`, which Bedrock passes to the model, and the field of the answer that weir reads. */
function encodeModelFields(reasoning: JsonObject, { topK }: Sampling, { facts }: EncodeContext): JsonObject {
  const fields: JsonObject = {
    ...reasoning,
    ...(topK !== undefined && (facts.topK === "nova" ? { inferenceConfig: { topK } } : { top_k: topK })),
  };
  return Object.keys(fields).length > 0 ? { additionalModelRequestFields: fields } : {};
}

function encodeInference(
  request: ChatRequest,
  { temperature, topP }: Sampling,
  context: EncodeContext,
): JsonObject {
  const { facts, traits, reportLoss } = context;
  const { maxTokens } = request;
  const most = facts.claude?.maxTokens ?? Number.POSITIVE_INFINITY;
  if (maxTokens !== undefined && maxTokens > most)
    reportLoss("clamped", fieldPath(request, "maxTokens"), `the model's output limit is ${most} tokens`);
  const { sent } = planStop(request.stop, facts, traits);
  const config: JsonObject = {
    ...(maxTokens !== undefined && { maxTokens: Math.min(maxTokens, most) }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(sent.length > 0 && { stopSequences: sent }),
  };
  return {
    ...(Object.keys(config).length > 0 && { inferenceConfig: config }),
    // Only so does the answer name the sequence that matched.
    ...(sent.length > 0 && facts.claude && { additionalModelResponseFieldPaths: ["/stop_sequence"] }),
  };
}

/** Tiers of the service; `standard` is its default. */
const TIERS: ReadonlySet<string> = new Set(["flex", "priority", "reserved"]);

function encodeTier(request: ChatRequest, { reportLoss }: EncodeContext): JsonObject {
  const { serviceTier: tier } = request;
  if (tier === undefined || tier === "auto" || tier === "standard" || tier === "default") return {};
  if (TIERS.has(tier)) return { serviceTier: { type: tier } };
  reportLoss("dropped", fieldPath(request, "serviceTier"), "the provider has no such tier");
  return {};
}
