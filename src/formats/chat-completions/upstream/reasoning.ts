/** Encodes the reasoning effort. */
import type { ChatRequest } from "../../../core/chat.ts";
import { encodeEffort as supportedEffort } from "../../shared/effort.ts";
import { fieldPath } from "../../shared/paths.ts";
import type { EncodeContext } from "./content.ts";

/** Returns `reasoning_effort`; `undefined` if the client did not ask for one or the model does not support it. */
export function encodeEffort(request: ChatRequest, context: EncodeContext): string | undefined {
  return withoutEffortForTools(supportedEffort(request, context), request, context);
}

/** From gpt-5.4 on, models refuse function tools together with reasoning on this endpoint. */
function withoutEffortForTools(
  effort: string | undefined,
  request: ChatRequest,
  { facts, reportLoss }: EncodeContext,
): string | undefined {
  if (!facts?.toolsWithoutEffort || request.tools.length === 0 || effort === "none") return effort;
  if (effort === undefined && facts.defaultEffort === "none") return undefined;
  reportLoss(
    "downgraded",
    fieldPath(request, "effort"),
    "on this endpoint the model supports tools only without reasoning",
  );
  return "none";
}
