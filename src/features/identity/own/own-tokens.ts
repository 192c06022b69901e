/** weir's own tokens: short, for one person or workload, made in exchange for a token of its issuer. */
import { isObject, type JsonObject } from "../../../core/json.ts";
import type { Scopes } from "../../../ledger/policy.ts";
import { audienceIn, checkTimes, subjectOf } from "../tokens/check-claims.ts";
import { shown, TokenFault } from "../tokens/fault.ts";
import { readToken, type Token } from "../tokens/token.ts";
import { modelsIn } from "./scope.ts";
import { TokenKeys } from "./token-keys.ts";

/** Longest life of a token. Milliseconds. */
const LONGEST_MS = 3_600_000;

/** What a token says besides its registered claims. */
export interface OwnFacts {
  readonly person: string;
  readonly name: string;
  readonly path: string;
  /** Name of the entry that admitted the token it was exchanged for. */
  readonly entry: string;
  readonly client?: string;
  /** What it is for; absent: all that the entry permits. */
  readonly scope?: string;
  /** Default: the address of weir. */
  readonly audience?: string;
  /** Of a person who has signed in: the tokens of one approval. Absent: it was exchanged for a token of the issuer. */
  readonly family?: string;
  /** Label that Claude Code then puts on its requests: a member of `tags`. */
  readonly label?: string;
}

export interface OwnToken extends Omit<OwnFacts, "audience" | "label"> {
  /** The resource for which alone it is; absent: all that it permits. */
  readonly audience?: string;
  /** Models to which it is restricted, besides the scopes of the entry. */
  readonly models?: readonly string[];
  readonly jti: string;
  /** Seconds since 1970. */
  readonly issuedAt: number;
  /** Milliseconds since 1970. */
  readonly until: number;
}

export class OwnTokens {
  /** Issuer and audience. */
  readonly url: string;
  /** How long tokens are valid at most. Milliseconds. */
  readonly longestMs: number;
  readonly keys: TokenKeys;
  readonly #now: () => number;

  constructor(url: string, secret: string, now: () => number, longestMs = LONGEST_MS) {
    this.url = url;
    this.longestMs = longestMs;
    this.keys = new TokenKeys(secret, now);
    this.#now = now;
  }

  /** @param ms how long it is valid */
  async make(
    { person, scope, client, label, audience = this.url, ...facts }: OwnFacts,
    ms: number,
  ): Promise<string> {
    const { kid, privateKey } = await this.keys.current();
    const now = Math.floor(this.#now() / 1_000);
    const claims = {
      ...{ iss: this.url, aud: audience, sub: person, iat: now, exp: now + Math.floor(ms / 1_000) },
      ...{ jti: crypto.randomUUID(), ...(client !== undefined && { client_id: client }) },
      ...(scope !== undefined && { scope }),
      ...(label !== undefined && { billing_group_tag: label }),
      weir: facts,
    };
    const parts = [{ alg: "ES256", typ: "at+jwt", kid }, claims];
    const text = parts.map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
    const how = { name: "ECDSA", hash: "SHA-256" };
    const signature = await crypto.subtle.sign(how, privateKey, new TextEncoder().encode(text));
    return `${text}.${Buffer.from(signature).toString("base64url")}`;
  }

  /** @throws TokenFault */
  async read(token: Token): Promise<OwnToken> {
    if (token.alg !== "ES256") throw new TokenFault("algorithm", `its alg is ${token.alg}, expected ES256`);
    await (await this.keys.set()).verify(token);
    const { header, claims } = token;
    if (header["typ"] !== "at+jwt")
      throw new TokenFault("type", `its typ is ${shown(header["typ"])}, expected at+jwt`);
    const audience = audienceIn(claims, [this.url], this.url);
    const until = checkTimes(claims, { lifetimeMs: LONGEST_MS }, this.#now());
    const { jti, iat, client_id: client, scope } = claims;
    const facts = factsIn(claims);
    if (!facts || typeof jti !== "string" || typeof iat !== "number")
      throw new TokenFault("claims", "it is not whole");
    const models = typeof scope === "string" ? modelsIn(scope) : undefined;
    return {
      ...{ ...facts, person: subjectOf(claims, "sub"), jti, issuedAt: iat, until },
      ...(typeof client === "string" && { client }),
      ...(models && { models }),
      ...(typeof scope === "string" && { scope }),
      ...(audience !== undefined && { audience }),
    };
  }

  /** The family of a token, also of one that has expired. @returns undefined for a text that is none of weir's tokens */
  async familyOf(text: string): Promise<string | undefined> {
    try {
      const token = readToken(text);
      await (await this.keys.set()).verify(token);
      return factsIn(token.claims)?.family;
    } catch (thrown) {
      if (thrown instanceof TokenFault) return undefined;
      throw thrown;
    }
  }
}

function factsIn({ weir }: JsonObject): Pick<OwnFacts, "name" | "path" | "entry" | "family"> | undefined {
  if (!isObject(weir)) return undefined;
  const { name, path, entry, family } = weir;
  return typeof name === "string" && typeof path === "string" && typeof entry === "string"
    ? { name, path, entry, ...(typeof family === "string" && { family }) }
    : undefined;
}

/** The scopes of an entry, restricted to models. */
export function restricted(scopes: Scopes, models: readonly string[] | undefined): Scopes {
  return models ? { ...scopes, models } : scopes;
}
