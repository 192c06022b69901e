/** Checks gateway keys. The routes call it, so that it does not depend on a second parser of the path. */
import { GatewayError } from "../core/error.ts";
import type { Keyring } from "../gateway/keys.ts";

/** @returns the name of the client's key, `undefined` if weir has no keys @throws GatewayError `authentication` */
export type Authenticate = (headers: Headers, formatId: string) => string | undefined;

export function createAuthenticate(keyring: Keyring): Authenticate {
  return (headers, formatId) => {
    if (keyring.size === 0) return undefined;
    const found = keyring.check(headers, formatId === "messages" ? "x-api-key-first" : "bearer-first");
    if (found) return found.name;
    const isPresent = headers.has("authorization") || headers.has("x-api-key");
    throw new GatewayError(
      "authentication",
      isPresent
        ? "The API key is not valid for this gateway; ask its operator for a key."
        : "No API key was given; send it as `Authorization: Bearer KEY` or `x-api-key: KEY`.",
      { ...(isPresent && { code: "invalid_api_key" }), headers: { "www-authenticate": "Bearer" } },
    );
  };
}
