/** The part in the keeper: writes down whom workers have seen, and what operators decide. Its code is loaded when it is used first. */
import type { KeeperHost, KeeperPart } from "../../keeper/seams.ts";
import type { IdentityUp, SeenPerson } from "./messages.ts";
import type { PeopleBook } from "./people-book.ts";
import { keeperPart } from "./slots.ts";

/** Most people that wait to be written down; they are seen again. */
const MOST_WAITING = 10_000;
const MOST_AT_ONCE = 200;

export function start(host: KeeperHost): KeeperPart<IdentityUp> {
  let loaded: Promise<PeopleBook> | undefined;
  const book = () => (loaded ??= import("./people-book.ts").then(({ PeopleBook }) => new PeopleBook(host)));
  keeperPart.set(host.offers, { book });
  const waiting = new Map<string, SeenPerson>();
  let isWriting = false;
  const write = async () => {
    if (isWriting) return;
    isWriting = true;
    try {
      while (waiting.size > 0) {
        const people = [...waiting.values()].slice(0, MOST_AT_ONCE);
        for (const { id } of people) waiting.delete(id);
        await (await book()).note(people);
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
