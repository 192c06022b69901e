/** Top-level fields without a canonical place: this format's own are passed on, others are refused or dropped. */
import type { ChatRequest } from "../../../core/chat.ts";
import { invalidRequest } from "../../../core/error.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { getOwn } from "../../../core/own.ts";
import { takesSampling } from "../models.ts";
import { type EncodeContext, FORMAT } from "./content.ts";

/** Fields only models take that sample freely. */
const SAMPLING: ReadonlySet<string> = new Set(["frequency_penalty", "presence_penalty", "logit_bias"]);

/** What a field of another format means for the request; `undefined`: nothing (class S). */
type Policy = (value: Json, context: EncodeContext) => "reject" | "drop" | undefined;

const reject: Policy = () => "reject";
const drop: Policy = () => "drop";

/** Fields of the messages format. Those not listed are bookkeeping. */
const FOREIGN: Record<string, Record<string, Policy>> = {
  messages: {
    container: reject,
    mcp_servers: (value) => (Array.isArray(value) && value.length === 0 ? undefined : "reject"),
    compaction: reject,
    fallbacks: reject,
    // A promise about where the data stays must not vanish.
    inference_geo: (value) => (value === "global" ? undefined : "reject"),
    speed: (value) => (value === "fast" ? "drop" : undefined),
    context_management: (value) => (hasLossyEdit(value) ? "drop" : undefined),
    output_format: drop,
  },
};

/** Clearing old thinking is what a translation does anyway; other edits change what the model sees. */
function hasLossyEdit(value: Json): boolean {
  const edits = isObject(value) && Array.isArray(value.edits) ? value.edits : [];
  return edits.some((edit) => isObject(edit) && !String(edit.type).startsWith("clear_thinking"));
}

/** What of this format's own fields the canonical events cannot carry back: the caller's program depends on it. */
const ANSWER_CHANGING: Record<string, (value: Json) => boolean> = {
  n: (value) => typeof value === "number" && value > 1,
  logprobs: (value) => value === true,
  top_logprobs: (value) => typeof value === "number" && value > 0,
  modalities: (value) => Array.isArray(value) && value.includes("audio"),
};

/** @throws GatewayError for fields nothing may stand in for. */
export function encodeExtra(
  request: ChatRequest,
  effort: string | undefined,
  context: EncodeContext,
): JsonObject {
  for (const [format, fields] of Object.entries(request.extra))
    if (format !== FORMAT) judgeForeign(fields, getOwn(FOREIGN, format) ?? {}, context);
  return encodeOwn(request.extra[FORMAT] ?? {}, effort, context);
}

function judgeForeign(fields: JsonObject, policies: Record<string, Policy>, context: EncodeContext): void {
  for (const [name, value] of Object.entries(fields)) {
    const verdict = value == null ? undefined : getOwn(policies, name)?.(value, context);
    if (verdict === "reject") throw unsupported(name);
    if (verdict === "drop") context.call.reportLoss("dropped", name, "the provider has nothing like it");
  }
}

function encodeOwn(fields: JsonObject, effort: string | undefined, context: EncodeContext): JsonObject {
  const samples = takesSampling(context.facts, effort);
  const kept = Object.entries(fields).filter(([name, value]) => {
    if (value == null) return false;
    if (getOwn(ANSWER_CHANGING, name)?.(value)) throw unsupported(name);
    if (samples || !SAMPLING.has(name)) return true;
    if (value !== 0) context.call.reportLoss("dropped", name, "a reasoning model");
    return false;
  });
  return Object.fromEntries(kept);
}

function unsupported(name: string) {
  return invalidRequest(
    `'${name}' cannot be carried over to this provider; leave it out or choose another model.`,
    name,
    "unsupported_value",
  );
}
