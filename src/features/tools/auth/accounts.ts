/** The accounts of callers at servers: how they are connected, and the tokens that come of it. */
import { shown } from "./asking.ts";
import type { Authorities, Found, Guarded } from "./authorities.ts";
import { AuthFault, GrantRefused, NeedsUser } from "./credential.ts";
import { type Link, Links, randomSecret } from "./links.ts";
import { askToken, type Client, ClientRefused, isStale, type Tokens } from "./token-endpoint.ts";
import { digestName, type Vault } from "./vault.ts";

/** A caller has this long for the pages of the authorization server. Milliseconds. */
const ATTEMPT_MS = 600_000;
const MOST_ATTEMPTS = 10_000;
/** A caller who has not got the scopes that weir asked for is not asked again in this time. Milliseconds. */
const AGAIN_MS = 600_000;
/** A token that is younger is not replaced because a server refuses it. Milliseconds. */
const PAUSE_MS = 5_000;

/** What is kept of an account. */
interface Account extends Tokens {
  readonly server: string;
  readonly owner: string;
  /** Where the server was: tokens go to no other place of the same name. */
  readonly url: string;
  /** Whose tokens they are: they go to no other. */
  readonly issuer: string;
  readonly client: Client;
  readonly resource: string;
  /** Scopes that weir has asked for. */
  readonly asked: string;
}

/** A browser is at the authorization server. */
interface Attempt {
  readonly server: Guarded;
  readonly link: Link;
  readonly found: Found;
  readonly client: Client;
  readonly verifier: string;
  readonly asked: string;
  /** A secret that only this browser has. */
  readonly binding: string;
  readonly until: number;
}

export interface Begun {
  /** Where the browser goes. */
  readonly location: string;
  readonly state: string;
  readonly binding: string;
}

/** How a browser came back. */
export interface CameBack {
  readonly state: string;
  readonly binding: string;
  readonly code?: string;
  readonly iss?: string;
  readonly error?: string;
}

export interface AccountsOptions {
  readonly vault: Vault;
  readonly authorities: Authorities;
  /** Public address of weir, without a slash at the end. */
  readonly url: string;
  info(sentence: string): void;
}

export class Accounts {
  readonly links = new Links();
  readonly #options: AccountsOptions;
  readonly #attempts = new Map<string, Attempt>();
  readonly #refreshing = new Map<string, Promise<Account | undefined>>();

  constructor(options: AccountsOptions) {
    this.#options = options;
  }

  /** A token that a server may accept. @returns undefined if the caller has no account there @throws AuthFault */
  async token(server: Guarded, owner: string): Promise<string | undefined> {
    const account = this.#account(server, owner);
    const current = account && isStale(account, Date.now()) ? await this.#next(server, account) : account;
    return current?.access;
  }

  #account({ name, url }: Guarded, owner: string): Account | undefined {
    const account = this.#options.vault.get<Account>(nameOf(name, owner));
    return account?.url === url ? account : undefined;
  }

  /**
   * A server wants more scopes than a token has.
   * @returns undefined for scopes that were asked for a moment ago: the authorization server has not given them; and where the
   * operator has said which ones weir asks for
   */
  widened(server: Guarded, owner: string, scope: string): NeedsUser | undefined {
    const account = this.#account(server, owner);
    const all = joined(account?.asked ?? "", scope);
    if (server.client.scope !== undefined) return undefined;
    if (account && all === account.asked && Date.now() - account.at < AGAIN_MS) return undefined;
    return this.needs(server, owner, all);
  }

  /** @param scope that the server wants */
  needs({ name }: Guarded, owner: string, scope?: string): NeedsUser {
    const secret = this.links.give(name, owner, scope, Date.now());
    return new NeedsUser(name, `${this.#options.url}/mcp/connect/${name}?t=${secret}`);
  }

  /**
   * A server has refused a token. Another one is sought; without one the caller connects again.
   * @returns false for a token that is new: the next one would be no better @throws NeedsUser, AuthFault
   */
  async refused(server: Guarded, owner: string, access: string): Promise<boolean> {
    const account = this.#account(server, owner);
    if (account?.access !== access) return true;
    const { authority } = await this.#options.authorities.find(server);
    const isNew = account.refresh !== undefined && Date.now() - account.at < PAUSE_MS;
    if (isNew && authority.issuer === account.issuer) return false;
    if (await this.#next(server, account, true)) return true;
    throw this.needs(server, owner);
  }

  /**
   * The next token, for all who ask at the same time.
   * @returns undefined if the account has to be connected again @throws AuthFault if the authorization server is away
   */
  #next(server: Guarded, account: Account, isRefused = false): Promise<Account | undefined> {
    const name = nameOf(account.server, account.owner);
    const running = this.#refreshing.get(name);
    if (running) return running;
    const next = this.#refresh(server, account, isRefused).finally(() => this.#refreshing.delete(name));
    this.#refreshing.set(name, next);
    return next;
  }

  async #refresh(server: Guarded, account: Account, isRefused: boolean): Promise<Account | undefined> {
    const { vault, authorities, info } = this.#options;
    const name = nameOf(account.server, account.owner);
    const { refresh, issuer, client, resource, until, scope } = account;
    const isGood = !isRefused && until !== undefined && Date.now() < until;
    try {
      const { authority } = await authorities.find(server);
      if (authority.issuer !== issuer) throw new GrantRefused(`its authorization server is another one now`);
      if (refresh === undefined) throw new GrantRefused("there is no refresh token");
      const { tokenEndpoint: url, methods } = authority;
      const tokens = await askToken(authorities.ask(server), { url, issuer, methods }, client, {
        ...{ grant_type: "refresh_token", refresh_token: refresh, resource },
      });
      const next: Account = {
        ...{ refresh, ...(scope !== undefined && { scope }) },
        ...only(account),
        ...tokens,
      };
      // Somebody may have forgotten it meanwhile.
      if (vault.get(name) === undefined) return undefined;
      vault.set(name, next);
      return next;
    } catch (thrown) {
      const isEnd = thrown instanceof GrantRefused || thrown instanceof ClientRefused;
      // A token is good to its end, also while the authorization server is away.
      if (isGood && (!isEnd || refresh === undefined)) return account;
      if (!isEnd) throw thrown;
      if (thrown instanceof ClientRefused) authorities.forgetClient(issuer);
      info(`tools: ${account.owner} has to connect ${server.name} again: ${thrown.message}`);
      vault.delete(name);
      return undefined;
    }
  }

  /** Begins to connect an account: the caller has shown who it is. @returns undefined for a link that is none any more @throws AuthFault */
  async begin(server: Guarded, secret: string, owner: string): Promise<Begun | undefined> {
    const now = Date.now();
    const link = this.links.take(server.name, secret, owner, now);
    if (!link) return undefined;
    const { authorities } = this.#options;
    const found = await authorities.find(server);
    const authorizationEndpoint = expectCodes(found);
    const client = await authorities.client(server, found);
    const [state, verifier, binding] = [randomSecret(), randomSecret(), randomSecret()];
    const asked = scopeFor(server, link, found);
    for (const [key, { until }] of this.#attempts) if (until <= now) this.#attempts.delete(key);
    const attempt = { server, link, found, client, verifier, binding, asked, until: now + ATTEMPT_MS };
    this.#attempts.set(state, attempt);
    if (this.#attempts.size > MOST_ATTEMPTS) this.#attempts.delete(this.#attempts.keys().next().value!);
    const { resource } = found.guarded;
    const { redirect } = authorities;
    const request = { client, redirect, state, verifier, resource, asked };
    return { location: authorizationAddress(authorizationEndpoint, request).href, state, binding };
  }

  /** Ends an attempt. @returns name of the server @throws AuthFault for an answer that does not belong to it, or a refusal */
  async finish({ state, binding, code, iss, error }: CameBack): Promise<string> {
    const attempt = this.#attempts.get(state);
    if (!attempt || attempt.until <= Date.now())
      throw new AuthFault("no caller of weir asked for this, or it was long ago");
    if (!isSame(attempt.binding, binding)) throw new AuthFault("another browser has asked for this");
    this.#attempts.delete(state);
    const { server, link, found, client, verifier, asked } = attempt;
    const { issuer } = found.authority;
    const fault = issFault(found, iss);
    if (fault !== undefined) throw new AuthFault(fault);
    if (error !== undefined || code === undefined)
      throw new AuthFault(
        `the authorization server ${issuer} refused it${error === undefined ? "" : `: ${shown(error)}`}`,
      );
    const tokens = await this.#exchange(attempt, code, verifier);
    const account: Account = {
      ...{
        server: server.name,
        owner: link.owner,
        url: server.url,
        issuer,
        client,
        resource: found.guarded.resource,
        asked,
      },
      ...tokens,
    };
    this.#options.vault.set(nameOf(server.name, link.owner), account);
    return server.name;
  }

  async #exchange({ server, found, client }: Attempt, code: string, verifier: string): Promise<Tokens> {
    const { authorities } = this.#options;
    const { tokenEndpoint: url, issuer, methods } = found.authority;
    try {
      return await askToken(authorities.ask(server), { url, issuer, methods }, client, {
        ...{ grant_type: "authorization_code", code, redirect_uri: authorities.redirect },
        ...{ code_verifier: verifier, resource: found.guarded.resource },
      });
    } catch (thrown) {
      if (thrown instanceof ClientRefused) authorities.forgetClient(issuer);
      throw thrown;
    }
  }

  /** Deletes what a caller has connected. */
  forget(owner: string): void {
    const { vault } = this.#options;
    this.links.forget(owner);
    for (const [state, { link }] of this.#attempts) if (link.owner === owner) this.#attempts.delete(state);
    for (const name of vault.names(ownerName(owner))) vault.delete(name);
  }

  /** Those who have connected accounts. */
  owners(): string[] {
    const { vault } = this.#options;
    const all = vault.names("account-").flatMap((name) => vault.get<Account>(name)?.owner ?? []);
    return [...new Set(all)];
  }
}

/** What stays the same when a token is replaced. */
function only({ server, owner, url, issuer, client, resource, asked }: Account) {
  return { server, owner, url, issuer, client, resource, asked };
}

/** The scopes of the operator, else those of the server, which may have asked for some in a challenge. */
function scopeFor({ client }: Guarded, link: Link, { guarded, authority }: Found): string {
  if (client.scope !== undefined) return client.scope;
  const offline = authority.scopes.includes("offline_access") ? "offline_access" : "";
  return joined(link.scope ?? guarded.scope ?? "", offline);
}

/** The words of both. */
function joined(one: string, other: string): string {
  return [...new Set(`${one} ${other}`.split(" ").filter((word) => word !== ""))].join(" ");
}

const ownerName = (owner: string) => `account-${digestName(owner)}-`;
const nameOf = (server: string, owner: string) => ownerName(owner) + server;

function challengeOf(verifier: string): string {
  return new Bun.CryptoHasher("sha256").update(verifier).digest("base64url");
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && crypto.timingSafeEqual(a, b);
}

/** What weir asks for by a browser. */
interface CodeRequest {
  readonly client: Client;
  readonly redirect: string;
  readonly state: string;
  readonly verifier: string;
  readonly resource: string;
  /** Scopes, with spaces between them. */
  readonly asked: string;
}

export function authorizationAddress(
  endpoint: string,
  { client, redirect, state, verifier, resource, asked }: CodeRequest,
): URL {
  const address = new URL(endpoint);
  const query = {
    ...{ response_type: "code", client_id: client.id, redirect_uri: redirect },
    ...{ code_challenge: challengeOf(verifier), code_challenge_method: "S256", state },
    ...{ resource, ...(asked !== "" && { scope: asked }) },
  };
  for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value);
  return address;
}

/** A clause for an answer that names another authorization server, or none though it was promised (RFC 9207). */
export function issFault({ authority }: Found, iss: string | undefined): string | undefined {
  const { issuer, namesItself } = authority;
  const isWrong = iss === undefined ? namesItself : iss !== issuer;
  if (!isWrong) return undefined;
  const said = iss === undefined ? "has no iss" : `has the iss ${shown(iss)}`;
  return `the answer is not one of the authorization server ${issuer}: it ${said}`;
}

/** @returns where browsers go @throws AuthFault for an authorization server that takes no codes in a way that weir trusts */
export function expectCodes({ authority }: Found): string {
  const { authorizationEndpoint, takesChallenges, issuer } = authority;
  if (authorizationEndpoint === undefined)
    throw new AuthFault(`the metadata of ${issuer} has no authorization_endpoint`);
  if (takesChallenges) return authorizationEndpoint;
  throw new AuthFault(`the authorization server ${issuer} does not say that it takes PKCE with S256`);
}
