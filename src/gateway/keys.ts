/** Gateway keys. weir stores and compares only their SHA-256 digests. */
import { timingSafeEqual } from "node:crypto";

/** The name of a key and its digest (64 lower-case hexadecimal digits). */
export interface NamedDigest {
  name: string;
  sha256: string;
}

/** Lower-case names of the headers that may hold a key, in order of precedence. */
export const KEY_HEADERS: readonly string[] = ["authorization", "x-api-key"];

export interface Keyring {
  /** The number of keys. Without keys weir checks nothing, and listens on loopback only. */
  size: number;
  /**
   * The key in the first of the headers that has one: the token of `authorization: Bearer …`, or the value of another
   * header. `undefined` if it is not valid.
   */
  check(headers: Headers, keyHeaders: readonly string[]): { name: string } | undefined;
}

/** Longer keys are invalid: weir does not hash them. Characters. */
const MAX_KEY_LENGTH = 4096;

export function createKeyring(keys: readonly NamedDigest[]): Keyring {
  const known = new Map(
    keys.map(({ name, sha256 }) => {
      const digest = Buffer.from(sha256, "hex");
      return [digest.toString("latin1"), { key: { name }, digest }];
    }),
  );
  const noDigest = Buffer.alloc(32);
  const digest = Buffer.alloc(32);

  /** Constant time: a valid and an invalid key cost the same hash, look-up and comparison. */
  function find(key: string): { name: string } | undefined {
    Bun.SHA256.hash(key, digest);
    const candidate = known.get(digest.toString("latin1"));
    const equal = timingSafeEqual(digest, candidate?.digest ?? noDigest);
    return equal ? candidate?.key : undefined;
  }

  return {
    size: known.size,
    check(headers, keyHeaders) {
      const key = presentedKey(headers, keyHeaders);
      return key === undefined ? undefined : find(key);
    },
  };
}

function presentedKey(headers: Headers, keyHeaders: readonly string[]): string | undefined {
  for (const name of keyHeaders) {
    const value = headers.get(name);
    const key = name === "authorization" ? bearerToken(value) : value?.trim() || undefined;
    if (key !== undefined) return key.length <= MAX_KEY_LENGTH ? key : undefined;
  }
  return undefined;
}

/** The token of `Bearer …`; schemes are case-insensitive (RFC 9110 11.1). Other schemes carry no gateway key. */
function bearerToken(authorization: string | null): string | undefined {
  if (authorization === null || !/^bearer[ \t]/i.test(authorization)) return undefined;
  return authorization.slice("bearer".length).trim() || undefined;
}
