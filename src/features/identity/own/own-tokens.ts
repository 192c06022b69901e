/** weir's own tokens: short, for one person or workload, made in exchange for a token of its issuer. */
import { isObject, type JsonObject } from "../../../core/json.ts";
import type { Scopes } from "../../../ledger/policy.ts";
import { checkAudience, checkTimes, subjectOf } from "../tokens/check-claims.ts";
import { shown, TokenFault } from "../tokens/fault.ts";
import type { Token } from "../tokens/token.ts";
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
  /** Models to which it is restricted, besides the scopes of the entry. */
  readonly models?: readonly string[];
}

export interface OwnToken extends OwnFacts {
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
  async make({ person, models, client, ...facts }: OwnFacts, ms: number): Promise<string> {
    const { kid, privateKey } = await this.keys.current();
    const now = Math.floor(this.#now() / 1_000);
    const claims = {
      ...{ iss: this.url, aud: this.url, sub: person, iat: now, exp: now + Math.floor(ms / 1_000) },
      ...{ jti: crypto.randomUUID(), ...(client !== undefined && { client_id: client }) },
      ...(models && { scope: models.map((model) => `models:${model}`).join(" ") }),
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
    checkAudience(claims, [this.url]);
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
    };
  }
}

function factsIn({ weir }: JsonObject): Pick<OwnFacts, "name" | "path" | "entry"> | undefined {
  if (!isObject(weir)) return undefined;
  const { name, path, entry } = weir;
  return typeof name === "string" && typeof path === "string" && typeof entry === "string"
    ? { name, path, entry }
    : undefined;
}

/** The models of a scope: `models:gpt-5-mini models:claude-*`. @returns undefined for a scope that says something else */
export function modelsIn(scope: string): readonly string[] | undefined {
  const words = scope.split(" ").filter((word) => word !== "");
  const models = words.flatMap((word) => (word.startsWith("models:") ? [word.slice("models:".length)] : []));
  return models.length > 0 && models.length === words.length ? models : undefined;
}

/** The scopes of an entry, restricted to models. */
export function restricted(scopes: Scopes, models: readonly string[] | undefined): Scopes {
  return models ? { ...scopes, models } : scopes;
}
