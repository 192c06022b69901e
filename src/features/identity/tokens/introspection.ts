/** Asks an issuer whether a token is still good (RFC 7662): some issuers end tokens before their time. */
import { isObject, parseJson } from "../../../core/json.ts";
import { basicAuthorization } from "../../../auth/client-identification.ts";
import { type FetchDocument, placeOf } from "../fetch-document.ts";
import { TokenFault } from "./fault.ts";

/** How long an answer counts, and how long while the issuer is away. Milliseconds. */
export const ANSWER_MS = 60_000;
const AWAY_MS = 300_000;
/** An issuer that is away is not asked about the same token again before this time. Milliseconds. */
const PAUSE_MS = 5_000;
const MOST_KEPT = 100_000;

export interface IntrospectionEndpoint {
  readonly url: string;
  /** Of weir at the issuer. */
  readonly client: string;
  readonly secret: string;
}

interface Kept {
  /** When the issuer said that the token is good; -Infinity: never. */
  readonly goodAt: number;
  readonly triedAt: number;
}

export class Introspection {
  readonly #fetchDocument: FetchDocument;
  readonly #now: () => number;
  /** By the digest of the whole token, and the endpoint. */
  readonly #kept = new Map<string, Kept>();

  constructor(fetchDocument: FetchDocument, now: () => number) {
    this.#fetchDocument = fetchDocument;
    this.#now = now;
  }

  /** @throws TokenFault if the issuer says that the token is not good, or does not answer */
  async expectActive(endpoint: IntrospectionEndpoint, text: string): Promise<void> {
    const name = `${endpoint.url} ${Bun.SHA256.hash(text, "base64")}`;
    const kept = this.#kept.get(name) ?? { goodAt: -Infinity, triedAt: -Infinity };
    const now = this.#now();
    if (now - kept.goodAt < ANSWER_MS) return;
    const isPaused = now - kept.triedAt < PAUSE_MS;
    try {
      if (isPaused) throw new TokenFault("unavailable", "the issuer did not answer a moment ago");
      await this.#ask(endpoint, text);
      this.#keep(name, { goodAt: this.#now(), triedAt: -Infinity });
    } catch (cause) {
      const isAway = cause instanceof TokenFault && cause.reason === "unavailable";
      if (isAway && !isPaused) this.#keep(name, { ...kept, triedAt: now });
      if (!isAway) this.#kept.delete(name);
      if (isAway && now - kept.goodAt < AWAY_MS) return;
      throw cause;
    }
  }

  async #ask({ url, client, secret }: IntrospectionEndpoint, text: string): Promise<void> {
    const answer = await this.#fetchDocument(url, {
      method: "POST",
      headers: {
        ...{ accept: "application/json", "content-type": "application/x-www-form-urlencoded" },
        authorization: basicAuthorization(client, secret),
      },
      body: new URLSearchParams({ token: text, token_type_hint: "access_token" }).toString(),
    }).catch((cause: Error) => {
      throw new TokenFault("unavailable", cause.message);
    });
    const body = parseJson(answer.text);
    const active = answer.status === 200 && isObject(body) ? body["active"] : undefined;
    if (typeof active !== "boolean")
      throw new TokenFault("unavailable", `${placeOf(url)} answers ${answer.status} without active`);
    if (!active) throw new TokenFault("revoked", "its issuer says that it is not active");
  }

  #keep(name: string, kept: Kept): void {
    // The newest are at the end.
    this.#kept.delete(name);
    this.#kept.set(name, kept);
    if (this.#kept.size > MOST_KEPT) this.#kept.delete(this.#kept.keys().next().value!);
  }
}
