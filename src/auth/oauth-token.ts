/** Keeps an access token of a deployment fresh, for `authorize` of a provider. */
import type { Place } from "../core/place.ts";

export interface FetchedToken {
  /** The access token. */
  token: string;
  /** How long it is valid from now on. */
  expiresInSeconds: number;
}

interface KeptToken {
  token: string;
  /** Milliseconds since 1970. From `refreshAt` on a new token is fetched; until `staleAt` the old one is used meanwhile. */
  refreshAt: number;
  staleAt: number;
}

interface Kept {
  current?: KeptToken;
  pending?: Promise<string>;
}

/** A token is refreshed this long before it expires, and not used from one minute before. Milliseconds. */
const REFRESH_MS = 5 * 60_000;
const STALE_MS = 60_000;
/** The same as parts of the lifetime, for tokens with a short one. */
const REFRESH_PART = 1 / 2;
const STALE_PART = 1 / 5;

const KEY = "weir.oauth-token";

/**
 * The access token of a place: the one it keeps, or a new one. Calls that need a new token at the same time share one request.
 * weir masks the token, and drops it when the host refuses it.
 * @param fetchToken fetches a new token, usually with `place.fetch`
 * @throws what `fetchToken` throws, unless the old token is still valid
 */
export async function oauthToken(
  place: Place,
  fetchToken: (place: Place) => Promise<FetchedToken>,
): Promise<string> {
  const kept = keptBy(place);
  const now = place.now();
  const { current } = kept;
  if (current && now < current.refreshAt) return current.token;
  kept.pending ??= refresh(place, kept, fetchToken).finally(() => (kept.pending = undefined));
  if (!current || now >= current.staleAt) return kept.pending;
  // The old token is still valid: a failure of this refresh shows when the next one is awaited.
  kept.pending.catch(() => {});
  return current.token;
}

function keptBy(place: Place): Kept {
  const found = place.kept.get(KEY) as Kept | undefined;
  if (found) return found;
  const kept: Kept = {};
  place.kept.set(KEY, kept);
  return kept;
}

async function refresh(
  place: Place,
  kept: Kept,
  fetchToken: (place: Place) => Promise<FetchedToken>,
): Promise<string> {
  const { token, expiresInSeconds } = await fetchToken(place);
  const lifetime = expiresInSeconds * 1000;
  const expiresAt = place.now() + lifetime;
  kept.current = {
    token,
    refreshAt: expiresAt - Math.min(REFRESH_MS, lifetime * REFRESH_PART),
    staleAt: expiresAt - Math.min(STALE_MS, lifetime * STALE_PART),
  };
  place.conceal(token);
  return token;
}
