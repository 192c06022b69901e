/** Reads the answer of a token endpoint (RFC 6749, section 5). */
import type { PlaceAnswer } from "../core/place.ts";
import { isObject, parseJson } from "../core/json.ts";
import type { FetchedToken } from "./oauth-token.ts";

/** For endpoints that do not say how long a token is valid. Seconds. */
const DEFAULT_LIFETIME = 600;
/** Maximum length of what an endpoint says about a refusal, in characters. */
const MAX_DESCRIPTION = 300;

/**
 * @param endpoint what answered, as the subject of a sentence
 * @param now milliseconds since 1970
 * @throws Error with the reason that the endpoint gives
 */
export function readToken({ status, text }: PlaceAnswer, endpoint: string, now: number): FetchedToken {
  const body = parseJson(text);
  const answer = isObject(body) ? body : {};
  const { access_token: token, expires_in, expires_on } = answer;
  if (status === 200 && typeof token === "string" && token !== "")
    return { token, expiresInSeconds: lifetimeOf(expires_in, expires_on, now) };
  const said = [answer["error"], answer["error_description"]].filter((part) => typeof part === "string");
  const reason = said.join(": ").slice(0, MAX_DESCRIPTION) || "it gave no token";
  throw new Error(`${endpoint} answered with status ${status}: ${reason}`);
}

/** Numbers come as numbers or as text. @param expiresOn seconds since 1970, which only Azure's App Service sends alone */
function lifetimeOf(expiresIn: unknown, expiresOn: unknown, now: number): number {
  const seconds = Number(expiresIn ?? Number.NaN);
  if (seconds > 0) return seconds;
  const until = Number(expiresOn ?? Number.NaN) - now / 1000;
  return until > 0 ? until : DEFAULT_LIFETIME;
}

/** The body of a form. */
export function formOf(fields: Readonly<Record<string, string>>): {
  headers: Record<string, string>;
  body: string;
} {
  return {
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams(fields).toString(),
  };
}
