/**
 * Carries reasoning of any vendor in `thoughtSignature` (src/formats/README.md#reasoning-and-signatures). Signatures of Google
 * stay unchanged; weir wraps others with the name of the provider and encodes the result as base64, because the member is of
 * type `bytes`. If the vendor has no signature, weir wraps the text: agents drop parts with thoughts, and some providers
 * require the text back.
 */
import type { ReasoningBlock } from "../../core/chat.ts";
import type { JsonObject } from "../../core/json.ts";
import { isObject, parseJson } from "../../core/json.ts";
import { unwrap, wrap } from "../../core/provenance.ts";
import { SIGNER } from "./own-fields.ts";

/** Google accepts this text in place of a signature that got lost (https://ai.google.dev/gemini-api/docs/thought-signatures). */
export const SENTINEL = "skip_thought_signature_validator";

/** Whether Google signed the reasoning. */
export function isOwn({ origin }: ReasoningBlock): boolean {
  return origin === SIGNER;
}

/** The part that encrypted content stands for: a part of Google's own tools, or a signature of its own. */
export function encryptedPart(redacted: string): JsonObject {
  const part = redacted.startsWith("{") ? parseJson(redacted) : undefined;
  return isObject(part) ? part : { text: "", thoughtSignature: redacted };
}

const OWN_TEXT = "weir:text:";
const REDACTED = "weir:redacted:";

/** The reasoning that a signature stands for. @param text of the thoughts in front of the signed part */
export function decodeSignature(text: string, signature: string): ReasoningBlock {
  const wrapped = unwrap(Buffer.from(signature, "base64").toString("utf8"));
  if (!wrapped) return { type: "reasoning", text, signature, origin: SIGNER };
  const { origin, payload } = wrapped;
  if (payload.startsWith(OWN_TEXT))
    return { type: "reasoning", text: text || payload.slice(OWN_TEXT.length), origin };
  if (payload.startsWith(REDACTED))
    return { type: "reasoning", text, redacted: payload.slice(REDACTED.length), origin };
  return { type: "reasoning", text, signature: payload, origin };
}

/** The signature of a block of reasoning; `undefined` if there is nothing to send back. */
export function encodeSignature(
  text: string,
  signature: string | undefined,
  redacted: string | undefined,
  origin: string,
): string | undefined {
  if (origin === SIGNER) return signature ?? redacted;
  const payload = signature ?? (redacted === undefined ? text && OWN_TEXT + text : REDACTED + redacted);
  return payload ? Buffer.from(wrap(origin, payload)).toString("base64") : undefined;
}
