/** Finds the answer that a request continues by its id. */
import { MAX_CHAIN } from "../../core/answer-store.ts";
import { setFoundNotes } from "../../core/answer-notes.ts";
import { invalidRequest } from "../../core/error.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Gateway, Incoming } from "../types.ts";
import { itemsUpTo, type Place, placeIn } from "./conversation-place.ts";
import { refusesUnknown } from "./foreign.ts";
import { ownerOf } from "./owner.ts";
import { reading } from "./reading.ts";

type StoreContext = Pick<Gateway, "answers" | "answerOptions">;

/** The answer, or the conversation, that a request continues. */
export type Previous =
  /**
   * The items of its chain, the oldest first. `place`: in a conversation, whose items no provider stores. `conversation`: its id, if
   * the request continues it and not one of its answers.
   */
  | { at: "weir"; items: readonly JsonObject[]; place?: Place; conversation?: string }
  | { at: "provider"; deployment: string }
  /** weir does not know the id, and leaves it to a provider of the client's format. */
  | { at: "elsewhere" };

/** @throws GatewayError `invalid-request` if it is unknown or belongs to another key */
export async function findPrevious(
  id: string,
  { call, format }: Incoming,
  context: StoreContext,
): Promise<Previous> {
  const codec = format.client.beside.stored!;
  if (codec.conversations?.isOwnId(id)) throw codec.unknownPrevious(id);
  const chain = await reading(context, (answers) => answers.chain(id, ownerOf(call)));
  if (chain === "too-long")
    throw invalidRequest(
      `The conversation has more than ${MAX_CHAIN} answers; begin a new one.`,
      codec.members.previous,
      "invalid_value",
    );
  const place = placeIn(chain?.[0]?.notes);
  const found =
    place && (await reading(context, (answers) => answers.get(place.conversation, ownerOf(call))));
  setFoundNotes(call, [...(found?.notes ?? []), ...(chain?.flatMap(({ notes = [] }) => notes) ?? [])]);
  const deployment = chain?.at(-1)?.deployment;
  if (deployment !== undefined) return { at: "provider", deployment };
  if (chain) {
    const before = place ? itemsUpTo(place, found) : [];
    if (!before) throw codec.unknownPrevious(id, GONE);
    const items = chain.flatMap(({ input, output }) => [...input, ...output].map(({ value }) => value));
    return { at: "weir", items: [...before, ...items], ...(place && { place }) };
  }
  if (!refusesUnknown(call, context.answerOptions)) return { at: "elsewhere" };
  throw codec.unknownPrevious(id, hintFor(context));
}

const GONE =
  "It is an answer in a conversation, whose items before it have been deleted. Continue the conversation, or send the items.";

/** The same for an unknown answer and for one of another key. */
export function hintFor({ answers }: Pick<Gateway, "answers">): string | undefined {
  return answers ? undefined : "weir stores no answers: name a state folder with `--state`.";
}
