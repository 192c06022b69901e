/** The part in the keeper: writes down whom workers have seen. */
import type { KeeperHost, KeeperPart } from "../../keeper/seams.ts";
import type { IdentityUp, SeenPerson } from "./messages.ts";
import { PeopleBook } from "./people-book.ts";
import { peopleBook } from "./slots.ts";

/** Most people that wait to be written down; they are seen again. */
const MOST_WAITING = 10_000;

export function start(host: KeeperHost): KeeperPart<IdentityUp> {
  const book = new PeopleBook(host);
  peopleBook.set(host.offers, book);
  const waiting = new Map<string, SeenPerson>();
  let isWriting = false;
  const write = async () => {
    if (isWriting) return;
    isWriting = true;
    try {
      while (waiting.size > 0) {
        const people = [...waiting.values()].slice(0, 200);
        for (const { id } of people) waiting.delete(id);
        await book.note(people);
      }
    } catch (cause) {
      host.report(`identity: people who were seen could not be written down: ${(cause as Error).message}`);
    } finally {
      isWriting = false;
    }
  };
  return {
    connect: () => ({
      receive({ seen }) {
        if (waiting.size < MOST_WAITING) waiting.set(seen.id, seen);
        void write();
      },
      ended() {},
    }),
  };
}
