/**
 * Which ids of a provider a call may use. All gateway keys share the account of the provider, which serves every id of it,
 * so weir decides whose an id is: a key may use what its own answers contained.
 */
import type { Call } from "../../core/call.ts";
import type { AnswerOptions } from "../types.ts";

type Caller = Pick<Call, "principal">;

/** Whether ids of answers and conversations are refused that weir does not know as those of the caller. */
export function refusesUnknown({ principal }: Caller, { foreignIds }: AnswerOptions): boolean {
  return foreignIds === "refuse" || (foreignIds === "auto" && principal !== undefined);
}

/**
 * Whether ids of items are refused that weir does not know as those of the caller. With one key
 * there is no other whose they could be.
 */
export function refusesUnseen({ principal }: Caller, { foreignIds, hasSeveralKeys }: AnswerOptions): boolean {
  return foreignIds === "refuse" || (foreignIds === "auto" && principal !== undefined && hasSeveralKeys());
}
