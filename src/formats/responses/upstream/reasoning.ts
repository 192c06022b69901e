/** Encodes reasoning: the options of the request, and reasoning of earlier turns. */
import type { ChatRequest, ReasoningBlock } from "../../../core/chat.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { EncodeContext } from "./content.ts";

/**
 * `reasoning` and `include`. Models that do not reason refuse both. Providers return reasoning that a later request can
 * contain only if the request asks for it.
 */
export function encodeReasoning(
  request: ChatRequest,
  effort: string | undefined,
  { facts }: EncodeContext,
): JsonObject {
  const reasons = facts ? facts.efforts.length > 0 : request.reasoning !== undefined;
  if (!reasons) return {};
  const isOff = effort === "none";
  const summarises = !isOff && request.style.hideReasoning !== true;
  const reasoning = { ...(effort !== undefined && { effort }), ...(summarises && { summary: "auto" }) };
  return {
    ...(Object.keys(reasoning).length > 0 && { reasoning }),
    ...(!isOff && { include: ["reasoning.encrypted_content"] }),
  };
}

/** The item of reasoning that this provider made; `undefined` for any other, which is reported. */
export function encodeReasoningItem(
  { text, parts, signature, origin, path: ownPath }: ReasoningBlock,
  path: string,
  { provider, reportLoss }: EncodeContext,
): JsonObject | undefined {
  if (origin !== undefined && origin !== provider) {
    reportLoss("dropped", path, "another provider made this reasoning");
    return undefined;
  }
  // Without its encrypted form the provider cannot use its reasoning.
  if (signature === undefined) {
    // weir itself restored reasoning that has no place in the client's request.
    if (ownPath !== undefined)
      reportLoss("dropped", path, "the provider takes back only reasoning that it encrypted");
    return undefined;
  }
  const summaries = parts ?? (text === "" ? [] : [text]);
  return {
    type: "reasoning",
    summary: summaries.map((summary) => ({ type: "summary_text", text: summary })),
    encrypted_content: signature,
  };
}
