/** What weir knows of the authorization servers of its servers, and who it is there. */
import type { ClientConfig } from "./section.ts";
import type { AskAuthority } from "./asking.ts";
import { AuthFault } from "./credential.ts";
import {
  type Authority,
  authorityOf,
  challengeIn,
  type ProtectedServer,
  protectedServer,
} from "./discovery.ts";
import type { Client } from "./token-endpoint.ts";
import { digestName, type Vault } from "./vault.ts";

/** How long metadata is believed. Milliseconds. */
const FRESH_MS = 600_000;

/** A server whose authorization server is sought. */
export interface Guarded {
  readonly name: string;
  readonly url: string;
  readonly client: Omit<ClientConfig, "secret" | "key"> & { readonly secret?: string; readonly key?: string };
}

export interface Found {
  readonly guarded: ProtectedServer;
  readonly authority: Authority;
}

/** A client that registered itself (RFC 7591). */
interface Registered extends Client {
  readonly issuer: string;
  /** Milliseconds since 1970. */
  readonly until?: number;
}

export interface AuthoritiesOptions {
  readonly vault: Vault;
  /** Requests to the server itself, which the operator has named, and to others. */
  asking(own: string): AskAuthority;
  /** Public address of weir, without a slash at the end. */
  readonly url?: string;
}

export class Authorities {
  readonly #options: AuthoritiesOptions;
  readonly #known = new Map<string, { readonly found: Promise<Found>; readonly at: number }>();
  readonly #hints = new Map<string, string>();

  constructor(options: AuthoritiesOptions) {
    this.#options = options;
  }

  ask(server: Guarded): AskAuthority {
    return this.#options.asking(server.url);
  }

  /** Where the authorization server sends browsers back to. */
  get redirect(): string {
    return `${this.#options.url}/mcp/oauth/callback`;
  }

  /** Metadata is read again: a server has refused a token. @param challenge its `www-authenticate` */
  doubt(server: Guarded, challenge: string | undefined): void {
    const { document } = challengeIn(challenge);
    if (document !== undefined) this.#hints.set(server.url, document);
    this.#known.delete(placeOf(server));
  }

  /** @throws AuthFault */
  find(server: Guarded): Promise<Found> {
    const key = placeOf(server);
    const known = this.#known.get(key);
    if (known && Date.now() - known.at < FRESH_MS) return known.found;
    const found = this.#find(server);
    this.#known.set(key, { found, at: Date.now() });
    found.catch(() => this.#known.get(key)?.found === found && this.#known.delete(key));
    return found;
  }

  async #find(server: Guarded): Promise<Found> {
    const { url, client } = server;
    const ask = this.ask(server);
    const named = await protectedServer(ask, url, this.#hints.get(url) ?? (await this.#hint(ask, url)));
    const guarded = client.issuer === undefined ? named : { ...named, issuer: client.issuer };
    return { guarded, authority: await authorityOf(ask, guarded.issuer) };
  }

  /** A server may say in its challenge alone where its document is. */
  async #hint(ask: AskAuthority, url: string): Promise<string | undefined> {
    const body = JSON.stringify({ jsonrpc: "2.0", id: "who", method: "ping" });
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const answer = await ask(url, { method: "POST", headers, body }).catch(() => undefined);
    return answer?.status === 401 ? challengeIn(answer.header("www-authenticate")).document : undefined;
  }

  /** Who weir is for codes: as the operator says, by its document, or as it registers itself. @throws AuthFault */
  async client(server: Guarded, found: Found): Promise<Client> {
    return this.knownClient(server, found) ?? this.#registered(server, found.authority);
  }

  /** The same without registering. */
  knownClient(server: Guarded, { authority }: Found): Client | undefined {
    const { client: id, secret, key, method } = server.client;
    if (id !== undefined)
      return {
        ...{ id, ...(secret !== undefined && { secret }), ...(key !== undefined && { key }) },
        ...(method && { method }),
      };
    if (authority.readsDocuments && this.#isReadable(authority))
      return { id: `${this.#options.url}/oauth/client.json`, method: "none" };
    return undefined;
  }

  /** @throws AuthFault where weir cannot become known */
  expectKnown(server: Guarded, found: Found): void {
    if (!this.knownClient(server, found)) registrationOf(found.authority);
  }

  /** Forgets a client that its authorization server does not know any more. */
  forgetClient(issuer: string): void {
    this.#options.vault.delete(this.#clientName(issuer));
  }

  /** Who reads a document needs TLS; without it weir registers itself where it can. */
  #isReadable({ registrationEndpoint }: Authority): boolean {
    const { url = "" } = this.#options;
    return url.startsWith("https:") || (url !== "" && registrationEndpoint === undefined);
  }

  #clientName(issuer: string): string {
    return `client-${digestName(`${issuer} ${this.redirect}`)}`;
  }

  async #registered(server: Guarded, authority: Authority): Promise<Client> {
    const { vault } = this.#options;
    const name = this.#clientName(authority.issuer);
    const known = vault.get<Registered>(name);
    if (known?.issuer === authority.issuer && Date.now() < (known.until ?? Infinity)) return known;
    const endpoint = registrationOf(authority);
    const registered = await this.#register(this.ask(server), endpoint, authority);
    vault.set(name, registered);
    return registered;
  }

  async #register(ask: AskAuthority, endpoint: string, { issuer, methods }: Authority): Promise<Registered> {
    const method =
      ["none", "client_secret_basic", "client_secret_post"].find((one) => methods.includes(one)) ?? "none";
    const { status, body } = await ask(endpoint, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...this.description(), token_endpoint_auth_method: method }),
    });
    const id = body?.["client_id"];
    if (status >= 300 || !body || typeof id !== "string")
      throw new AuthFault(`the authorization server ${issuer} does not register weir: it answers ${status}`);
    const { client_secret: secret, client_secret_expires_at: ends } = body;
    const given = String(body["token_endpoint_auth_method"] ?? method);
    return {
      ...{
        issuer,
        id,
        method: given === "client_secret_post" ? "post" : given === "none" ? "none" : "basic",
      },
      ...(typeof secret === "string" && { secret }),
      ...(typeof ends === "number" && ends > 0 && { until: ends * 1_000 }),
    };
  }

  /** weir as a client (RFC 7591): what it registers, and its document has. */
  description(): object {
    return clientDescription(this.#options.url ?? "");
  }
}

/** @param url public address of weir */
export function clientDescription(url: string): object {
  return {
    ...{ client_name: "weir", client_uri: url, redirect_uris: [`${url}/mcp/oauth/callback`] },
    ...{ grant_types: ["authorization_code", "refresh_token"], response_types: ["code"] },
    ...{ token_endpoint_auth_method: "none", application_type: "web" },
  };
}

/** @throws AuthFault */
function registrationOf({ issuer, registrationEndpoint }: Authority): string {
  if (registrationEndpoint !== undefined) return registrationEndpoint;
  throw new AuthFault(
    `the authorization server ${issuer} neither reads documents of clients nor registers them; give user a client`,
  );
}

/** What is known of a server holds for its address, and the issuer that the operator names. */
function placeOf({ url, client: { issuer = "" } }: Guarded): string {
  return `${url} ${issuer}`;
}
