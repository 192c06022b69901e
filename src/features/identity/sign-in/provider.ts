/** A provider of OpenID Connect: the way to it, and what it says when somebody comes back. */
import { isObject, type JsonObject, parseJson } from "../../../core/json.ts";
import { claimOf, expectClaims } from "../claims.ts";
import { type Identified, personIn } from "../callers.ts";
import { type Entry, providerEntry } from "../entries.ts";
import { type FetchDocument, type FetchedDocument, placeOf } from "../fetch-document.ts";
import { addressFault } from "../section.ts";
import { personId } from "../people.ts";
import { shown, TokenFault } from "../tokens/fault.ts";
import { fetchMetadata, KeySource } from "../tokens/key-source.ts";
import { readToken, type Token } from "../tokens/token.ts";
import { type Attempt, ATTEMPT_MS, randomText, Sealer } from "./attempt.ts";
import type { SignInProvider } from "./settings.ts";

/** Algorithms of ID tokens. */
const ALGORITHMS = new Set(["RS256", "PS256", "ES256", "ES384", "EdDSA"]);
const METADATA_MS = 3_600_000;
const SKEW_MS = 60_000;

export interface ProviderOptions {
  readonly provider: SignInProvider;
  /** Where the provider sends people back to. */
  readonly callback: string;
  readonly fetchDocument: FetchDocument;
  now(): number;
  /** Logs a sentence as a fault. */
  fault(sentence: string): void;
}

/** Who has signed in. */
export type SignedIn = Omit<Identified, "until"> & { readonly sid?: string };

export class Provider {
  readonly name: string;
  readonly sealer: Sealer;
  readonly #options: ProviderOptions;
  readonly #entry: Entry;
  readonly #keys: KeySource;
  #metadata: { readonly value: JsonObject; readonly at: number } | undefined;

  constructor(options: ProviderOptions) {
    const { provider, fetchDocument, now, fault } = options;
    this.#options = options;
    this.name = provider.name;
    this.sealer = new Sealer(provider.secret);
    this.#entry = providerEntry(provider.name, provider.options);
    const { issuer, jwks } = provider.options;
    this.#keys = new KeySource({ issuer, fetchDocument, now, fault, ...(jwks !== undefined && { jwks }) });
  }

  stop(): void {
    this.#keys.stop();
  }

  /** @throws TokenFault if the provider is away */
  async begin(to: string, prompt: string | null): Promise<{ location: string; attempt: Attempt }> {
    const { provider, callback, now } = this.#options;
    const attempt: Attempt = {
      ...{ provider: this.name, state: randomText(), nonce: randomText(), verifier: randomText() },
      ...{ to, at: now() },
    };
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(attempt.verifier));
    const location = new URL(await this.#endpoint("authorization_endpoint"));
    const query = {
      ...{
        client_id: provider.client,
        response_type: "code",
        redirect_uri: callback,
        scope: provider.scopes.join(" "),
      },
      ...{ code_challenge: Buffer.from(digest).toString("base64url"), code_challenge_method: "S256" },
      ...{ state: attempt.state, nonce: attempt.nonce },
      ...(prompt !== null && /^[a-z_ ]{1,60}$/.test(prompt) && { prompt }),
    };
    for (const [name, value] of Object.entries(query)) location.searchParams.set(name, value);
    return { location: location.href, attempt };
  }

  /**
   * Who comes back with an answer of the provider.
   * @param query of the callback, in which `state` was compared with that of the attempt @throws TokenFault
   */
  async finish(query: URLSearchParams, attempt: Attempt): Promise<SignedIn> {
    const { issuer } = this.#options.provider.options;
    if (this.#options.now() - attempt.at > ATTEMPT_MS)
      throw new TokenFault("expired", "the attempt is older than 10 minutes");
    const named = query.get("iss");
    const metadata = await this.#readMetadata();
    if (
      named === null ? metadata["authorization_response_iss_parameter_supported"] === true : named !== issuer
    )
      throw new TokenFault(
        "issuer",
        `the callback names the issuer ${shown(named)}, expected ${shown(issuer)}`,
      );
    const error = query.get("error");
    if (error !== null)
      throw new TokenFault(
        "claims",
        `the provider answered ${shown(error)}: ${shown(query.get("error_description"))}`,
      );
    const code = query.get("code");
    if (code === null || code === "") throw new TokenFault("claims", "the callback has no code");
    const { idToken, accessToken } = await this.#exchange(code, attempt);
    const token = readToken(idToken);
    await this.#keys.verify(token);
    await this.#checkIdToken(token, attempt, accessToken);
    const claims = { ...(await this.#userinfo(token.claims, accessToken)), ...token.claims };
    expectClaims(claims, this.#entry.wanted);
    const sid = claimOf(claims, "sid");
    return { ...personIn(claims, this.#entry), ...(typeof sid === "string" && { sid }) };
  }

  /** The person or session that a logout token of the provider ends (OpenID Connect Back-Channel Logout 2.6). @throws TokenFault */
  async loggedOut(text: string): Promise<{ sub?: string; sid?: string }> {
    const token = readToken(text);
    await this.#keys.verify(token);
    const { claims } = token;
    this.#expectOwn(token);
    const events = claims["events"];
    if (!isObject(events) || !Object.hasOwn(events, "http://schemas.openid.net/event/backchannel-logout"))
      throw new TokenFault("type", "it is no logout token");
    if (Object.hasOwn(claims, "nonce")) throw new TokenFault("type", "a logout token has no nonce");
    const { sid } = claims;
    const sub = claimOf(claims, this.#entry.subject);
    if (typeof sid !== "string" && typeof sub !== "string")
      throw new TokenFault("claims", "it names neither sub nor sid");
    return { ...(typeof sub === "string" && { sub }), ...(typeof sid === "string" && { sid }) };
  }

  /** Id of a person of this provider. */
  personOf(subject: string): string {
    return personId(this.#options.provider.options.issuer, subject);
  }

  /** Where the provider ends its own session; undefined if it does not say. */
  async logoutLocation(back: string): Promise<string | undefined> {
    const address = (await this.#readMetadata())["end_session_endpoint"];
    if (typeof address !== "string" || addressFault(address) !== undefined) return undefined;
    const location = new URL(address);
    location.searchParams.set("client_id", this.#options.provider.client);
    location.searchParams.set("post_logout_redirect_uri", back);
    return location.href;
  }

  async #exchange(
    code: string,
    { verifier }: Attempt,
  ): Promise<{ idToken: string; accessToken: string | undefined }> {
    const { provider, callback } = this.#options;
    const { client, secret } = provider;
    const methods = (await this.#readMetadata())["token_endpoint_auth_methods_supported"];
    const isInBody =
      Array.isArray(methods) &&
      methods.includes("client_secret_post") &&
      !methods.includes("client_secret_basic");
    const form = new URLSearchParams({
      ...{ grant_type: "authorization_code", code, redirect_uri: callback, code_verifier: verifier },
      ...(isInBody && { client_id: client, client_secret: secret }),
    });
    // RFC 6749 2.3.1: both parts are form-encoded first.
    const pair = [client, secret]
      .map((text) => new URLSearchParams({ x: text }).toString().slice(2))
      .join(":");
    const answer = await this.#ask(await this.#endpoint("token_endpoint"), {
      method: "POST",
      headers: {
        ...{ accept: "application/json", "content-type": "application/x-www-form-urlencoded" },
        ...(!isInBody && { authorization: `Basic ${Buffer.from(pair).toString("base64")}` }),
      },
      body: form.toString(),
    });
    const body = parseJson(answer.text);
    if (answer.status !== 200 || !isObject(body))
      throw new TokenFault(
        "claims",
        `the token endpoint answers ${answer.status} ${shown(isObject(body) ? body["error"] : undefined)}`,
      );
    const { id_token: idToken, access_token: accessToken } = body;
    if (typeof idToken !== "string") throw new TokenFault("claims", "the token endpoint gives no ID token");
    return { idToken, accessToken: typeof accessToken === "string" ? accessToken : undefined };
  }

  async #checkIdToken(token: Token, { nonce }: Attempt, accessToken: string | undefined): Promise<void> {
    const { claims, alg } = token;
    this.#expectOwn(token);
    if (claims["nonce"] !== nonce)
      throw new TokenFault(
        "claims",
        `its nonce is ${shown(claims["nonce"])}, which is not that of the attempt`,
      );
    const { exp } = claims;
    if (typeof exp !== "number" || exp * 1_000 <= this.#options.now())
      throw new TokenFault("expired", `its exp is ${shown(exp)}`);
    const hash = claims["at_hash"];
    if (hash !== undefined && accessToken !== undefined && hash !== (await accessHash(accessToken, alg)))
      throw new TokenFault("claims", "its at_hash is not that of the access token");
  }

  /** What ID tokens and logout tokens have in common. @throws TokenFault */
  #expectOwn({ claims, alg }: Token): void {
    const { now, provider } = this.#options;
    const { client, options } = provider;
    const named = this.#metadata?.value["id_token_signing_alg_values_supported"];
    if (
      !ALGORITHMS.has(alg) ||
      !this.#entry.algorithms.has(alg) ||
      (Array.isArray(named) && !named.includes(alg))
    )
      throw new TokenFault("algorithm", `its alg is ${alg}`);
    if (claims["iss"] !== options.issuer)
      throw new TokenFault("issuer", `its iss is ${shown(claims["iss"])}, expected ${shown(options.issuer)}`);
    const { aud, azp, iat } = claims;
    const audiences = Array.isArray(aud) ? aud : [aud];
    if (!audiences.includes(client))
      throw new TokenFault("audience", `its aud is ${shown(aud)}, expected ${shown(client)}`);
    if ((audiences.length > 1 || azp !== undefined) && azp !== client)
      throw new TokenFault("audience", `its azp is ${shown(azp)}, expected ${shown(client)}`);
    if (
      typeof iat !== "number" ||
      Math.abs(iat * 1_000 - now()) > ATTEMPT_MS ||
      iat * 1_000 - now() > SKEW_MS
    )
      throw new TokenFault("time", `its iat is ${shown(iat)}`);
    const { nbf } = claims;
    if (nbf !== undefined && (typeof nbf !== "number" || nbf * 1_000 - now() > SKEW_MS))
      throw new TokenFault("time", `its nbf is ${shown(nbf)}`);
  }

  /** Claims that the provider gives only there: many leave e-mail and groups out of the ID token. */
  async #userinfo(claims: JsonObject, accessToken: string | undefined): Promise<JsonObject> {
    const { userinfo_endpoint: address } = await this.#readMetadata();
    if (address === undefined || accessToken === undefined) return {};
    const headers = { accept: "application/json", authorization: `Bearer ${accessToken}` };
    const answer = await this.#ask(await this.#endpoint("userinfo_endpoint"), { headers });
    const found = parseJson(answer.text);
    if (answer.status !== 200 || !isObject(found))
      throw new TokenFault("claims", `the userinfo endpoint answers ${answer.status}`);
    if (typeof found["sub"] !== "string" || found["sub"] !== claims["sub"])
      throw new TokenFault(
        "claims",
        `the userinfo has the sub ${shown(found["sub"])}, the ID token ${shown(claims["sub"])}`,
      );
    return found;
  }

  async #ask(address: string, init: RequestInit): Promise<FetchedDocument> {
    return this.#options.fetchDocument(address, init).catch((cause: Error) => {
      throw new TokenFault("unavailable", cause.message);
    });
  }

  async #endpoint(name: string): Promise<string> {
    const address = (await this.#readMetadata())[name];
    const fault = typeof address === "string" ? addressFault(address) : "is missing";
    if (fault !== undefined) throw new TokenFault("unavailable", `${name} in the metadata ${fault}`);
    return address as string;
  }

  async #readMetadata(): Promise<JsonObject> {
    const { now, provider, fetchDocument } = this.#options;
    const kept = this.#metadata;
    if (kept && now() - kept.at < METADATA_MS) return kept.value;
    try {
      const value = (await fetchMetadata(provider.options.issuer, fetchDocument)) as JsonObject;
      this.#metadata = { value, at: now() };
      return value;
    } catch (cause) {
      throw new TokenFault("unavailable", `${placeOf(provider.options.issuer)}: ${(cause as Error).message}`);
    }
  }
}

/** OpenID Connect Core 3.1.3.6: half of the hash that belongs to the algorithm. */
async function accessHash(accessToken: string, alg: string): Promise<string> {
  const hash = alg === "EdDSA" ? "SHA-512" : `SHA-${alg.slice(2)}`;
  const digest = new Uint8Array(await crypto.subtle.digest(hash, new TextEncoder().encode(accessToken)));
  return Buffer.from(digest.subarray(0, digest.length / 2)).toString("base64url");
}
