/** Permissions of a key that the server knows before it reads the body: the endpoint, and the client's address. */
import { GatewayError } from "../core/error.ts";
import type { KeyAccess } from "../core/key-access.ts";

/**
 * @param endpoint id of a client format, or `embeddings`, `count`, `models`, `explain`; absent: every key may call it
 * @throws GatewayError `permission`
 */
export function assertScope(
  access: KeyAccess | undefined,
  endpoint: string | undefined,
  addressOf: () => string,
): void {
  if (access === undefined) return;
  if (endpoint !== undefined && !access.allowsEndpoint(endpoint))
    throw new GatewayError("permission", `The key ${access.name} may not use the endpoint ${endpoint}.`, {
      code: "endpoint_not_allowed",
    });
  if (!access.isBoundToAddresses) return;
  const address = addressOf();
  if (access.allowsAddress(address)) return;
  const from = address === "" ? "over a unix socket" : `from the address ${address}`;
  throw new GatewayError("permission", `The key ${access.name} may not be used ${from}.`, {
    code: "address_not_allowed",
  });
}
