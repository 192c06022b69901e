/** Errors of answers that end before they are complete. Their code is `stream_incomplete`; weir may retry before the first byte. */
import { GatewayError } from "./error.ts";

/** The provider ended its answer regularly, but too early: without a finish reason, a terminator or the rest of a frame. */
export function incompleteStream(cause?: unknown): GatewayError {
  return failed("The provider's stream ended before the answer was complete.", cause);
}

/** The connection broke while the provider sent its answer. */
export function brokenConnection(cause: unknown): GatewayError {
  return failed("The connection to the provider broke during its answer.", cause);
}

function failed(sentence: string, cause: unknown): GatewayError {
  return new GatewayError("upstream", sentence, { code: "stream_incomplete", cause });
}
