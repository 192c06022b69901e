/** Errors of answers that end before they are complete. */
import { GatewayError } from "../../core/error.ts";

/** For a provider's stream. */
export function incompleteStream(): GatewayError {
  return new GatewayError("upstream", "The provider's stream ended before the answer was complete.", {
    code: "stream_incomplete",
  });
}

/** For canonical events that end before `message-end`. */
export function incompleteAnswer(): GatewayError {
  return new GatewayError("upstream", "The answer ended before it was complete.", {
    code: "stream_incomplete",
  });
}
