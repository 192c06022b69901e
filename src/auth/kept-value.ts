/** Keeps a value that expires, such as a token, fresh for a deployment. */
import type { Place } from "../core/place.ts";

export interface FetchedValue<Value> {
  value: Value;
  /** Milliseconds since 1970. Absent: it does not expire. */
  expiresAt?: number;
}

interface Current<Value> {
  value: Value;
  /** Milliseconds since 1970. From `refreshAt` on a new value is fetched; until `staleAt` the old one is used meanwhile. */
  refreshAt: number;
  staleAt: number;
}

interface Kept<Value> {
  current?: Current<Value>;
  pending?: Promise<Value>;
  /** After a failed refresh: not before this time, while the old value is valid. */
  retryAt?: number;
}

/** A value is refreshed this long before it expires, and not used from one minute before. Milliseconds. */
const REFRESH_MS = 5 * 60_000;
const STALE_MS = 60_000;
/** A refresh that failed is not tried again with each call. Milliseconds. */
const RETRY_MS = 10_000;
/** The same as parts of the lifetime, for values with a short one. */
const REFRESH_PART = 1 / 2;
const STALE_PART = 1 / 5;

/**
 * The value that a place keeps under a key, or a new one. Calls that need a new value at the same time share one request. weir
 * drops the value when the host refuses it.
 * @throws what `fetchValue` throws, unless the old value is still valid
 */
export async function keptValue<Value>(
  place: Place,
  key: string,
  fetchValue: (place: Place) => Promise<FetchedValue<Value>>,
): Promise<Value> {
  let kept = place.kept.get(key) as Kept<Value> | undefined;
  if (!kept) place.kept.set(key, (kept = {}));
  const { current, retryAt = 0 } = kept;
  const now = place.now();
  if (current && (now < current.refreshAt || (now < current.staleAt && now < retryAt))) return current.value;
  const asked = kept;
  kept.pending ??= refresh(place, kept, fetchValue).finally(() => (asked.pending = undefined));
  if (!current || now >= current.staleAt) return kept.pending;
  // The old value is still valid: a failure of this refresh shows when the next one is awaited.
  kept.pending.catch(() => {});
  return current.value;
}

async function refresh<Value>(
  place: Place,
  kept: Kept<Value>,
  fetchValue: (place: Place) => Promise<FetchedValue<Value>>,
): Promise<Value> {
  try {
    const { value, expiresAt = Infinity } = await fetchValue(place);
    const lifetime = expiresAt - place.now();
    kept.current = {
      value,
      refreshAt: expiresAt - Math.min(REFRESH_MS, lifetime * REFRESH_PART),
      staleAt: expiresAt - Math.min(STALE_MS, lifetime * STALE_PART),
    };
    kept.retryAt = undefined;
    return value;
  } catch (cause) {
    kept.retryAt = place.now() + RETRY_MS;
    throw cause;
  }
}
