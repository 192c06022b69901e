/**
 * Reasoning another vendor made, in a conversation that goes on in the native lane. The gateway sealed it when it wrote the
 * answer in this format; whoever reads it there refuses the signature, and with it the request.
 */
import type { Call } from "../../../core/call.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { isWrapped } from "../../../core/provenance.ts";

/** The body without sealed reasoning, and without messages that were nothing else; the losses are on the call. */
export function withoutSealed(body: JsonObject, call: Call): JsonObject {
  if (!Array.isArray(body.messages)) return body;
  const messages = body.messages.flatMap((message, index) => {
    if (!isObject(message) || !Array.isArray(message.content)) return [message];
    const content = message.content.filter((block, place) => {
      const sealed = isSealed(block);
      if (sealed)
        call.reportLoss("dropped", `messages[${index}].content[${place}]`, "reasoning another model signed");
      return !sealed;
    });
    if (content.length === message.content.length) return [message];
    return content.length > 0 ? [{ ...message, content }] : [];
  });
  return { ...body, messages };
}

function isSealed(block: Json): boolean {
  if (!isObject(block)) return false;
  const { type, signature, data } = block;
  const value = type === "thinking" ? signature : type === "redacted_thinking" ? data : undefined;
  return typeof value === "string" && isWrapped(value);
}
