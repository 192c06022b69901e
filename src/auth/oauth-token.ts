/** Keeps an access token of a deployment fresh, for `authorize` of a provider. */
import type { Place } from "../core/place.ts";
import { keptValue } from "./kept-value.ts";

export interface FetchedToken {
  /** The access token. */
  token: string;
  /** How long it is valid from now on. */
  expiresInSeconds: number;
}

const KEY = "weir.oauth-token";

/**
 * The access token of a place: the one it keeps, or a new one. Calls that need a new token at the same time share one request.
 * weir masks the token, and drops it when the host refuses it.
 * @param fetchToken fetches a new token, usually with `place.fetch`
 * @throws what `fetchToken` throws, unless the old token is still valid
 */
export function oauthToken(
  place: Place,
  fetchToken: (place: Place) => Promise<FetchedToken>,
): Promise<string> {
  return keptValue(place, KEY, async () => {
    const { token, expiresInSeconds } = await fetchToken(place);
    place.conceal(token);
    return { value: token, expiresAt: place.now() + expiresInSeconds * 1000 };
  });
}
