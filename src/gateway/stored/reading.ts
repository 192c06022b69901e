/** Reads from the store of answers. */
import type { AnswerStore } from "../../core/answer-store.ts";
import { GatewayError } from "../../core/error.ts";
import type { Gateway } from "../types.ts";

/**
 * The result of `read`; `undefined` while weir keeps no answers.
 * @throws GatewayError `overloaded` if the store does not answer: the client may repeat the request
 */
export async function reading<Found>(
  { answers }: Pick<Gateway, "answers">,
  read: (answers: AnswerStore) => Promise<Found>,
): Promise<Found | undefined> {
  if (!answers) return undefined;
  try {
    return await read(answers);
  } catch (cause) {
    throw new GatewayError("overloaded", "weir cannot read its stored answers at the moment; retry in 1 s.", {
      code: "store_unavailable",
      retryAfter: 1,
      cause,
    });
  }
}
