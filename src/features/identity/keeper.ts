/** The part in the keeper: writes down whom workers have seen, and what operators decide. Its code is loaded when it is used first. */
import type { KeeperHost, KeeperPart } from "../../keeper/seams.ts";
import { DeclaredPart } from "./declared/apply.ts";
import type { IdentityAsk, IdentityDown, IdentityUp, OAuthAnswer, SeenPerson } from "./messages.ts";
import type { AuthorizationServer } from "./own/authorization-server.ts";
import type { OAuthBrowser } from "./own/browser.ts";
import type { AuthorizationSettings } from "./own/settings.ts";
import type { PeopleBook } from "./people-book.ts";
import { ScimPart } from "./scim/part.ts";
import { SeenPeople } from "./seen-people.ts";
import type { SignInSettings } from "./sign-in/settings.ts";
import type { SignIn } from "./sign-in/sign-in.ts";
import { keeperPart } from "./slots.ts";

/** How old the answer of a provider may be when a program of a person gets its next token. Milliseconds. */
const RECHECK_MS = 10_000;

export function start(host: KeeperHost): KeeperPart<IdentityUp, IdentityDown> {
  let loaded: Promise<PeopleBook> | undefined;
  const book = () =>
    (loaded ??= import("./people-book.ts").then(
      ({ PeopleBook }) => new PeopleBook(host, () => declared.people),
    ));
  const declared = new DeclaredPart(host, book);
  const scim = new ScimPart(host);
  const signIn = new SignInPart(host, book, scim);
  keeperPart.set(host.offers, {
    ...{ book, signIn: () => signIn.current(), browser: () => signIn.browser(), scim },
    refusesKeys: () => signIn.refusesKeys,
  });
  const seen = new SeenPeople(async (people) => {
    await (await book()).note(people);
    await scim.join(people);
    await declared.seen(people);
  }, host.report);
  return {
    connect: (send) => ({
      receive(message) {
        if ("declared" in message) return declared.configure(message.declared);
        if ("signIn" in message) return signIn.configure(message.signIn ?? undefined);
        if ("scim" in message) return scim.configure(message.scim ?? undefined);
        if ("ask" in message) {
          const { number, ask } = message;
          return void signIn.answer(ask).then((answer) => send({ number, answer }));
        }
        seen.add(message.seen);
      },
      ended() {},
    }),
    close() {
      declared.stop();
      scim.stop();
      signIn.configure(undefined);
    },
  };
}

interface Programs {
  readonly server: AuthorizationServer;
  readonly browser: OAuthBrowser;
}

/** How people sign in, as the workers said last. */
class SignInPart {
  readonly #host: KeeperHost;
  readonly #book: () => Promise<PeopleBook>;
  readonly #scim: ScimPart;
  #settings: SignInSettings | undefined;
  #written = "";
  #loaded: Promise<SignIn> | undefined;
  #server: Promise<Programs> | undefined;

  constructor(host: KeeperHost, book: () => Promise<PeopleBook>, scim: ScimPart) {
    this.#host = host;
    this.#book = book;
    this.#scim = scim;
  }

  configure(settings: SignInSettings | undefined): void {
    const written = JSON.stringify(settings) ?? "";
    if (written === this.#written) return;
    this.#written = written;
    this.#settings = settings;
    void this.#loaded?.then((former) => former.stop());
    this.#loaded = undefined;
    this.#server = undefined;
  }

  get refusesKeys(): boolean {
    return this.#settings?.only === true;
  }

  current(): Promise<SignIn> | undefined {
    const settings = this.#settings;
    return settings && (this.#loaded ??= this.#load(settings));
  }

  async browser(): Promise<OAuthBrowser | undefined> {
    return (await this.#programs())?.browser;
  }

  /** The answer to a question of a worker; undefined if there is none at the moment. */
  async answer(ask: IdentityAsk): Promise<OAuthAnswer | undefined> {
    try {
      if ("oauth" in ask) return await (await this.#programs())?.server.answer(ask.oauth);
      if ("browser" in ask) {
        const body = await (await this.current())?.user(ask.browser);
        return body && { status: 200, body };
      }
      const { personNamed } = await import("./act/named.ts");
      return await personNamed(this.#host, ask.person);
    } catch (cause) {
      this.#host.report(`identity: a question of a worker failed: ${(cause as Error).message}`);
      return undefined;
    }
  }

  #programs(): Promise<Programs | undefined> {
    const tokens = this.#settings?.tokens;
    if (!this.#settings || !tokens) return Promise.resolve(undefined);
    return (this.#server ??= this.#loadServer(this.#settings, tokens));
  }

  async #loadServer(settings: SignInSettings, tokens: AuthorizationSettings): Promise<Programs> {
    const [{ AuthorizationServer }, { OAuthBrowser }, people] = await Promise.all([
      import("./own/authorization-server.ts"),
      import("./own/browser.ts"),
      this.#book(),
    ]);
    const host = this.#host;
    const { createUnder } = settings;
    const signIn = await this.current()!;
    const server = new AuthorizationServer({
      ...{ host, people, settings: tokens, now: Date.now },
      recheck: (person, provider) => signIn.recheck.check(person, provider, { olderThanMs: RECHECK_MS }),
      ...(createUnder !== undefined && { createUnder }),
    });
    const browser = new OAuthBrowser({
      ...{ server, settings: tokens, note: host.note, now: Date.now },
      who: (request, asked) => signIn.browser(request, asked),
      signIn: (to) => signIn.location(to),
    });
    return { server, browser };
  }

  async #load(settings: SignInSettings): Promise<SignIn> {
    const [{ SignIn }, { SessionBook }, people] = await Promise.all([
      import("./sign-in/sign-in.ts"),
      import("./sign-in/session-book.ts"),
      this.#book(),
    ]);
    const host = this.#host;
    const join = (person: SeenPerson) => this.#scim.join([person]);
    return new SignIn({ host, settings, people, sessions: new SessionBook(host), join, now: Date.now });
  }
}
