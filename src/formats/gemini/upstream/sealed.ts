/**
 * Removes signatures of other vendors in the native lane. weir put them into `thoughtSignature` when it wrote the answer of
 * another vendor in this format; Google would refuse them, and with them the request.
 */
import type { CodecContext } from "../../../core/context.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { isWrapped } from "../../../core/provenance.ts";
import { modelFacts } from "../models.ts";
import { SENTINEL } from "../reasoning.ts";

/**
 * Returns the body without such signatures, and without parts and contents of nothing else; reports losses. The first call of a
 * set gets Google's placeholder if the model wants a signature there.
 */
export function withoutSealed(body: JsonObject, context: CodecContext): JsonObject {
  if (!Array.isArray(body.contents)) return body;
  const { signsCalls } = modelFacts(context.target.model);
  let changed = false;
  const contents = body.contents.flatMap((content, index) => {
    if (!isObject(content) || !Array.isArray(content.parts)) return [content];
    const first = content.parts.findIndex((part) => isObject(part) && part.functionCall !== undefined);
    const parts = content.parts.flatMap((part, place) => {
      if (!isObject(part) || !isSealed(part.thoughtSignature)) return [part];
      changed = true;
      context.reportLoss(
        "dropped",
        `contents[${index}].parts[${place}]`,
        "another model signed this reasoning",
      );
      const { thoughtSignature: _sealed, ...rest } = part;
      if (signsCalls && place === first) return [{ ...rest, thoughtSignature: SENTINEL }];
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
