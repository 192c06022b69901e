/** Checks the registered claims of a token whose signature is right. */
import type { JsonObject } from "../../../core/json.ts";
import { claimOf } from "../claims.ts";
import { shown, TokenFault } from "./fault.ts";
import type { Token } from "./token.ts";

/** How far ahead the clock of an issuer may be. The end of a token is exact: it is never used for longer. Milliseconds. */
const SKEW_MS = 60_000;

/** Types of tokens for calls. Absent is common, as with service accounts of Kubernetes. */
const CALL_TYPES = new Set(["jwt", "at+jwt", "application/at+jwt"]);
/** A type that Keycloak writes into its payload, for what is not an access token. */
const OTHER_KINDS = new Set(["refresh", "offline", "logout"]);

export interface TimeRules {
  readonly maxAgeMs?: number;
  readonly lifetimeMs: number;
}

/** @param now milliseconds since 1970 @returns when the token ends @throws TokenFault */
export function checkTimes(claims: JsonObject, { maxAgeMs, lifetimeMs }: TimeRules, now: number): number {
  const ends = timeOf(claims, "exp");
  const begins = timeOf(claims, "nbf");
  const issued = timeOf(claims, "iat");
  if (ends === undefined) throw new TokenFault("claims", "it has no exp");
  if (ends <= now) throw new TokenFault("expired", `it expired at ${iso(ends)}`);
  if (begins !== undefined && begins - SKEW_MS > now)
    throw new TokenFault(
      "time",
      `it is valid from ${iso(begins)} on, and the clock of weir says ${iso(now)}`,
    );
  if (issued !== undefined && issued - SKEW_MS > now)
    throw new TokenFault("time", `it was issued at ${iso(issued)}, and the clock of weir says ${iso(now)}`);
  if (ends - (issued ?? now) > lifetimeMs + SKEW_MS)
    throw new TokenFault("time", `it is valid for more than ${lifetimeMs / 3_600_000} hours`);
  if (maxAgeMs === undefined) return ends;
  if (issued === undefined) throw new TokenFault("claims", "it has no iat, which maxAge needs");
  if (issued + maxAgeMs <= now) throw new TokenFault("expired", `it was issued at ${iso(issued)}`);
  return Math.min(ends, issued + maxAgeMs);
}

/**
 * @param url address of weir: a token for a resource below it (RFC 8707) is one for that alone
 * @returns the resource; undefined: it is for all of weir @throws TokenFault
 */
export function audienceIn(
  claims: JsonObject,
  audiences: readonly string[],
  url: string | undefined,
): string | undefined {
  const found = claimOf(claims, "aud");
  const given = (Array.isArray(found) ? found : [found]).filter((one) => typeof one === "string");
  if (given.some((one) => audiences.includes(one))) return undefined;
  const own = url === undefined ? undefined : given.find((one) => one.startsWith(`${url}/`));
  if (own !== undefined) return own;
  throw new TokenFault("audience", `its aud is ${shown(found)}, expected ${shown(audiences)}`);
}

/** ID tokens say who signed in to a client; refresh and logout tokens are for the issuer alone. @throws TokenFault */
export function checkType({ header, claims }: Token, acceptsIdTokens: boolean): void {
  const { typ } = header;
  if (typ !== undefined && typeof typ !== "string") throw new TokenFault("type", `its typ is ${shown(typ)}`);
  const type = typ?.toLowerCase();
  const kind = typeof claims["typ"] === "string" ? claims["typ"].toLowerCase() : undefined;
  if (Object.hasOwn(claims, "events") || (kind !== undefined && OTHER_KINDS.has(kind)))
    throw new TokenFault("type", `it is a token of another kind (${shown(claims["typ"] ?? "events")})`);
  const isIdToken = type === "id+jwt" || kind === "id" || Object.hasOwn(claims, "nonce");
  if (isIdToken && !acceptsIdTokens)
    throw new TokenFault("type", "it is an ID token, which the option idTokens of its issuer accepts");
  if (type !== undefined && !CALL_TYPES.has(type) && !(isIdToken && type === "id+jwt"))
    throw new TokenFault("type", `its typ is ${shown(typ)}`);
}

/** @throws TokenFault */
export function subjectOf(claims: JsonObject, claim: string): string {
  const subject = claimOf(claims, claim);
  if (typeof subject === "string" && subject !== "" && subject.length <= 255) return subject;
  throw new TokenFault("claims", `its claim ${claim} is ${shown(subject)}, expected 1 to 255 characters`);
}

/** @returns milliseconds since 1970 @throws TokenFault */
function timeOf(claims: JsonObject, name: string): number | undefined {
  const seconds = claimOf(claims, name);
  if (seconds === undefined) return undefined;
  if (typeof seconds === "number" && seconds >= 0 && seconds < 1e11) return seconds * 1_000;
  throw new TokenFault("claims", `its ${name} is ${shown(seconds)}, expected seconds since 1970`);
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
