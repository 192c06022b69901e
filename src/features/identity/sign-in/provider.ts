/** A provider of OpenID Connect: the way to it, and what it says when somebody comes back. */
import { isObject, type JsonObject, parseJson } from "../../../core/json.ts";
import { claimOf, expectClaims, type Wanted } from "../claims.ts";
import { type Identified, personIn } from "../callers.ts";
import { type Entry, providerEntry } from "../entries.ts";
import type { FetchDocument } from "../fetch-document.ts";
import { type Grant, grantsOf, groupsIn, isOverage } from "../groups.ts";
import { addressFault } from "../section.ts";
import { personId } from "../people.ts";
import { subjectOf } from "../tokens/check-claims.ts";
import { shown, TokenFault } from "../tokens/fault.ts";
import { KeySource } from "../tokens/key-source.ts";
import { readToken } from "../tokens/token.ts";
import { type Attempt, ATTEMPT_MS, AttemptSealer, randomText } from "./attempt.ts";
import { expectIdToken, type ExpectedToken, expectOwn } from "./id-token.ts";
import { groupsAtGraph } from "./graph.ts";
import { graphAddress } from "./declarations.ts";
import { Metadata } from "./metadata.ts";
import type { SignInProvider } from "./settings.ts";
import { GrantRefused, type ProviderTokens, TokenEndpoint } from "./token-endpoint.ts";

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
export type SignedIn = Omit<Identified, "until" | "audience"> & {
  readonly sid?: string;
  readonly refreshToken?: string;
  readonly idToken: string;
};

export class Provider {
  readonly name: string;
  readonly sealer: AttemptSealer;
  readonly #options: ProviderOptions;
  readonly #entry: Entry;
  readonly #keys: KeySource;
  readonly #metadata: Metadata;
  readonly #tokens: TokenEndpoint;

  constructor(options: ProviderOptions) {
    const { provider, fetchDocument, now, fault } = options;
    this.#options = options;
    this.name = provider.name;
    this.sealer = new AttemptSealer(provider.secret);
    this.#entry = providerEntry(provider.name, provider.options);
    const { issuer, jwks } = provider.options;
    this.#keys = new KeySource({ issuer, fetchDocument, now, fault, ...(jwks !== undefined && { jwks }) });
    this.#metadata = new Metadata({ issuer, fetchDocument, now });
    this.#tokens = new TokenEndpoint(this.#metadata, provider, now);
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
    const isWell = prompt !== null && /^[a-z_ ]{1,60}$/.test(prompt);
    const asked = isWell ? prompt : provider.options.prompt;
    const location = new URL(await this.#metadata.endpoint("authorization_endpoint"));
    const query = {
      ...{
        client_id: provider.client,
        response_type: "code",
        redirect_uri: callback,
        scope: provider.scopes.join(" "),
      },
      ...{ code_challenge: Buffer.from(digest).toString("base64url"), code_challenge_method: "S256" },
      ...{ state: attempt.state, nonce: attempt.nonce },
      ...(asked !== undefined && { prompt: asked }),
    };
    for (const [name, value] of Object.entries(await this.#tokens.push(query)))
      location.searchParams.set(name, value);
    return { location: location.href, attempt };
  }

  /**
   * Who comes back with an answer of the provider.
   * @param query of the callback, in which `state` was compared with that of the attempt @throws TokenFault
   */
  async finish(query: URLSearchParams, attempt: Attempt): Promise<SignedIn> {
    const { now, callback } = this.#options;
    if (now() - attempt.at > ATTEMPT_MS)
      throw new TokenFault("expired", "the attempt is older than 10 minutes");
    const code = await this.#codeIn(query);
    const { verifier, nonce } = attempt;
    const grant = { grant_type: "authorization_code", code, redirect_uri: callback, code_verifier: verifier };
    const tokens = await this.#tokens.ask(grant).catch((cause: Error) => {
      throw cause instanceof GrantRefused ? new TokenFault("claims", cause.message) : cause;
    });
    const { idToken, accessToken, refreshToken } = tokens;
    if (idToken === undefined) throw new TokenFault("claims", "the token endpoint gives no ID token");
    const said = await this.#claimsIn(idToken, accessToken);
    if (said["nonce"] !== nonce)
      throw new TokenFault(
        "claims",
        `its nonce is ${shown(said["nonce"])}, which is not that of the attempt`,
      );
    const claims = await this.#withGroups(
      { ...(await this.#userinfo(said["sub"], accessToken)), ...said },
      accessToken,
    );
    expectClaims(claims, this.#entry.wanted);
    const sid = claimOf(claims, "sid");
    return {
      ...personIn(claims, this.#entry),
      idToken,
      ...(typeof sid === "string" && { sid }),
      ...(refreshToken !== undefined && { refreshToken }),
    };
  }

  /** New tokens for a refresh token. The provider may have replaced it by the one in the answer. @throws TokenFault, GrantRefused */
  refresh(refreshToken: string, signal: AbortSignal): Promise<ProviderTokens> {
    return this.#tokens.ask({ grant_type: "refresh_token", refresh_token: refreshToken }, signal);
  }

  /**
   * What new tokens say of a person who has signed in before.
   * @returns grants of its groups; undefined if the provider does not tell them there
   * @throws GrantRefused if the person would not be signed in any more, TokenFault if the provider did not say so
   */
  async grantsIn(
    { idToken, accessToken }: ProviderTokens,
    person: string,
    signal: AbortSignal,
  ): Promise<readonly Grant[] | undefined> {
    const { wanted, subject, issuer, rules, groups: claim } = this.#entry;
    const said = idToken === undefined ? {} : await this.#claimsIn(idToken, accessToken);
    const claims = { ...(await this.#userinfo(said["sub"], accessToken, signal)), ...said };
    // Without an ID token some claims may be missing that it had; those that are there count.
    const isWhole = idToken !== undefined;
    if (!isWhole && claimOf(claims, subject) === undefined) return undefined;
    if (personId(issuer, subjectOf(claims, subject)) !== person)
      throw new GrantRefused("the provider answers with the tokens of somebody else");
    const present: [string, Wanted][] = Object.entries(wanted).filter(
      ([name]) => isWhole || claimOf(claims, name) !== undefined,
    );
    try {
      expectClaims(claims, Object.fromEntries(present));
    } catch (cause) {
      throw new GrantRefused((cause as Error).message);
    }
    const groups = groupsIn(await this.#withGroups(claims, accessToken, signal), claim);
    return groups || isWhole ? grantsOf(groups ?? [], rules) : undefined;
  }

  /** The person or session that a logout token of the provider ends (OpenID Connect Back-Channel Logout 2.6). @throws TokenFault */
  async loggedOut(text: string): Promise<{ sub?: string; sid?: string }> {
    const token = readToken(text);
    await this.#keys.verify(token);
    const { claims } = token;
    expectOwn(token, this.#expected);
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

  /** Where the provider ends its own sessions; undefined if it does not say, or is away. */
  async endSession(): Promise<string | undefined> {
    const metadata = this.#metadata.known ?? (await this.#metadata.read().catch(() => undefined));
    const address = metadata?.["end_session_endpoint"];
    return typeof address === "string" && addressFault(address) === undefined ? address : undefined;
  }

  /**
   * The way to the end of the provider's session (OpenID Connect RP-Initiated Logout 1.0).
   * @param back where the provider sends the browser then @param idToken of the sign-in, by which it knows the session
   */
  async logoutLocation(back: string, idToken: string | undefined): Promise<string | undefined> {
    const address = await this.endSession();
    if (address === undefined) return undefined;
    const location = new URL(address);
    const query = {
      ...{ client_id: this.#options.provider.client, post_logout_redirect_uri: back },
      ...(idToken !== undefined && { id_token_hint: idToken }),
    };
    for (const [name, value] of Object.entries(query)) location.searchParams.set(name, value);
    return location.href;
  }

  /** @throws TokenFault */
  async #codeIn(query: URLSearchParams): Promise<string> {
    const { issuer } = this.#options.provider.options;
    const named = query.get("iss");
    const metadata = await this.#metadata.read();
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
    return code;
  }

  /** The claims of an ID token. @throws TokenFault */
  async #claimsIn(idToken: string, accessToken: string | undefined): Promise<JsonObject> {
    const token = readToken(idToken);
    await this.#keys.verify(token);
    await expectIdToken(token, this.#expected, accessToken);
    return token.claims;
  }

  get #expected(): ExpectedToken {
    const { now, provider } = this.#options;
    const { client, options } = provider;
    const { algorithms } = this.#entry;
    return { client, issuer: options.issuer, algorithms, now: now(), metadata: this.#metadata.known };
  }

  /** The claims, with the groups of Graph where Entra has left them out. @throws TokenFault */
  async #withGroups(
    claims: JsonObject,
    accessToken: string | undefined,
    signal?: AbortSignal,
  ): Promise<JsonObject> {
    const address = graphAddress(this.#options.provider.options.map?.graph);
    const { groups: claim, rules } = this.#entry;
    const isThere = claimOf(claims, claim) !== undefined;
    if (address === undefined || rules.length === 0 || isThere || !isOverage(claims, claim)) return claims;
    return { ...claims, [claim]: await groupsAtGraph(this.#metadata, address, accessToken, signal) };
  }

  /**
   * Claims that the provider gives only there: many leave e-mail and groups out of the ID token.
   * @param sub of the ID token; undefined: there is none
   */
  async #userinfo(sub: unknown, accessToken: string | undefined, signal?: AbortSignal): Promise<JsonObject> {
    const { userinfo_endpoint: address } = await this.#metadata.read();
    if (address === undefined || accessToken === undefined) return {};
    const headers = { accept: "application/json", authorization: `Bearer ${accessToken}` };
    const endpoint = await this.#metadata.endpoint("userinfo_endpoint");
    const answer = await this.#metadata.ask(endpoint, { headers, ...(signal && { signal }) });
    const found = parseJson(answer.text);
    if (answer.status !== 200 || !isObject(found))
      throw new TokenFault("claims", `the userinfo endpoint answers ${answer.status}`);
    if (typeof found["sub"] !== "string" || (sub !== undefined && found["sub"] !== sub))
      throw new TokenFault(
        "claims",
        `the userinfo has the sub ${shown(found["sub"])}, the ID token ${shown(sub)}`,
      );
    return found;
  }
}
