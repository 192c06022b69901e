/** The part in the keeper: writes down whom workers have seen, and what operators decide. Its code is loaded when it is used first. */
import type { KeeperHost, KeeperPart } from "../../keeper/seams.ts";
import type { IdentityUp, SeenPerson } from "./messages.ts";
import type { PeopleBook } from "./people-book.ts";
import type { SignInSettings } from "./sign-in/settings.ts";
import type { SignIn } from "./sign-in/sign-in.ts";
import { keeperPart } from "./slots.ts";

/** Most people that wait to be written down; they are seen again. */
const MOST_WAITING = 10_000;
const MOST_AT_ONCE = 200;
const MOST_KNOWN = 100_000;

export function start(host: KeeperHost): KeeperPart<IdentityUp> {
  let loaded: Promise<PeopleBook> | undefined;
  const book = () => (loaded ??= import("./people-book.ts").then(({ PeopleBook }) => new PeopleBook(host)));
  const signIn = new SignInPart(host, book);
  keeperPart.set(host.offers, { book, signIn: () => signIn.current() });
  const waiting = new Map<string, SeenPerson>();
  /** What was written down of people since the start. */
  const known = new Map<string, string>();
  let isWriting = false;
  const write = async () => {
    if (isWriting) return;
    isWriting = true;
    try {
      while (waiting.size > 0) {
        const people = [...waiting.values()].slice(0, MOST_AT_ONCE);
        for (const { id } of people) waiting.delete(id);
        await (await book()).note(people).catch((cause: unknown) => {
          for (const { id } of people) known.delete(id);
          throw cause;
        });
      }
    } catch (cause) {
      host.report(`identity: people who were seen could not be written down: ${(cause as Error).message}`);
    } finally {
      isWriting = false;
    }
  };
  return {
    connect: () => ({
      receive(message) {
        if ("signIn" in message) return signIn.configure(message.signIn);
        const { seen } = message;
        const { at: _, ...facts } = seen;
        const written = JSON.stringify(facts);
        // All workers tell of the same people: an entry of the audit log for each time would bury the others.
        if (known.get(seen.id) === written || waiting.size >= MOST_WAITING) return;
        if (known.size >= MOST_KNOWN) known.clear();
        known.set(seen.id, written);
        waiting.set(seen.id, seen);
        void write();
      },
      ended() {},
    }),
    close: () => signIn.configure(undefined),
  };
}

/** How people sign in, as the workers said last. */
class SignInPart {
  readonly #host: KeeperHost;
  readonly #book: () => Promise<PeopleBook>;
  #settings: SignInSettings | undefined;
  #written = "";
  #loaded: Promise<SignIn> | undefined;

  constructor(host: KeeperHost, book: () => Promise<PeopleBook>) {
    this.#host = host;
    this.#book = book;
  }

  configure(settings: SignInSettings | undefined): void {
    const written = JSON.stringify(settings) ?? "";
    if (written === this.#written) return;
    this.#written = written;
    this.#settings = settings;
    void this.#loaded?.then((former) => former.stop());
    this.#loaded = undefined;
  }

  current(): Promise<SignIn> | undefined {
    const settings = this.#settings;
    return settings && (this.#loaded ??= this.#load(settings));
  }

  async #load(settings: SignInSettings): Promise<SignIn> {
    const [{ SignIn }, { SessionBook }, people] = await Promise.all([
      import("./sign-in/sign-in.ts"),
      import("./sign-in/session-book.ts"),
      this.#book(),
    ]);
    const host = this.#host;
    return new SignIn({ host, settings, people, sessions: new SessionBook(host), now: Date.now });
  }
}
