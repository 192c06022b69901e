/** Who may use models may not use tools by that: the credential of a caller must be for both. */
import { GatewayError } from "../../../core/error.ts";
import { callerWords, type Principal } from "../../../core/principal.ts";
import { ENDPOINT, resourceOf } from "../auth/resources.ts";
import type { Reference } from "./references.ts";

/**
 * @returns the references for which the credential is; what only the config offers is left out otherwise
 * @throws GatewayError `permission` or `authentication` for one that the client names
 */
export function permitted(
  references: readonly Reference[],
  principal: Principal | undefined,
): readonly Reference[] {
  if (!principal) return references;
  return references.filter((reference) => {
    const fault = faultOf(reference, principal);
    if (fault && !reference.isOptional) throw fault.with({ param: reference.path });
    return !fault;
  });
}

function faultOf({ server }: Reference, principal: Principal): GatewayError | undefined {
  if (!principal.options.allowsEndpoint(ENDPOINT))
    return new GatewayError(
      "permission",
      `The ${callerWords(principal)} may not use tools: its endpoints do not have ${ENDPOINT}.`,
      { code: "endpoint_not_allowed" },
    );
  try {
    principal.expect?.(resourceOf(server));
  } catch (thrown) {
    return GatewayError.from(thrown);
  }
  return undefined;
}
