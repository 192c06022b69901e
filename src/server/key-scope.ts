/** Permissions of a key that the server knows before it reads the body: the endpoint, and the client's address. */
import { GatewayError } from "../core/error.ts";
import { callerWords, type Principal } from "../core/principal.ts";

/**
 * @param endpoint id of a client format, or `embeddings`, `count`, `models`, `explain`; absent: every key may call it
 * @throws GatewayError `permission`
 */
export function assertScope(
  principal: Principal | undefined,
  endpoint: string | undefined,
  addressOf: () => string,
): void {
  if (principal === undefined) return;
  const { options } = principal;
  if (endpoint !== undefined && !options.allowsEndpoint(endpoint))
    throw new GatewayError(
      "permission",
      `The ${callerWords(principal)} may not use the endpoint ${endpoint}.`,
      {
        code: "endpoint_not_allowed",
      },
    );
  if (!options.isBoundToAddresses) return;
  const address = addressOf();
  if (options.allowsAddress(address)) return;
  const from = address === "" ? "over a unix socket" : `from the address ${address}`;
  throw new GatewayError("permission", `The ${callerWords(principal)} may not be used ${from}.`, {
    code: "address_not_allowed",
  });
}
