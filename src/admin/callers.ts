/** Who asks the admin API: a key of the policy, or the credential that the run file holds. */
import { digestOf } from "../ledger/keys/form.ts";
import type { KeyEntry, Policy, Scopes } from "../ledger/policy.ts";
import type { Actor } from "../keeper/store/store.ts";

export interface Caller extends Required<Actor> {
  /** `none`: without a credential, for what everyone may read. */
  role: "admin" | "read" | "none";
  /** The caller sees and changes what lies on this path and below. */
  path: string;
  /** A key that the caller makes can do no more than this. */
  scopes: Scopes;
}

/** The result of a credential: a caller, or why it gives no access. */
export type Known = { caller: Caller } | { refused: "unknown" | "call-key" | "expired" };

/** The actor of requests with the credential of the run file, which is the command line of the same user. */
export const RUN_FILE = "run-file";

/** Longer credentials are not hashed. Characters. */
const MAX_LENGTH = 512;

const EVERYTHING: Scopes = {};

/**
 * @param runDigest SHA-256 of the credential in the run file, as hexadecimal digits; absent where it gives no access
 * @param now milliseconds since 1970
 */
export function identify(
  credential: string,
  policy: Pick<Policy, "keys">,
  runDigest: string | undefined,
  address: string,
  now: number,
): Known {
  if (credential.length > MAX_LENGTH) return { refused: "unknown" };
  const sha256 = digestOf(credential);
  if (runDigest !== undefined && isEqual(sha256, runDigest))
    return { caller: { actor: RUN_FILE, address, role: "admin", path: "/", scopes: EVERYTHING } };
  return identifyDigest(sha256, policy, address, now);
}

/** The key with a digest. @param now milliseconds since 1970 */
export function identifyDigest(
  sha256: string,
  policy: Pick<Policy, "keys">,
  address: string,
  now: number,
): Known {
  const key = policy.keys.find(({ digests }) =>
    digests.some((digest) => isEqual(digest.sha256, sha256) && (digest.until ?? Infinity) > now),
  );
  if (key === undefined || key.revokedAt !== undefined) return { refused: "unknown" };
  if ((key.expiresAt ?? Infinity) <= now) return { refused: "expired" };
  if (key.kind === "call") return { refused: "call-key" };
  return { caller: callerOf(key, address) };
}

/** A caller without a credential. */
export function anonymous(address: string): Caller {
  return { actor: "none", address, role: "none", path: "/", scopes: EVERYTHING };
}

function callerOf({ id, kind, path, scopes }: KeyEntry, address: string): Caller {
  return { actor: id, address, role: kind === "admin" ? "admin" : "read", path, scopes };
}

function isEqual(one: string, other: string): boolean {
  return one.length === other.length && crypto.timingSafeEqual(Buffer.from(one), Buffer.from(other));
}
