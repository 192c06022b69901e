/** Whether a token is for what its caller asks for: the resource (RFC 8707) and the scope. */
import { GatewayError } from "../../core/error.ts";
import type { Principal } from "../../core/principal.ts";
import type { Resource } from "../../gateway/credentials.ts";
import { factsOf } from "./columns.ts";
import { hasModels, hasOneOf } from "./own/scope.ts";
import { refusalOf } from "./refusals.ts";

/**
 * @param url address of weir @param resource absent: models, and what else has no scope of its own
 * @returns the caller @throws GatewayError `authentication` for another audience; `permission` (`insufficient_scope`)
 */
export function expectFor(
  principal: Principal,
  url: string | undefined,
  resource: Resource | undefined,
): Principal {
  const { audience, scope } = factsOf(principal) ?? {};
  if (audience === undefined && scope === undefined) return principal;
  if (audience !== undefined && !isWithin(`${url}${resource?.path ?? ""}`, audience))
    throw refusalOf({ reason: "audience" });
  const isWide = scope === undefined || (resource ? hasOneOf(scope, resource.scopes) : hasModels(scope));
  if (isWide) return principal;
  throw new GatewayError(
    "permission",
    `The token is for ${scope}, which does not cover ${resource?.path ?? "models"}; get one with the scope ${resource?.scopes[0] ?? "models"}.`,
    { code: "insufficient_scope", shouldRetry: false },
  );
}

function isWithin(asked: string, audience: string): boolean {
  return asked === audience || asked.startsWith(`${audience}/`);
}
