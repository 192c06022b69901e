/**
 * Reasoning of any vendor in the two opaque fields of this format, `thinking.signature` and `redacted_thinking.data`.
 * Anthropic's own values stand there as they are; all others carry who made them, so that they find the
 * way back to that provider and never to another.
 *
 * What is wrapped is the vendor's own opaque value. Where there is none, something of ours stands in the field, which must
 * not be empty: the text itself, when the client asked not to see it (some providers insist on getting it back), or else a
 * digest of the text.
 */
import type { ReasoningBlock } from "../../core/chat.ts";
import { sha256 } from "../../core/ids.ts";
import { unwrap, wrap } from "../../core/provenance.ts";

/** Who signs with unwrapped values in this format. */
export const NATIVE_ORIGIN = "anthropic";

const OWN_TEXT = "weir:text:";
const OWN_DIGEST = "weir:digest:";

/** A thinking block's text and its non-empty signature → canonical. */
export function openReasoning(text: string, signature: string): ReasoningBlock {
  const sealed = unwrap(signature);
  if (!sealed) return { type: "reasoning", text, signature, origin: NATIVE_ORIGIN };
  const { origin, payload } = sealed;
  if (payload.startsWith(OWN_TEXT))
    return { type: "reasoning", text: text || payload.slice(OWN_TEXT.length), origin };
  if (payload === "" || payload.startsWith(OWN_DIGEST)) return { type: "reasoning", text, origin };
  return { type: "reasoning", text, signature: payload, origin };
}

/** A redacted block's data → canonical. */
export function openRedacted(data: string): ReasoningBlock {
  const sealed = unwrap(data);
  return sealed
    ? { type: "reasoning", text: "", redacted: sealed.payload, origin: sealed.origin }
    : { type: "reasoning", text: "", redacted: data, origin: NATIVE_ORIGIN };
}

/** The signature of a finished thinking block; never empty. `hidden`: its text is kept from the client. */
export function sealSignature(
  text: string,
  signature: string | undefined,
  origin: string,
  hidden: boolean,
): string {
  if (signature && origin === NATIVE_ORIGIN) return signature;
  if (signature) return wrap(origin, signature);
  return wrap(origin, hidden ? OWN_TEXT + text : OWN_DIGEST + digest(text));
}

/** The data of a redacted block. */
export function sealRedacted(redacted: string, origin: string): string {
  return origin === NATIVE_ORIGIN ? redacted : wrap(origin, redacted);
}

/** Enough of a digest to tell texts apart. Hexadecimal digits. */
function digest(text: string): string {
  return sha256(text).slice(0, 32);
}
