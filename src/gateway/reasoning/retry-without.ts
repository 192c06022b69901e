/**
 * If a provider refuses the reasoning of earlier turns (a signature of another model, an edited transcript), the translated
 * lane repeats the request once without it. The native lane does so for formats whose clients do not do that themselves.
 */
import type { Attempt } from "../../core/call.ts";
import type { ChatRequest } from "../../core/chat.ts";
import type { GatewayError } from "../../core/error.ts";

/** The request without reasoning, with the loss on the attempt; `undefined` if the error has another cause. */
export function withoutReasoning(
  request: ChatRequest,
  error: GatewayError,
  attempt: Attempt,
): ChatRequest | undefined {
  if (error.refused !== "reasoning") return undefined;
  const hadReasoning = request.turns.some((turn) => turn.blocks.some((block) => block.type === "reasoning"));
  if (!hadReasoning) return undefined;
  attempt.reportLoss("dropped", "reasoning", "the provider refused the reasoning of earlier turns");
  const turns = request.turns.map((turn) => ({
    ...turn,
    blocks: turn.blocks.filter((block) => block.type !== "reasoning"),
  }));
  const reasoning = request.reasoning?.mode === "budget" ? undefined : request.reasoning;
  return { ...request, turns, reasoning };
}
