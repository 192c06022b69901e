/** Sampling fields that Claude models take. */
import type { ChatRequest, RequestField } from "../../core/chat.ts";
import type { ClaudeContext } from "./claude-reasoning.ts";
import { fieldPath } from "./paths.ts";

export type Sampling = Pick<ChatRequest, "temperature" | "topP" | "topK">;

/** Returns the fields that the model takes, and reports the others. @param thinks the answer begins with reasoning */
export function encodeSampling(
  request: ChatRequest,
  thinks: boolean,
  { facts, reportLoss }: ClaudeContext,
): Sampling {
  const { temperature, topP, topK } = request;
  const drop = (field: RequestField) =>
    reportLoss(
      "dropped",
      fieldPath(request, field),
      thinks ? "the model does not take this field while it reasons" : "the model does not take this field",
    );
  if (!facts.sampling || (thinks && facts.claude)) {
    const keepsTopP = facts.sampling && topP !== undefined && topP >= 0.95 && topP <= 1;
    if (temperature !== undefined) drop("temperature");
    if (topP !== undefined && !keepsTopP) drop("topP");
    if (topK !== undefined) drop("topK");
    return keepsTopP ? { topP } : {};
  }
  if (temperature !== undefined && temperature > 1) reportLoss("clamped", fieldPath(request, "temperature"));
  const both = facts.claude && temperature !== undefined && topP !== undefined;
  if (both)
    reportLoss("dropped", fieldPath(request, "topP"), "the model takes only one of temperature and top_p");
  return {
    ...(temperature !== undefined && { temperature: Math.min(1, temperature) }),
    ...(topP !== undefined && !both && { topP }),
    ...(topK !== undefined && { topK }),
  };
}
