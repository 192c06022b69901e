/** Checks gateway keys. The routes call it, so that it does not depend on a second parser of the path. */
import { GatewayError } from "../core/error.ts";
import type { ClientCodec } from "../core/format.ts";
import { KEY_HEADERS, type Keyring } from "../gateway/keys.ts";

/**
 * @param keyHeaders lower-case names of the headers that may hold the key, in order of precedence; default: `authorization`,
 * then `x-api-key`
 * @returns the name of the client's key, `undefined` if weir has no keys @throws GatewayError `authentication`
 */
export type Authenticate = (headers: Headers, keyHeaders?: readonly string[]) => string | undefined;

export function createAuthenticate(keyring: Keyring): Authenticate {
  return (headers, keyHeaders = KEY_HEADERS) => {
    if (keyring.size === 0) return undefined;
    const found = keyring.check(headers, keyHeaders);
    if (found) return found.name;
    const isPresent = keyHeaders.some((name) => headers.has(name));
    throw new GatewayError(
      "authentication",
      isPresent
        ? "The API key is not valid for this gateway; ask its operator for a key."
        : `No API key was given; send it as ${waysToSend(keyHeaders)}.`,
      { ...(isPresent && { code: "invalid_api_key" }), headers: { "www-authenticate": "Bearer" } },
    );
  };
}

/** `Authorization` first, because every client can send it. */
function waysToSend(keyHeaders: readonly string[]): string {
  const others = keyHeaders.filter((name) => name !== "authorization").map((name) => `\`${name}: KEY\``);
  return ["`Authorization: Bearer KEY`", ...others].join(" or ");
}

/** The headers with the gateway key of a request, which clients of some formats may send in the query instead. */
export function credentialsOf(
  { headers, url }: Request,
  { address, keyHeaders = KEY_HEADERS }: Pick<ClientCodec, "address" | "keyHeaders">,
): Headers {
  if (!address || !url.includes("?") || keyHeaders.some((name) => headers.has(name))) return headers;
  const key = new URL(url).searchParams.get(address.keyParameter);
  return key === null || key === "" ? headers : new Headers({ authorization: `Bearer ${key}` });
}
