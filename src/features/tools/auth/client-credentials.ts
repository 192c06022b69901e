/** A token that weir gets for itself: one for each server, for all callers. */
import type { Authorities, Found, Guarded } from "./authorities.ts";
import { AuthFault, type Credential, unreachable } from "./credential.ts";
import { challengeIn } from "./discovery.ts";
import { askToken, isStale, type Tokens } from "./token-endpoint.ts";

/** Life of a token whose end is not told. Milliseconds. */
const USUAL_MS = 300_000;
/** After a token was refused at once, none is asked for in this time. Milliseconds. */
const PAUSE_MS = 5_000;

export class ClientCredentials implements Credential {
  readonly #server: Guarded;
  readonly #authorities: Authorities;
  #tokens: Tokens | undefined;
  #asking: Promise<Tokens> | undefined;
  #scope: string | undefined;

  constructor(server: Guarded, authorities: Authorities) {
    this.#server = server;
    this.#authorities = authorities;
  }

  async headers(): Promise<Readonly<Record<string, string>>> {
    try {
      const { access } = await this.#current();
      return { authorization: `Bearer ${access}` };
    } catch (thrown) {
      throw unreachable(this.#server.name, thrown);
    }
  }

  /** A token that is older than some seconds may have been revoked; a scope that was missing may be given. */
  refused({ status, challenge }: { status: number; challenge: string | undefined }): Promise<boolean> {
    const { scope, error } = challengeIn(challenge);
    const isWider = error === "insufficient_scope" && scope !== undefined && scope !== this.#scope;
    const isOld = this.#tokens === undefined || Date.now() - this.#tokens.at > PAUSE_MS;
    if (status === 403 ? !isWider : !isOld) return Promise.resolve(false);
    if (isWider && this.#server.client.scope === undefined) this.#scope = scope;
    this.#authorities.doubt(this.#server, challenge);
    this.#tokens = undefined;
    return Promise.resolve(true);
  }

  #current(): Promise<Tokens> {
    const tokens = this.#tokens;
    if (tokens && !isStale(tokens, Date.now(), USUAL_MS)) return Promise.resolve(tokens);
    this.#asking ??= this.#ask()
      .then((given) => (this.#tokens = given))
      .finally(() => (this.#asking = undefined));
    return this.#asking;
  }

  async #ask(): Promise<Tokens> {
    const { client, secret, key, method, tokenUrl, scope } = this.#server.client;
    if (client === undefined) throw new AuthFault("client credentials need a client");
    const identity = {
      id: client,
      ...(secret !== undefined && { secret }),
      ...(key !== undefined && { key }),
    };
    const found = tokenUrl === undefined ? await this.#authorities.find(this.#server) : undefined;
    const endpoint = found
      ? {
          url: found.authority.tokenEndpoint,
          issuer: found.authority.issuer,
          methods: found.authority.methods,
        }
      : { url: tokenUrl!, methods: ["client_secret_basic"] };
    const wanted = scope ?? this.#scope ?? found?.guarded.scope;
    return askToken(
      this.#authorities.ask(this.#server),
      endpoint,
      { ...identity, ...(method && { method }) },
      {
        ...{ grant_type: "client_credentials", ...(wanted !== undefined && { scope: wanted }) },
        resource: resourceOf(found, this.#server),
      },
    );
  }
}

function resourceOf(found: Found | undefined, { url }: Guarded): string {
  return found?.guarded.resource ?? url;
}
