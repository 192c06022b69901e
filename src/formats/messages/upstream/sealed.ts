/**
 * Removes wrapped reasoning in the native lane. weir wrapped the signature of another vendor when it wrote the answer in
 * this format; a Messages provider would refuse the signature, and with it the request.
 */
import type { CodecContext } from "../../../core/context.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { isWrapped } from "../../../core/provenance.ts";

/** Returns the body without wrapped reasoning and without messages of nothing else; reports losses. */
export function withoutSealed(body: JsonObject, context: CodecContext): JsonObject {
  if (!Array.isArray(body.messages)) return body;
  const messages = body.messages.flatMap((message, index) => {
    if (!isObject(message) || !Array.isArray(message.content)) return [message];
    const content = message.content.filter((block, position) => {
      const wrapped = isWrappedBlock(block);
      if (wrapped)
        context.reportLoss(
          "dropped",
          `messages[${index}].content[${position}]`,
          "another model signed this reasoning",
        );
      return !wrapped;
    });
    if (content.length === message.content.length) return [message];
    return content.length > 0 ? [{ ...message, content }] : [];
  });
  // The client's bytes stay where nothing was sealed.
  const given = body.messages;
  const isChanged = messages.length !== given.length || messages.some((one, index) => one !== given[index]);
  return isChanged ? { ...body, messages } : body;
}

function isWrappedBlock(block: Json): boolean {
  if (!isObject(block)) return false;
  const { type, signature, data } = block;
  const value = type === "thinking" ? signature : type === "redacted_thinking" ? data : undefined;
  return typeof value === "string" && isWrapped(value);
}
