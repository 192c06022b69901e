/**
 * Carries reasoning of any vendor in the two opaque fields of this format, `thinking.signature` and
 * `redacted_thinking.data` (src/formats/README.md#reasoning-and-signatures). Values of Anthropic stay unchanged; weir wraps
 * others with the name of the provider, so that it sends them back only to that provider.
 *
 * The field must not be empty. If the vendor has no opaque value, weir wraps the text itself if the client asked not to
 * see it, because some providers require it back, and a digest of the text otherwise.
 */
import type { ReasoningBlock } from "../../core/chat.ts";
import { sha256 } from "../../core/ids.ts";
import { unwrap, wrap } from "../../core/provenance.ts";

/** The origin whose values are not wrapped. */
export const NATIVE_ORIGIN = "anthropic";

const OWN_TEXT = "weir:text:";
const OWN_DIGEST = "weir:digest:";

/** Decodes a thinking block. @param signature not empty */
export function decodeSignature(text: string, signature: string): ReasoningBlock {
  const wrapped = unwrap(signature);
  if (!wrapped) return { type: "reasoning", text, signature, origin: NATIVE_ORIGIN };
  const { origin, payload } = wrapped;
  if (payload.startsWith(OWN_TEXT))
    return { type: "reasoning", text: text || payload.slice(OWN_TEXT.length), origin };
  if (payload === "" || payload.startsWith(OWN_DIGEST)) return { type: "reasoning", text, origin };
  return { type: "reasoning", text, signature: payload, origin };
}

/** Decodes the data of a redacted block. */
export function decodeRedactedData(data: string): ReasoningBlock {
  const wrapped = unwrap(data);
  return wrapped
    ? { type: "reasoning", text: "", redacted: wrapped.payload, origin: wrapped.origin }
    : { type: "reasoning", text: "", redacted: data, origin: NATIVE_ORIGIN };
}

/** Encodes the signature of a thinking block; never empty. @param hidden the client does not get the text */
export function encodeSignature(
  text: string,
  signature: string | undefined,
  origin: string,
  hidden: boolean,
): string {
  if (signature && origin === NATIVE_ORIGIN) return signature;
  if (signature) return wrap(origin, signature);
  return wrap(origin, hidden ? OWN_TEXT + text : OWN_DIGEST + digest(text));
}

/** Encodes the data of a redacted block. */
export function encodeRedactedData(redacted: string, origin: string): string {
  return origin === NATIVE_ORIGIN ? redacted : wrap(origin, redacted);
}

/** 128 bits of SHA-256 in hexadecimal digits. */
function digest(text: string): string {
  return sha256(text).slice(0, 32);
}
