/** What thought signatures of this format mean to weir (src/formats/README.md#reasoning-and-signatures). */
import type { ReasoningBlock } from "../../core/chat.ts";
import type { JsonObject } from "../../core/json.ts";
import { isObject, parseJson } from "../../core/json.ts";
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
