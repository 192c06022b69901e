/**
 * Carries the opaque reasoning of any vendor in `encrypted_content` (src/formats/README.md#reasoning-and-signatures). weir
 * wraps each value with the name of the provider, so that it sends the value back only to that provider. A value that is not
 * wrapped came from the vendor of this format through the native lane.
 */
import type { ReasoningBlock } from "../../core/chat.ts";
import { unwrap, wrap } from "../../core/provenance.ts";

/** The origin of values that are not wrapped. */
export const NATIVE_ORIGIN = "openai";

const REDACTED = "weir:redacted:";

/** Decodes `encrypted_content`. */
export function decodeEncrypted(value: string): Pick<ReasoningBlock, "signature" | "redacted" | "origin"> {
  const wrapped = unwrap(value);
  if (!wrapped) return { signature: value, origin: NATIVE_ORIGIN };
  const { origin, payload } = wrapped;
  if (payload === "") return { origin };
  return payload.startsWith(REDACTED)
    ? { redacted: payload.slice(REDACTED.length), origin }
    : { signature: payload, origin };
}

/**
 * Encodes `encrypted_content`. Without an opaque value it still names the provider, because some providers require the
 * reasoning of their own answers back, as text.
 */
export function encodeEncrypted(
  { signature, redacted }: { signature?: string; redacted?: string },
  origin: string,
): string {
  return wrap(origin, redacted === undefined ? (signature ?? "") : REDACTED + redacted);
}
