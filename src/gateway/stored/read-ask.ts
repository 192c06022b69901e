/** Reads what a request asks of stored answers, without parsing a body that asks nothing. */
import type { StoredAsk, StoredCodec } from "../../core/stored-codec.ts";
import { mayHold } from "../../stream/spelling.ts";
import type { Incoming } from "../types.ts";

type Source = Pick<Incoming, "bytes" | "body" | "spanOf">;

/** Every item that a request names by an id has this member. */
const ID = '"id"';

/**
 * @param anyId whether every item with an id matters, and not references alone
 * @throws GatewayError `invalid-request`
 */
export function readAsk(source: Source, codec: StoredCodec, anyId: boolean): StoredAsk {
  const { previous, store } = codec.members;
  const mark = anyId ? ID : codec.referenceMark;
  if (wordOf(source, previous) === undefined && !mayHold(source.bytes, mark)) {
    const word = wordOf(source, store);
    return { references: [], partial: [], ...(word !== undefined && { store: word === "true" }) };
  }
  return codec.ask(source.body);
}

/** The request names a conversation that its provider keeps. */
export function namesConversation(source: Source, { members: { conversation } }: StoredCodec): boolean {
  return conversation !== undefined && wordOf(source, conversation) !== undefined;
}

/** The text of a top-level member; `undefined` if it is absent or null. */
function wordOf({ bytes, spanOf }: Source, name: string): string | undefined {
  const span = spanOf(name);
  const word =
    span && Buffer.from(bytes.buffer, bytes.byteOffset + span.start, span.end - span.start).toString();
  return word === "null" ? undefined : word;
}
