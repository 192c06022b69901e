/** Appends items to a conversation. */
import type { Amendment, AnswerStore } from "../../core/answer-store.ts";
import type { ConversationCodec } from "../../core/conversation-codec.ts";
import type { StoredItem } from "../../core/stored-answer.ts";

export interface Extended {
  outcome: Awaited<ReturnType<AnswerStore["amend"]>>;
  /** The items with the ids that they have in the conversation. */
  added: readonly StoredItem[];
}

/**
 * Changes a conversation. Clients page by the ids of its items, so an id occurs once: where one is there already, the added items
 * get ids of weir. Some providers give the items of each answer the same ids.
 * @param withinMs as of `AnswerStore.amend`
 */
export async function extend(
  answers: AnswerStore,
  { id, owner }: { id: string; owner: string },
  change: Amendment,
  { codec, callId, withinMs }: { codec: ConversationCodec; callId: string; withinMs?: number },
): Promise<Extended> {
  const { add = [] } = change;
  const outcome = await answers.amend(id, owner, change, withinMs);
  if (outcome !== "taken") return { outcome, added: add };
  const added = codec.renamed(add, callId);
  return { outcome: await answers.amend(id, owner, { ...change, add: added }, withinMs), added };
}
