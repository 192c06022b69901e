/**
 * Removes signatures of other vendors in the native lane. weir put them into `thoughtSignature` when it wrote the answer of
 * another vendor in this format; Google would refuse them, and with them the request.
 */
import type { CodecContext } from "../../../core/context.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { isWrapped } from "../../../core/provenance.ts";

/** Returns the body without such signatures, and without parts and contents of nothing else; reports losses. */
export function withoutSealed(body: JsonObject, context: CodecContext): JsonObject {
  if (!Array.isArray(body.contents)) return body;
  let changed = false;
  const contents = body.contents.flatMap((content, index) => {
    if (!isObject(content) || !Array.isArray(content.parts)) return [content];
    const parts = content.parts.flatMap((part, place) => {
      if (!isObject(part) || !isSealed(part.thoughtSignature)) return [part];
      changed = true;
      context.reportLoss(
        "dropped",
        `contents[${index}].parts[${place}]`,
        "another model signed this reasoning",
      );
      const { thoughtSignature: _sealed, ...rest } = part;
      const isThought = rest.thought === true || rest.text === "";
      return isThought ? [] : [rest];
    });
    return parts.length > 0 ? [{ ...content, parts }] : [];
  });
  return changed ? { ...body, contents } : body;
}

/** The member is base64, so a sealed value is encoded once more. */
function isSealed(signature: Json | undefined): boolean {
  if (typeof signature !== "string") return false;
  return isWrapped(signature) || isWrapped(Buffer.from(signature, "base64").toString("utf8"));
}
