/**
 * Opens wrapped reasoning and weir's own summaries in the native lane. weir wrapped the encrypted reasoning of a provider when it wrote the answer in
 * this format; only that provider accepts it, and only as it was.
 */
import type { CodecContext } from "../../../core/context.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { isWrapped } from "../../../core/provenance.ts";
import { openSummary, summaryText } from "../compaction.ts";
import { decodeEncrypted } from "../reasoning.ts";

/** Returns the body with this provider's reasoning as it was, without that of others, and with summaries as text; reports losses. */
export function withoutSealed(body: JsonObject, context: CodecContext): JsonObject {
  if (!Array.isArray(body.input)) return body;
  const input = body.input.flatMap((item, index) => {
    const summary = isObject(item) && item.type === "compaction" ? openSummary(item) : undefined;
    if (summary !== undefined) return [userMessage(summaryText(summary))];
    const sealed = sealedIn(item);
    if (!sealed) return [item];
    const { origin, signature } = sealed;
    if (origin === context.target.provider && signature !== undefined)
      return [{ ...sealed.item, encrypted_content: signature }];
    context.reportLoss("dropped", `input[${index}]`, "another provider made this reasoning");
    return [];
  });
  // The client's bytes stay where nothing was sealed.
  const given = body.input;
  const isChanged = input.length !== given.length || input.some((one, index) => one !== given[index]);
  return isChanged ? { ...body, input } : body;
}

function userMessage(text: string): JsonObject {
  return { type: "message", role: "user", content: [{ type: "input_text", text }] };
}

function sealedIn(item: Json) {
  if (!isObject(item) || item.type !== "reasoning" || typeof item.encrypted_content !== "string")
    return undefined;
  const { encrypted_content: value } = item;
  return isWrapped(value) ? { item, ...decodeEncrypted(value) } : undefined;
}

/** The body without the reasoning of earlier turns; `undefined` if it has none. */
export function withoutReasoning(body: JsonObject): JsonObject | undefined {
  if (!Array.isArray(body.input)) return undefined;
  const input = body.input.filter((item) => !isObject(item) || item.type !== "reasoning");
  return input.length === body.input.length ? undefined : { ...body, input };
}
