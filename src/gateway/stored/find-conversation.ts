/** Finds the conversation that a request continues. */
import { setFoundNotes } from "../../core/answer-notes.ts";
import type { Gateway, Incoming } from "../types.ts";
import type { Previous } from "./find-previous.ts";
import { refusesUnknown } from "./foreign.ts";
import { ownerOf } from "./owner.ts";
import { reading } from "./reading.ts";

/** A conversation at weir, with its items, the oldest first. */
type FoundConversation = Extract<Previous, { at: "weir" }>;

/**
 * `undefined` for an id of a vendor that the call may pass on to it.
 * @throws GatewayError `not-found` for a conversation that the caller's key does not have
 */
export async function findConversation(
  id: string,
  { call, format }: Pick<Incoming, "call" | "format">,
  context: Pick<Gateway, "answers" | "answerOptions">,
): Promise<FoundConversation | undefined> {
  const codec = format.client.beside.stored!.conversations!;
  if (!codec.isOwnId(id)) {
    if (refusesUnknown(call, context.answerOptions)) throw codec.unknown(id, FOREIGN);
    return undefined;
  }
  const found = await reading(context, (answers) => answers.get(id, ownerOf(call)));
  if (!found) throw codec.unknown(id);
  setFoundNotes(call, found.notes ?? []);
  const place = { conversation: id, last: found.input.at(-1)?.id ?? "" };
  return { at: "weir", conversation: id, place, items: found.input.map(({ value }) => value) };
}

const FOREIGN =
  "weir cannot tell whose a conversation of the provider is. Make one at weir with POST /v1/conversations, or continue an " +
  "answer by its id (previous_response_id); the operator can pass such ids on with responses.foreignIds: pass.";
