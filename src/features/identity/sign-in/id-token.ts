/** Checks ID tokens and logout tokens whose signature is right. */
import type { JsonObject } from "../../../core/json.ts";
import { shown, TokenFault } from "../tokens/fault.ts";
import type { Token } from "../tokens/token.ts";

/** Algorithms of ID tokens. */
const ALGORITHMS = new Set(["RS256", "PS256", "ES256", "ES384", "EdDSA"]);
/** How old a token may be that was just made, and how far ahead the provider's clock. Milliseconds. */
const OLDEST_MS = 600_000;
const SKEW_MS = 60_000;

export interface ExpectedToken {
  readonly issuer: string;
  /** Id of weir at the provider. */
  readonly client: string;
  /** Those of the config. */
  readonly algorithms: ReadonlySet<string>;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Of the provider; undefined while it is not known. */
  readonly metadata: JsonObject | undefined;
}

/** What ID tokens and logout tokens have in common. @throws TokenFault */
export function expectOwn({ claims, alg }: Token, expected: ExpectedToken): void {
  const { now, client, issuer, algorithms, metadata } = expected;
  const named = metadata?.["id_token_signing_alg_values_supported"];
  if (!ALGORITHMS.has(alg) || !algorithms.has(alg) || (Array.isArray(named) && !named.includes(alg)))
    throw new TokenFault("algorithm", `its alg is ${alg}`);
  if (claims["iss"] !== issuer)
    throw new TokenFault("issuer", `its iss is ${shown(claims["iss"])}, expected ${shown(issuer)}`);
  const { aud, azp, iat, nbf } = claims;
  const audiences = Array.isArray(aud) ? aud : [aud];
  if (!audiences.includes(client))
    throw new TokenFault("audience", `its aud is ${shown(aud)}, expected ${shown(client)}`);
  if ((audiences.length > 1 || azp !== undefined) && azp !== client)
    throw new TokenFault("audience", `its azp is ${shown(azp)}, expected ${shown(client)}`);
  if (typeof iat !== "number" || Math.abs(iat * 1_000 - now) > OLDEST_MS || iat * 1_000 - now > SKEW_MS)
    throw new TokenFault("time", `its iat is ${shown(iat)}`);
  if (nbf !== undefined && (typeof nbf !== "number" || nbf * 1_000 - now > SKEW_MS))
    throw new TokenFault("time", `its nbf is ${shown(nbf)}`);
}

/** @param accessToken that came with it @throws TokenFault */
export async function expectIdToken(
  token: Token,
  expected: ExpectedToken,
  accessToken: string | undefined,
): Promise<void> {
  const { claims, alg } = token;
  expectOwn(token, expected);
  const { exp, sub } = claims;
  if (typeof sub !== "string" || sub === "") throw new TokenFault("claims", `its sub is ${shown(sub)}`);
  if (typeof exp !== "number" || exp * 1_000 <= expected.now)
    throw new TokenFault("expired", `its exp is ${shown(exp)}`);
  const hash = claims["at_hash"];
  if (hash !== undefined && accessToken !== undefined && hash !== (await accessHash(accessToken, alg)))
    throw new TokenFault("claims", "its at_hash is not that of the access token");
}

/** OpenID Connect Core 3.1.3.6: half of the hash that belongs to the algorithm. */
async function accessHash(accessToken: string, alg: string): Promise<string> {
  const hash = alg === "EdDSA" ? "SHA-512" : `SHA-${alg.slice(2)}`;
  const digest = new Uint8Array(await crypto.subtle.digest(hash, new TextEncoder().encode(accessToken)));
  return Buffer.from(digest.subarray(0, digest.length / 2)).toString("base64url");
}
