/** Gateway keys: kept and compared only as SHA-256 digests. */
import { timingSafeEqual } from "node:crypto";

/** A key by name and digest (64 lower-case hexadecimal digits). */
export interface NamedDigest {
  name: string;
  sha256: string;
}

/** Which header decides when a request carries two different keys. */
export type KeyOrder = "bearer-first" | "x-api-key-first";

export interface Keyring {
  /** How many keys there are; with none nothing is checked and the gateway is for its own machine only. */
  size: number;
  /** Whose key the request shows in `authorization: Bearer …` or `x-api-key`; undefined when it shows no valid one. */
  check(headers: Headers, order: KeyOrder): { name: string } | undefined;
}

/** Longest key that is looked at, in characters; what is longer was not issued by anyone. */
const LONGEST_KEY = 4096;

export function createKeyring(keys: readonly NamedDigest[]): Keyring {
  const known = new Map(
    keys.map(({ name, sha256 }) => [sha256, { name, digest: Buffer.from(sha256, "hex") }]),
  );
  const nobody = Buffer.alloc(32);
  const digest = Buffer.alloc(32);

  /** The same work for a right key and a wrong one: one digest, one look-up by all of it, one comparison. */
  function find(key: string): { name: string } | undefined {
    Bun.SHA256.hash(key, digest);
    const candidate = known.get(digest.toString("hex"));
    const equal = timingSafeEqual(digest, candidate?.digest ?? nobody);
    return equal && candidate !== undefined ? { name: candidate.name } : undefined;
  }

  return {
    size: known.size,
    check(headers, order) {
      const key = presentedKey(headers, order);
      return key === undefined ? undefined : find(key);
    },
  };
}

function presentedKey(headers: Headers, order: KeyOrder): string | undefined {
  const bearer = bearerToken(headers.get("authorization"));
  const apiKey = headers.get("x-api-key")?.trim() || undefined;
  const key = order === "bearer-first" ? (bearer ?? apiKey) : (apiKey ?? bearer);
  return key !== undefined && key.length <= LONGEST_KEY ? key : undefined;
}

/** The token of `Bearer …`, the scheme in any case (RFC 9110 11.1); other schemes carry no gateway key. */
function bearerToken(authorization: string | null): string | undefined {
  if (authorization === null || !/^bearer[ \t]/i.test(authorization)) return undefined;
  return authorization.slice("bearer".length).trim() || undefined;
}
