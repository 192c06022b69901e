/**
 * The one repeat of the translated lane: an upstream that refuses replayed reasoning (a signature of another model, an
 * edited transcript) is asked once more without any. In the native lane clients do so themselves.
 */
import type { Call } from "../../core/call.ts";
import type { ChatRequest } from "../../core/chat.ts";
import type { GatewayError } from "../../core/error.ts";

/** Wordings differ by vendor; a family of patterns, not one sentence. */
const REFUSALS: readonly RegExp[] = [
  /signature[^]*(thinking|thought)|(thinking|thought)[^]*signature/i,
  /expected .?thinking/i,
  /thinking blocks? [^]*cannot be modified/i,
  /thinking[^]*(preceding|transcript|prefix)[^]*(changed|mismatch|match)/i,
];

/** The request without reasoning, when that is what was refused and there was any; the loss is on the call. */
export function withoutReasoning(
  request: ChatRequest,
  error: GatewayError,
  call: Call,
): ChatRequest | undefined {
  if (error.status !== 400 || !REFUSALS.some((pattern) => pattern.test(error.message))) return undefined;
  const hadReasoning = request.turns.some((turn) => turn.blocks.some((block) => block.type === "reasoning"));
  if (!hadReasoning) return undefined;
  call.reportLoss("dropped", "reasoning", "the upstream refused the reasoning of earlier turns");
  const turns = request.turns.map((turn) => ({
    ...turn,
    blocks: turn.blocks.filter((block) => block.type !== "reasoning"),
  }));
  const reasoning = request.reasoning?.mode === "budget" ? undefined : request.reasoning;
  return { ...request, turns, reasoning };
}
