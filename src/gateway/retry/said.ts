/** What a provider said when an attempt failed, as the log and the books keep it. */
import type { Attempt } from "../../core/call.ts";
import type { GatewayError } from "../../core/error.ts";
import { withoutKeys } from "../../core/error-text.ts";
import { limitText, printable } from "../../core/printable.ts";
import { withoutSecrets } from "../delivery/redact.ts";

/** Longest message. Bytes. */
const MESSAGE_BYTES = 200;
/** Longest code. Bytes. */
const CODE_BYTES = 64;

/** The provider's own words, or those of weir where it sent none. Credentials are masked before a text is cut. */
export function saidOf({ said, message, retryAfter }: GatewayError, { target }: Attempt): Attempt["said"] {
  const clean = (text: string, bytes: number) =>
    limitText(printable(withoutKeys(withoutSecrets(text, target.provider))), bytes);
  return {
    ...(said?.code !== undefined && { code: clean(said.code, CODE_BYTES) }),
    message: clean(said?.message ?? message, MESSAGE_BYTES),
    ...(retryAfter !== undefined && { retryAfter }),
  };
}
