/** Checks gateway keys. The routes call it, so that it does not depend on a second parser of the path. */
import { GatewayError } from "../core/error.ts";
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
        : "No API key was given; send it as `Authorization: Bearer KEY` or `x-api-key: KEY`.",
      { ...(isPresent && { code: "invalid_api_key" }), headers: { "www-authenticate": "Bearer" } },
    );
  };
}
