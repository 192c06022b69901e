/** Encodes fields without a canonical equivalent, and those that few providers know. */
import type { ChatRequest } from "../../../core/chat.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { getOwn } from "../../../core/own.ts";
import { checkForeignFields } from "../../shared/foreign-fields.ts";
import { fieldPath } from "../../shared/paths.ts";
import { takesSampling } from "../../shared/openai-models.ts";
import { FORMAT, OWN_FIELDS } from "../own-fields.ts";
import type { EncodeContext } from "./content.ts";
import { sharedFields, untranslatable } from "../../shared/own-fields.ts";

/** Fields that models without sampling refuse. */
const SAMPLING: ReadonlySet<string> = new Set(["frequency_penalty", "presence_penalty", "logit_bias"]);

const { n, logprobs, top_logprobs, modalities } = OWN_FIELDS;
/** Fields of this format whose results canonical events cannot carry; clients depend on them. */
const ANSWER_CHANGING: Record<string, { refuse(value: Json): boolean }> = {
  n,
  logprobs,
  top_logprobs,
  modalities,
};

/** @throws GatewayError for fields that weir must not drop */
export function encodeExtra(
  request: ChatRequest,
  effort: string | undefined,
  context: EncodeContext,
): JsonObject | undefined {
  const samples = takesSampling(context.facts, effort);
  if (!hasMembers(request.extra)) return encodeVerbosity(request, context);
  checkForeignFields(request, FORMAT, context, samples ? SAMPLED : ["seed"]);
  const kept = Object.entries(request.extra[FORMAT] ?? {}).filter(([name, value]) => {
    if (value == null) return false;
    if (lacks(name, value, context)) return false;
    if (getOwn(ANSWER_CHANGING, name)?.refuse(value)) throw untranslatable(name);
    if (samples || !SAMPLING.has(name)) return true;
    if (value !== 0) context.reportLoss("dropped", name, "the model does not take this field");
    return false;
  });
  return {
    ...encodeShared(request, samples),
    ...Object.fromEntries(kept),
    ...encodeVerbosity(request, context),
  };
}

/** Whether a client has sent a field without a canonical equivalent. */
function hasMembers(extra: ChatRequest["extra"]): boolean {
  for (const format in extra) for (const _ in extra[format]) return true;
  return false;
}

/** Whether the host lacks a field by its traits; reports the loss. */
function lacks(name: string, value: Json, { traits, reportLoss }: EncodeContext): boolean {
  const trait = name === "n" ? traits.n : isLogprobs(name) ? traits.logprobs : undefined;
  if (trait !== false) return false;
  if (getOwn(ANSWER_CHANGING, name)?.refuse(value))
    reportLoss("dropped", name, "the provider does not support this field");
  return true;
}

function isLogprobs(name: string): boolean {
  return name === "logprobs" || name === "top_logprobs";
}

const SAMPLED = ["seed", "presencePenalty", "frequencyPenalty"] as const;

/** Fields of clients of other formats that this format has too. */
function encodeShared(request: ChatRequest, samples: boolean): JsonObject {
  const { seed, presencePenalty, frequencyPenalty } = sharedFields(request, FORMAT);
  return {
    ...(seed !== undefined && { seed }),
    ...(samples && presencePenalty !== undefined && { presence_penalty: presencePenalty }),
    ...(samples && frequencyPenalty !== undefined && { frequency_penalty: frequencyPenalty }),
  };
}

/** Other vendors refuse the field; those of OpenAI's models that know custom tools know it, too. */
function encodeVerbosity(
  request: ChatRequest,
  { sameFormat, facts, reportLoss }: EncodeContext,
): JsonObject | undefined {
  const { verbosity } = request;
  if (verbosity === undefined) return undefined;
  if (sameFormat || facts?.customTools) return { verbosity };
  reportLoss("dropped", fieldPath(request, "verbosity"), "the provider does not support this field");
  return undefined;
}
