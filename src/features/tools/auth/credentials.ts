/** The credentials of servers in the process of the tools: one place for the tokens of all callers. */
import { printable } from "../../../core/printable.ts";
import { Accounts, expectCodes } from "./accounts.ts";
import { answerFault } from "./answer-check.ts";
import { askingWith } from "./asking.ts";
import { Authorities, type Guarded } from "./authorities.ts";
import type { ServerConfig } from "../section.ts";
import { ClientCredentials } from "./client-credentials.ts";
import type { ConnectAnswer, ConnectAsk } from "./connecting.ts";
import { AuthFault, type Credential, unreachable } from "./credential.ts";
import { Exchanges } from "./exchange.ts";
import { type AuthConfig, type ClientConfig, plain } from "./section.ts";
import { UserCredential } from "./user.ts";
import { Vault } from "./vault.ts";
import { join } from "node:path";

/** A server, as far as its credentials are concerned. */
export interface AuthServer {
  readonly name: string;
  readonly url: string;
  readonly auth?: AuthConfig;
}

export interface CredentialsHost {
  /** Folder of the process; undefined: everything is kept in memory. */
  readonly folder: string | undefined;
  fault(sentence: string): void;
  info(sentence: string): void;
}

export interface CredentialsOptions {
  /** Public address of weir. */
  readonly url?: string;
  /** Hosts of authorization servers that may be at addresses of this network. */
  readonly hosts: readonly string[];
}

export class Credentials {
  readonly #vault: Vault;
  readonly #host: CredentialsHost;
  #options: CredentialsOptions = { hosts: [] };
  #authorities: Authorities;
  #accounts: Accounts;
  #exchanges: Exchanges;
  /** By server: weir itself has one token for all callers. */
  #own = new Map<string, { readonly of: string; readonly credential: ClientCredentials }>();

  constructor(host: CredentialsHost) {
    this.#host = host;
    this.#vault = new Vault(host.folder && join(host.folder, "auth"), host.fault);
    [this.#authorities, this.#accounts, this.#exchanges] = this.#made();
  }

  /** Keys that seal tokens at rest, the one of now first. */
  sealBy(keys: readonly string[]): void {
    this.#vault.sealBy(keys);
  }

  /** The options of a config; what was known of other ones is forgotten, tokens are not. */
  configure({ url, hosts }: CredentialsOptions): void {
    const options = { hosts, ...(url !== undefined && { url: url.replace(/\/$/, "") }) };
    if (JSON.stringify(options) === JSON.stringify(this.#options)) return;
    this.#options = options;
    this.#own.clear();
    [this.#authorities, this.#accounts, this.#exchanges] = this.#made();
  }

  #made(): [Authorities, Accounts, Exchanges] {
    const { url = "", hosts } = this.#options;
    const asking = (own: string) => {
      // The operator has named the server itself.
      const { host } = new URL(own);
      return askingWith([...hosts, host]);
    };
    const vault = this.#vault;
    const authorities = new Authorities({ vault, asking, url });
    const info = (sentence: string) => this.#host.info(sentence);
    return [authorities, new Accounts({ vault, authorities, url, info }), new Exchanges(authorities)];
  }

  /** @param owner id of the principal for whom a request is @param brought credential that it brings */
  of({ name, url, auth = {} }: AuthServer, owner: string, brought?: string): Credential {
    const { bearer, headers = {}, clientCredentials, user, exchange, clientHeader } = auth;
    const fixed = Object.fromEntries(
      Object.entries(headers).map(([header, value]) => [header.toLowerCase(), plain(value)]),
    );
    if (bearer !== undefined) fixed["authorization"] = `Bearer ${plain(bearer)}`;
    const found = clientCredentials
      ? this.#ofWeir({ name, url, client: textsOf(clientCredentials) })
      : user &&
        new UserCredential({ name, url, client: textsOf(user) }, owner, this.#accounts, this.#authorities);
    if (exchange) return beside(fixed, this.#exchanges.of({ name, url, client: textsOf(exchange) }, brought));
    if (clientHeader !== undefined) return beside(fixed, broughtBy(name, clientHeader, brought));
    return found ? beside(fixed, found) : beside(fixed);
  }

  #ofWeir(server: Guarded): ClientCredentials {
    const of = JSON.stringify(server);
    const known = this.#own.get(server.name);
    if (known?.of === of) return known.credential;
    const credential = new ClientCredentials(server, this.#authorities);
    this.#own.set(server.name, { of, credential });
    return credential;
  }

  /** Answers the part that serves browsers. @param servers of the config */
  async connect(ask: ConnectAsk, servers: readonly AuthServer[]): Promise<ConnectAnswer> {
    const accounts = this.#accounts;
    if ("owners" in ask) return { owners: accounts.owners() };
    if ("forget" in ask) {
      accounts.forget(ask.forget);
      return { gone: true };
    }
    try {
      if ("finish" in ask) return { server: await accounts.finish(ask.finish) };
      const { server: name, secret } = ask.link;
      const server = servers.find((one) => one.name === name);
      const link = accounts.links.find(name, secret, Date.now());
      if (!link || !server?.auth?.user) return { gone: true };
      if (ask.refuse) accounts.links.refuse(secret);
      if (ask.owner === undefined) return { link: { owner: link.owner, host: new URL(server.url).host } };
      const guarded = { name, url: server.url, client: textsOf(server.auth.user) };
      const begun = await accounts.begin(guarded, secret, ask.owner);
      return begun ? { begun } : { gone: true };
    } catch (thrown) {
      if (!(thrown instanceof AuthFault)) throw thrown;
      this.#host.info(`tools: an account was not connected: ${thrown.message}`);
      return { fault: printable(thrown.message) };
    }
  }

  /** Why a server's authorization server cannot be used, for the operator: a clause; undefined: it can. */
  fault(server: AuthServer): Promise<string | undefined> {
    return this.#faultOf(server, () => Promise.resolve(undefined));
  }

  /** The same after a look at one of its answers. */
  faultWithAnswer(server: AuthServer): Promise<string | undefined> {
    return this.#faultOf(server, (guarded) => answerFault(this.#authorities, guarded));
  }

  /** @param more for servers where callers have accounts */
  async #faultOf(
    { name, url, auth = {} }: AuthServer,
    more: (server: Guarded) => Promise<string | undefined>,
  ): Promise<string | undefined> {
    const { user, clientCredentials, exchange } = auth;
    const config = user ?? clientCredentials ?? exchange;
    if (!config || (clientCredentials ?? exchange)?.tokenUrl !== undefined) return undefined;
    const server = { name, url, client: textsOf(config) };
    try {
      const found = await this.#authorities.find(server);
      if (user) expectCodes(found);
      if (user) this.#authorities.expectKnown(server, found);
      const fault = user && (await more(server));
      return fault && printable(fault);
    } catch (thrown) {
      if (thrown instanceof AuthFault) return printable(thrown.message);
      throw thrown;
    }
  }
}

/** The same with texts in place of secrets. */
function textsOf(config: ClientConfig): Guarded["client"] {
  const { secret, key, ...others } = config;
  return {
    ...others,
    ...(secret !== undefined && { secret: plain(secret) }),
    ...(key !== undefined && { key: plain(key) }),
  };
}

/** Headers of the config beside a credential that may change. */
function beside(fixed: Readonly<Record<string, string>>, credential?: Credential): Credential {
  if (!credential) return { headers: () => Promise.resolve(fixed), refused: () => Promise.resolve(false) };
  return {
    headers: async () => ({ ...fixed, ...(await credential.headers()) }),
    refused: (answer) => credential.refused(answer),
  };
}

/** A server of the config, as far as its credentials are concerned. */
export function guardedBy(
  { name, config: { auth } }: { readonly name: string; readonly config: Pick<ServerConfig, "auth"> },
  url: string,
): AuthServer {
  return { name, url, ...(auth && { auth }) };
}

/** A credential of the client. Without a scheme it is a token. */
function broughtBy(server: string, header: string, value: string | undefined): Credential {
  const sent: Record<string, string> = {};
  if (value !== undefined) sent["authorization"] = /^[a-z]+ /i.test(value) ? value : `Bearer ${value}`;
  return {
    headers: () => Promise.resolve(sent),
    refused({ status }) {
      if (status !== 401) return Promise.resolve(false);
      const why = value === undefined ? "is missing" : "is refused there";
      const fault = new AuthFault(`the credential for it in the header ${header} ${why}`);
      return Promise.reject(unreachable(server, fault) as Error);
    },
  };
}
