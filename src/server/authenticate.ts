/** Checks gateway keys. The routes call it, so that it does not depend on a second parser of the path. */
import { GatewayError } from "../core/error.ts";
import type { ClientRoutes } from "../core/format.ts";
import type { Principal } from "../core/principal.ts";
import { KEY_HEADERS, type KeyFault, type Keyring } from "../gateway/keyring.ts";

/**
 * @param keyHeaders lower-case names of the headers that may hold the key, in order of precedence; default: `authorization`,
 * then `x-api-key`
 * @returns the client's key, `undefined` while calls need none; a promise while weir reads the keys of its store
 * @throws GatewayError `authentication`; `permission` for a key of the admin API; `overloaded` if the store cannot be read
 */
export type Authenticate = (
  headers: Headers,
  keyHeaders?: readonly string[],
) => Principal | undefined | Promise<Principal | undefined>;

/** How long a call waits for the keys of the store at the start. Milliseconds. */
const WAIT_MS = 5_000;

export function createAuthenticate(keyring: Keyring): Authenticate {
  return (headers, keyHeaders = KEY_HEADERS) => {
    if (keyring.isOpen) return undefined;
    const found = keyring.check(headers, keyHeaders);
    if (found) return found;
    if (keyring.pending) return authenticateLater(keyring, headers, keyHeaders);
    if (keyring.isDoubted) throw unreleased();
    throw refusal(keyring, headers, keyHeaders);
  };
}

async function authenticateLater(
  keyring: Keyring,
  headers: Headers,
  keyHeaders: readonly string[],
): Promise<Principal | undefined> {
  await Promise.race([keyring.pending, Bun.sleep(WAIT_MS)]);
  if (keyring.isOpen) return undefined;
  const found = keyring.check(headers, keyHeaders);
  if (found) return found;
  if (keyring.isDoubted) throw unreleased();
  if (!keyring.pending) throw refusal(keyring, headers, keyHeaders);
  throw new GatewayError("overloaded", "The gateway cannot read its keys at the moment; retry in 1 s.", {
    code: "keys_unavailable",
    retryAfter: 1,
  });
}

/** Whether a key is valid is not known any more, so nothing is said about it. */
function unreleased(): GatewayError {
  return new GatewayError(
    "overloaded",
    "The gateway's store was damaged or is an older copy, so its keys may be missing or old. Its operator checks keys and budgets, and releases them with weir store release.",
    { code: "keys_unavailable", shouldRetry: false },
  );
}

/** The fault of a key that was sent. @param until the end of its validity */
const SENTENCES: Readonly<Record<Exclude<KeyFault, "absent" | "admin">, (until: string) => string>> = {
  unknown: () => "The API key is not valid for this gateway; ask its operator for a key.",
  mistyped: () => "The API key is mistyped: its checksum does not match. Copy the whole key again.",
  expired: (until) => `The API key expired on ${until}; ask the gateway's operator for a new one.`,
  revoked: () => "The API key was revoked; ask the gateway's operator for a new one.",
  replaced: (until) =>
    `The API key was replaced by a new one and is not valid since ${until}; use the new one.`,
};

function refusal(keyring: Keyring, headers: Headers, keyHeaders: readonly string[]): GatewayError {
  const { fault, until } = keyring.faultOf(headers, keyHeaders);
  if (fault === "admin")
    return new GatewayError("permission", "This key is for the admin API; calls need a call key.", {
      code: "admin_key",
    });
  if (fault === "absent")
    return new GatewayError(
      "authentication",
      `No API key was given; send it as ${waysToSend(keyHeaders)}.`,
      CHALLENGE,
    );
  const sentence = SENTENCES[fault](until === undefined ? "" : writeTime(until));
  return new GatewayError("authentication", sentence, { code: "invalid_api_key", ...CHALLENGE });
}

const CHALLENGE = { headers: { "www-authenticate": "Bearer" } };

/** `2026-11-30 12:00 UTC`. */
function writeTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

/** `Authorization` first, because every client can send it. */
function waysToSend(keyHeaders: readonly string[]): string {
  const others = keyHeaders.filter((name) => name !== "authorization").map((name) => `\`${name}: KEY\``);
  return ["`Authorization: Bearer KEY`", ...others].join(" or ");
}

/** The headers with the gateway key of a request, which clients of some formats may send in the query instead. */
export function credentialsOf(
  { headers, url }: Request,
  { address, keyHeaders = KEY_HEADERS }: Pick<ClientRoutes, "address" | "keyHeaders">,
): Headers {
  if (!address || !url.includes("?") || keyHeaders.some((name) => headers.has(name))) return headers;
  const key = new URL(url).searchParams.get(address.keyParameter);
  return key === null || key === "" ? headers : new Headers({ authorization: `Bearer ${key}` });
}
