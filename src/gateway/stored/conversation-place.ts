/** Where an answer stands in a conversation: what a request that continues the answer by its id has before it. */
import type { JsonObject } from "../../core/json.ts";
import type { AnswerNote, StoredAnswer } from "../../core/stored-answer.ts";

/** The conversation as an answer found it. */
export interface Place {
  conversation: string;
  /** Id of the last item that it had then; an empty text: it had none. */
  last: string;
}

/** No name of a feature. */
const NAME = "gateway:conversation";

/** The note beside the stored answer. */
export function noteOf({ conversation, last }: Place): AnswerNote {
  return { id: NAME, value: new TextEncoder().encode(JSON.stringify([conversation, last])) };
}

/** `undefined` for an answer that is in no conversation. */
export function placeIn(notes: readonly AnswerNote[] = []): Place | undefined {
  const note = notes.find(({ id }) => id === NAME);
  if (!note) return undefined;
  const [conversation, last] = JSON.parse(new TextDecoder().decode(note.value)) as [string, string];
  return { conversation, last };
}

/** The items up to a place; `undefined` if the conversation does not have that place any more. */
export function itemsUpTo(
  { last }: Place,
  found: Pick<StoredAnswer, "input"> | undefined,
): readonly JsonObject[] | undefined {
  if (last === "") return [];
  const end = found?.input.findIndex(({ id }) => id === last) ?? -1;
  return end < 0 ? undefined : found!.input.slice(0, end + 1).map(({ value }) => value);
}
