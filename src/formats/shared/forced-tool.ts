/** Whether a request forces a tool call, and the sentence for models that no field can force. */
import type { ChatRequest } from "../../core/chat.ts";

/** For the system prompt. */
export const MUST_CALL = "You must call one of the tools.";

/** Whether the client forces a tool call. */
export function isForced({ toolChoice }: ChatRequest): boolean {
  switch (toolChoice?.type) {
    case "required":
    case "tool":
      return true;
    case "allowed":
      return toolChoice.required;
    default:
      return false;
  }
}
