/** Who may come in. Bound to routes and never to a path that was parsed elsewhere. */
import { GatewayError } from "../core/error.ts";
import type { Keyring } from "../gateway/keys.ts";

/** The name of the key a request shows; undefined when the gateway has no keys. @throws GatewayError `authentication` */
export type Authenticate = (headers: Headers, formatId: string) => string | undefined;

export function createAuthenticate(keyring: Keyring): Authenticate {
  return (headers, formatId) => {
    if (keyring.size === 0) return undefined;
    const found = keyring.check(headers, formatId === "messages" ? "x-api-key-first" : "bearer-first");
    if (found) return found.name;
    const shown = headers.has("authorization") || headers.has("x-api-key");
    throw new GatewayError(
      "authentication",
      shown
        ? "The API key is not one of this gateway's; ask its operator for a key."
        : "No API key was given; send it as `Authorization: Bearer KEY` or `x-api-key: KEY`.",
      { ...(shown && { code: "invalid_api_key" }), headers: { "www-authenticate": "Bearer" } },
    );
  };
}
