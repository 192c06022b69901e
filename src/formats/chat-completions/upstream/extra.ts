/** Encodes fields without a canonical equivalent: those of this format pass, others are refused, dropped or ignored. */
import type { ChatRequest } from "../../../core/chat.ts";
import { invalidRequest } from "../../../core/error.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { getOwn } from "../../../core/own.ts";
import { takesSampling } from "../models.ts";
import { type EncodeContext, FORMAT } from "./content.ts";

/** Fields that models without sampling refuse. */
const SAMPLING: ReadonlySet<string> = new Set(["frequency_penalty", "presence_penalty", "logit_bias"]);

/** What to do with a field of another format; `undefined` ignores it without a warning. */
type Policy = (value: Json, context: EncodeContext) => "reject" | "drop" | undefined;

const reject: Policy = () => "reject";
const drop: Policy = () => "drop";

/** Fields of other formats. Those not listed do not affect the answer. */
const FOREIGN: Record<string, Record<string, Policy>> = {
  messages: {
    container: reject,
    mcp_servers: (value) => (Array.isArray(value) && value.length === 0 ? undefined : "reject"),
    compaction: reject,
    fallbacks: reject,
    // Refused, because dropping it would break a promise about the location of data.
    inference_geo: (value) => (value === "global" ? undefined : "reject"),
    speed: (value) => (value === "fast" ? "drop" : undefined),
    context_management: (value) => (hasLossyEdit(value) ? "drop" : undefined),
    output_format: drop,
  },
};

/** A translation drops old thinking anyway; other edits change what the model sees. */
function hasLossyEdit(value: Json): boolean {
  const edits = isObject(value) && Array.isArray(value.edits) ? value.edits : [];
  return edits.some((edit) => isObject(edit) && !String(edit.type).startsWith("clear_thinking"));
}

/** Fields of this format whose results canonical events cannot carry; clients depend on them. */
const ANSWER_CHANGING: Record<string, (value: Json) => boolean> = {
  n: (value) => typeof value === "number" && value > 1,
  logprobs: (value) => value === true,
  top_logprobs: (value) => typeof value === "number" && value > 0,
  modalities: (value) => Array.isArray(value) && value.includes("audio"),
};

/** @throws GatewayError for fields that weir must not drop */
export function encodeExtra(
  request: ChatRequest,
  effort: string | undefined,
  context: EncodeContext,
): JsonObject {
  for (const [format, fields] of Object.entries(request.extra))
    if (format !== FORMAT) checkForeign(fields, getOwn(FOREIGN, format) ?? {}, context);
  return encodeOwn(request.extra[FORMAT] ?? {}, effort, context);
}

function checkForeign(fields: JsonObject, policies: Record<string, Policy>, context: EncodeContext): void {
  for (const [name, value] of Object.entries(fields)) {
    const action = value == null ? undefined : getOwn(policies, name)?.(value, context);
    if (action === "reject") throw unsupported(name);
    if (action === "drop") context.reportLoss("dropped", name, "the provider has no equivalent field");
  }
}

function encodeOwn(fields: JsonObject, effort: string | undefined, context: EncodeContext): JsonObject {
  const samples = takesSampling(context.facts, effort);
  const kept = Object.entries(fields).filter(([name, value]) => {
    if (value == null) return false;
    if (getOwn(ANSWER_CHANGING, name)?.(value)) throw unsupported(name);
    if (samples || !SAMPLING.has(name)) return true;
    if (value !== 0) context.reportLoss("dropped", name, "the model does not take this field");
    return false;
  });
  return Object.fromEntries(kept);
}

function unsupported(name: string) {
  return invalidRequest(
    `weir cannot translate '${name}' for this provider; remove it or choose another model.`,
    name,
    "unsupported_value",
  );
}
