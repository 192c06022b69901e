/** Adds the sentences of a provider's plugin to errors that the host's own words do not explain. */
import { GatewayError } from "../../core/error.ts";
import type { Target } from "../../core/provider.ts";

/** Code of an error that only the operator of weir can correct. */
export const OPERATOR_FAULT = "upstream_configuration";

/**
 * The error with the first hint of its provider that matches.
 * @param body text of the host's answer
 */
export function withHint(error: GatewayError, body: string, { provider, deployment }: Target): GatewayError {
  const hint = provider.hints?.find(({ when }) => when.test(body));
  if (!hint) return error;
  if (hint.forOperator)
    return new GatewayError("upstream", hint.say, {
      code: OPERATOR_FAULT,
      shouldRetry: false,
      said: error.said,
      cause: `${deployment.baseUrl} answered: ${error.message}`,
    });
  return new GatewayError(error.kind, `${error.message} ${hint.say}`, { ...error, cause: error.cause });
}
