/** Tokens for a server in exchange for those with which callers show themselves to weir (RFC 8693). */
import type { Authorities, Guarded } from "./authorities.ts";
import { AuthFault, type Credential, unreachable } from "./credential.ts";
import { askToken, isStale, type Tokens } from "./token-endpoint.ts";

const GRANT = "urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token";
/** Life of a token whose end is not told. Milliseconds. */
const USUAL_MS = 300_000;
/** A token that is younger is not replaced because a server refuses it. Milliseconds. */
const PAUSE_MS = 5_000;
const MOST = 10_000;

/** The tokens of all callers, by server and subject token. */
export class Exchanges {
  readonly #authorities: Authorities;
  readonly #kept = new Map<string, Promise<Tokens>>();

  constructor(authorities: Authorities) {
    this.#authorities = authorities;
  }

  /** @param subject token of the caller; undefined: it has shown a key */
  of(server: Guarded, subject: string | undefined): Credential {
    let last: Tokens | undefined;
    return {
      headers: async () => {
        try {
          if (subject === undefined)
            throw new AuthFault("it needs callers who sign in with a token, not with a key");
          last = await this.#token(server, subject);
          return { authorization: `Bearer ${last.access}` };
        } catch (thrown) {
          throw unreachable(server.name, thrown);
        }
      },
      refused: async ({ status, challenge }) => {
        if (status !== 401 || !last || subject === undefined || Date.now() - last.at < PAUSE_MS) return false;
        this.#authorities.doubt(server, challenge);
        this.#kept.delete(nameOf(server, subject));
        return true;
      },
    };
  }

  /** One request for all who ask at the same time. */
  async #token(server: Guarded, subject: string): Promise<Tokens> {
    const name = nameOf(server, subject);
    const kept = this.#kept.get(name);
    if (kept) {
      const known = await kept;
      if (!isStale(known, Date.now(), USUAL_MS)) return known;
      // Somebody else may have asked for the next one meanwhile.
      const next = this.#kept.get(name);
      if (next && next !== kept) return next;
    }
    const asked = this.#ask(server, subject);
    this.#kept.delete(name);
    this.#kept.set(name, asked);
    if (this.#kept.size > MOST) this.#kept.delete(this.#kept.keys().next().value!);
    asked.catch(() => this.#kept.get(name) === asked && this.#kept.delete(name));
    return asked;
  }

  async #ask(server: Guarded, subject: string): Promise<Tokens> {
    const { client, secret, key, method, tokenUrl, scope } = server.client;
    if (client === undefined) throw new AuthFault("an exchange needs a client");
    const found = tokenUrl === undefined ? await this.#authorities.find(server) : undefined;
    const endpoint = found
      ? {
          url: found.authority.tokenEndpoint,
          issuer: found.authority.issuer,
          methods: found.authority.methods,
        }
      : { url: tokenUrl!, methods: ["client_secret_basic"] };
    const identity = {
      id: client,
      ...(secret !== undefined && { secret }),
      ...(key !== undefined && { key }),
    };
    return askToken(
      this.#authorities.ask(server),
      endpoint,
      { ...identity, ...(method && { method }) },
      {
        ...{ grant_type: GRANT, subject_token: subject, subject_token_type: ACCESS_TOKEN },
        ...{ requested_token_type: ACCESS_TOKEN, resource: found?.guarded.resource ?? server.url },
        ...(scope !== undefined && { scope }),
      },
    );
  }
}

function nameOf({ name, url }: Guarded, subject: string): string {
  return `${name} ${url} ${new Bun.CryptoHasher("sha256").update(subject).digest("base64url")}`;
}
