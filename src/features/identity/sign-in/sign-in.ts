/** Signs people in to the console: the way to the provider and back, sessions, and the page of a person about itself. */
import type { AdminBooks } from "../../../admin/books.ts";
import type { AskedPage, OwnSession } from "../../../admin/own-pages.ts";
import type { BrowserUser } from "../../../gateway/seams.ts";
import { digestOf } from "../../../ledger/keys/form.ts";
import type { KeeperHost } from "../../../keeper/seams.ts";
import { DECLARED } from "../declared/people.ts";
import { fetchDocument } from "../fetch-document.ts";
import type { BrowserAsk, SeenPerson } from "../messages.ts";
import type { PeopleBook } from "../people-book.ts";
import { besideTokens } from "../people.ts";
import { Me, mine } from "../me/me.ts";
import { ME, meAnswer } from "../me/page.ts";
import { rightsOf } from "../roles.ts";
import { TokenFault } from "../tokens/fault.ts";
import { ATTEMPT_MS, ownTarget } from "./attempt.ts";
import { formIn } from "./body.ts";
import { cookieIn, type CookieNames, cookieNames, setCookie } from "./cookies.ts";
import { HEADERS, page } from "../../../core/page.ts";
import { awayPage, causeOf, notAllowed, refusedPage, signInPage } from "./pages.ts";
import { Provider, type SignedIn } from "./provider.ts";
import { Recheck } from "./recheck.ts";
import { RefreshBook } from "./refresh-book.ts";
import { RefusalNotes } from "./refusals.ts";
import { Sealer } from "./sealer.ts";
import { type Session, SessionBook } from "./session-book.ts";
import type { SignInSettings } from "./settings.ts";

export interface SignInOptions {
  readonly host: KeeperHost;
  readonly settings: SignInSettings;
  readonly people: PeopleBook;
  readonly sessions: SessionBook;
  /** Somebody signs in, who may be a user of SCIM that waits. */
  join(person: SeenPerson): Promise<void>;
  now(): number;
}

/** Attempts that have come back, so that none comes back twice. */
const MOST_USED = 10_000;
/** Longest form that is read. Bytes. */
const MOST_FORM = 20_000;
/** A longer ID token is not kept: with it the way to the provider would be too long for browsers. Characters. */
const MOST_ID_TOKEN = 6_000;
const LOGIN_PATH = /^\/auth\/(login|callback|backchannel)\/([a-z][a-z0-9-]{0,31})$/;

export class SignIn {
  readonly #options: SignInOptions;
  readonly #providers: ReadonlyMap<string, Provider>;
  readonly #cookies: CookieNames;
  readonly #used = new Map<string, number>();
  readonly #refusals: RefusalNotes;
  /** Providers of which the log has said that they give no refresh token. */
  readonly #toldOf = new Set<string>();
  /** By provider. */
  readonly #idTokens: ReadonlyMap<string, Sealer>;
  /** Asks providers whether people may still sign in. */
  readonly recheck: Recheck;

  constructor(options: SignInOptions) {
    const { settings, host, people, sessions, now } = options;
    this.#options = options;
    this.me = new Me(options);
    this.#cookies = cookieNames(settings.url);
    this.#refusals = new RefusalNotes(host, now);
    this.#providers = new Map(
      settings.providers.map((provider) => {
        const callback = `${settings.url}/auth/callback/${provider.name}`;
        return [provider.name, new Provider({ provider, callback, fetchDocument, now, fault: host.report })];
      }),
    );
    this.#idTokens = new Map(
      settings.providers.map(({ name, secret }) => [name, new Sealer(secret, "ID tokens")]),
    );
    const providers = new Map(
      settings.providers.map(({ name, secret }) => [
        name,
        { provider: this.#providers.get(name)!, sealer: new Sealer(secret, "refresh tokens") },
      ]),
    );
    const book = new RefreshBook(host);
    this.recheck = new Recheck({ book, people, sessions, providers, now, fault: host.report });
  }

  /** What people do about themselves. */
  readonly me: Me;

  stop(): void {
    for (const provider of this.#providers.values()) provider.stop();
  }

  /** @returns undefined for a path that is none of its pages */
  page(request: Request, asked: AskedPage): Promise<Response> | undefined {
    const { pathname } = asked.url;
    if (pathname === "/auth" || pathname === "/auth/") return this.#choose(asked);
    if (pathname === ME || pathname.startsWith(`${ME}/`)) return this.#me(request, asked);
    if (pathname === "/auth/logout") return this.#logout(request, asked);
    const [, what, name = ""] = LOGIN_PATH.exec(pathname) ?? [];
    const provider = this.#providers.get(name);
    if (what === undefined) return undefined;
    if (!provider) return Promise.resolve(page("There is no such provider", "", 404));
    if (what === "login") return this.#login(request, asked, provider);
    return what === "callback"
      ? this.#callback(request, asked, provider)
      : this.#backchannel(request, provider);
  }

  /** Who has the session of a request's cookie. */
  async session(request: Request, books: AdminBooks, address: string): Promise<OwnSession | undefined> {
    const found = await this.#found(request.headers, books);
    if (!found) return undefined;
    const { secret, session } = found;
    const { sessions, now } = this.#options;
    const { grants, person, until } = session;
    const { options } = this.#options.settings.providers.find(({ name }) => name === session.provider) ?? {};
    const own: OwnSession = {
      until,
      isCurrent: () => {
        void this.recheck.admits(session).catch(() => {});
        return sessions.isCurrent(books, secret, now());
      },
      ...rightsOf({ person, address, grants, scopes: options?.scopes ?? {} }),
      end: async () => {
        await sessions.end({ actor: person, address }, secret);
        return setCookie(this.#cookies, this.#cookies.session, "", 0);
      },
    };
    mine.set(own, { me: this.me, session, secret });
    return own;
  }

  /** Whose browser asks, with something that only its session has. */
  async browser(request: Request, { books }: AskedPage) {
    const found = await this.#found(request.headers, books);
    return found && { session: found.session, binding: found.secret };
  }

  /** The same for a browser on the gateway's listener. */
  async user({ cookie, to }: BrowserAsk): Promise<BrowserUser> {
    const { host, settings } = this.#options;
    const found = await this.#found(new Headers({ cookie }), host);
    if (!found) return { signIn: settings.url + this.location(ownTarget(to, settings.url)) };
    const { person, name } = found.session;
    return { person, name, session: digestOf(found.secret) };
  }

  /** Where somebody signs in who comes back to an own path then: at the provider, if there is one only. */
  location(to: string): string {
    const [only, second] = this.#providers.keys();
    const page = only !== undefined && second === undefined ? `/auth/login/${only}` : "/auth/";
    return `${page}?to=${encodeURIComponent(to)}`;
  }

  /** The session of a request's cookie, if its provider is one of the config and still knows the person. */
  async #found(
    headers: Headers,
    books: Pick<KeeperHost, "read">,
  ): Promise<{ secret: string; session: Session } | undefined> {
    const secret = cookieIn(headers, this.#cookies.session);
    const { sessions, now } = this.#options;
    const session = secret === undefined ? undefined : await sessions.find(books, secret, now());
    if (!session || !this.#providers.has(session.provider)) return undefined;
    return (await this.recheck.admits(session)) ? { secret: secret!, session } : undefined;
  }

  async #choose({ url }: AskedPage): Promise<Response> {
    const to = ownTarget(url.searchParams.get("to"), this.#options.settings.url);
    const hint = this.#cookies.isSecure
      ? ""
      : "<p><small>This address has no TLS: sign in from this machine only.</small></p>";
    return signInPage([...this.#providers.keys()], to, hint);
  }

  async #login(request: Request, { url }: AskedPage, provider: Provider): Promise<Response> {
    if (request.method !== "GET") return notAllowed("GET");
    const to = ownTarget(url.searchParams.get("to"), this.#options.settings.url);
    try {
      const { location, attempt } = await provider.begin(to, url.searchParams.get("prompt"));
      const sealed = await provider.sealer.seal(attempt);
      const cookie = setCookie(this.#cookies, this.#loginCookie(attempt.state), sealed, ATTEMPT_MS / 1_000);
      return new Response(null, { status: 303, headers: { ...HEADERS, location, "set-cookie": cookie } });
    } catch (cause) {
      this.#options.host.report(`identity: ${provider.name} cannot sign anybody in: ${causeOf(cause)}`);
      return awayPage(provider.name);
    }
  }

  async #callback(
    request: Request,
    { url, address, books }: AskedPage,
    provider: Provider,
  ): Promise<Response> {
    if (request.method !== "GET") return notAllowed("GET");
    const state = url.searchParams.get("state") ?? "";
    const name = this.#loginCookie(state);
    const cleared = setCookie(this.#cookies, name, "", 0);
    const id = /^[\w-]{8}/.exec(state)?.[0] ?? "none";
    try {
      const attempt = await this.#attemptOf(request, url.searchParams, provider, name);
      const signedIn = await provider.finish(url.searchParams, attempt);
      const until = this.#options.now() + this.#options.settings.sessionMs;
      const secret = await this.#enter(signedIn, provider, address, until, books);
      const headers = new Headers({ ...HEADERS, location: attempt.to });
      headers.append(
        "set-cookie",
        setCookie(this.#cookies, this.#cookies.session, secret, this.#options.settings.sessionMs / 1_000),
      );
      headers.append("set-cookie", cleared);
      return new Response(null, { status: 303, headers });
    } catch (cause) {
      this.#options.host.report(
        `identity: sign-in ${id} at ${provider.name} from ${address} was refused: ${causeOf(cause)}`,
      );
      this.#refusals.add({ attempt: id, provider: provider.name, address, cause });
      const refused = refusedPage(id);
      refused.headers.append("set-cookie", cleared);
      return refused;
    }
  }

  /** @throws TokenFault for a callback that no attempt of this browser has asked for */
  async #attemptOf(request: Request, query: URLSearchParams, provider: Provider, name: string) {
    for (const parameter of new Set(query.keys()))
      if (query.getAll(parameter).length > 1)
        throw new TokenFault("malformed", `the callback has ${parameter} twice`);
    const sealed = cookieIn(request.headers, name);
    if (sealed === undefined) throw new TokenFault("claims", "the browser has no cookie of this attempt");
    const attempt = await provider.sealer.unseal(sealed);
    if (!attempt || attempt.provider !== provider.name)
      throw new TokenFault("claims", "the cookie is not one of this provider's attempts");
    const state = query.get("state") ?? "";
    if (!isEqual(attempt.state, state)) throw new TokenFault("claims", "state is not that of the cookie");
    const { now } = this.#options;
    for (const [used, at] of this.#used) if (now() - at > ATTEMPT_MS) this.#used.delete(used);
    if (this.#used.has(state)) throw new TokenFault("claims", "the attempt has come back already");
    this.#used.set(state, now());
    if (this.#used.size > MOST_USED) this.#used.delete(this.#used.keys().next().value!);
    return attempt;
  }

  /** Writes down who has signed in, and begins a session. @throws TokenFault for somebody who may not */
  async #enter(
    signedIn: SignedIn,
    { name }: Provider,
    address: string,
    until: number,
    books: AdminBooks,
  ): Promise<string> {
    const { people, sessions, settings, now } = this.#options;
    const { issuer } = settings.providers.find((one) => one.name === name)!.options;
    const { person, groups } = signedIn;
    const declared = people.declaredOf({ ...signedIn, issuer });
    const path = declared.path ?? signedIn.path;
    const { createUnder } = settings;
    const { subject, name: shownName, email, isEmailVerified, sid } = signedIn;
    const facts = { id: person, issuer, subject, name: shownName, isEmailVerified, path, at: now() };
    const seen = { ...facts, ...(email !== undefined && { email }) };
    await this.#options.join(seen);
    const before = await people.accessOf(books, person);
    if (before.status !== "active") throw new TokenFault("suspended", `${person} is ${before.status}`);
    const others = besideTokens(before.grants).filter(({ source }) => source !== DECLARED);
    const grants = [...signedIn.grants, ...others, ...declared.grants];
    const isGuest = createUnder !== undefined && path.startsWith(`${createUnder}/`);
    if (grants.length === 0 && !isGuest)
      throw new TokenFault(
        "unknown-person",
        `no group of ${person} has a role (${(groups ?? []).slice(0, 20).join(", ")})`,
      );
    await people.met(seen, "sign-in");
    const actor = { actor: person, address };
    await people.regroup(actor, person, signedIn.grants, declared);
    const isAskable = await this.recheck.keep({ person, provider: name }, signedIn.refreshToken);
    if (!isAskable) this.#tellOfRefresh(name);
    const { idToken } = signedIn;
    const isKept = idToken.length <= MOST_ID_TOKEN;
    const sealed = isKept ? await this.#idTokens.get(name)!.seal(idToken, person) : undefined;
    const session = { person, provider: name, sid, until, now: now() };
    return sessions.begin(actor, { ...session, ...(sealed !== undefined && { idToken: sealed }) });
  }

  /** The operator believes that people are re-checked. */
  #tellOfRefresh(name: string): void {
    const { settings, host } = this.#options;
    const wants = settings.providers.find((one) => one.name === name)!.scopes.includes("offline_access");
    if (!wants || this.#toldOf.has(name)) return;
    this.#toldOf.add(name);
    host.report(
      `identity: ${name} gives no refresh token, though ask has offline_access: weir cannot re-check people there; some providers give one with prompt: consent`,
    );
  }

  async #me(request: Request, asked: AskedPage): Promise<Response> {
    const found = await this.#found(request.headers, asked.books);
    if (!found)
      return new Response(null, {
        status: 303,
        headers: { ...HEADERS, location: "/auth/?to=%2Fconsole%2Fme" },
      });
    const { provider } = found.session;
    const endSession = await this.#providers.get(provider)!.endSession();
    const { origin } = new URL(this.#options.settings.url);
    return meAnswer(request, asked, { me: this.me, ...found }, { origin, endSession });
  }

  /** A page of another site cannot send it: `SameSite` keeps the cookie back, and the origin is checked. */
  async #logout(request: Request, { books, address }: AskedPage): Promise<Response> {
    if (request.method !== "POST") return notAllowed("POST");
    const origin = request.headers.get("origin");
    if (origin !== new URL(this.#options.settings.url).origin)
      return page("This form is of another page", "", 403);
    const isEverywhere = (await formIn(request, MOST_FORM))?.get("everywhere") === "1";
    const found = await this.#found(request.headers, books);
    const location = (found && isEverywhere && (await this.#logoutLocation(found))) || "/auth/";
    if (found) await this.#options.sessions.end({ actor: found.session.person, address }, found.secret);
    const cookie = setCookie(this.#cookies, this.#cookies.session, "", 0);
    return new Response(null, { status: 303, headers: { ...HEADERS, location, "set-cookie": cookie } });
  }

  /** The way to the end of the provider's own session. */
  async #logoutLocation({ secret, session }: { secret: string; session: Session }) {
    const { person, provider: name } = session;
    const sealed = await this.#options.sessions.idTokenOf(secret);
    const idToken = sealed && (await this.#idTokens.get(name)!.unseal(sealed, person));
    const back = `${this.#options.settings.url}/auth/`;
    return this.#providers.get(name)!.logoutLocation(back, idToken);
  }

  /** The provider says that somebody has signed out there. */
  async #backchannel(request: Request, provider: Provider): Promise<Response> {
    if (request.method !== "POST") return notAllowed("POST");
    try {
      const form = await formIn(request, MOST_FORM);
      const { sub, sid } = await provider.loggedOut(form?.get("logout_token") ?? "");
      const person = sub === undefined ? undefined : provider.personOf(sub);
      await this.#options.sessions.endAt(provider.name, {
        ...(person && { person }),
        ...(sid !== undefined && { sid }),
      });
      return new Response(null, { status: 200, headers: HEADERS });
    } catch (cause) {
      this.#options.host.report(
        `identity: a logout token of ${provider.name} was refused: ${causeOf(cause)}`,
      );
      return Response.json({ error: "invalid_request" }, { status: 400, headers: HEADERS });
    }
  }

  /** Each attempt has a cookie of its own, so that two tabs do not disturb each other. */
  #loginCookie(state: string): string {
    const name = /^[\w-]{8}/.exec(state)?.[0] ?? "none";
    return `${this.#cookies.login}-${name}`;
  }
}

function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && crypto.timingSafeEqual(a, b);
}
