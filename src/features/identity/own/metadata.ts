/** What clients read of the authorization server (RFC 8414). */
import { EXCHANGE_GRANT } from "./exchange.ts";
import { SCOPES } from "./scope.ts";
import type { AuthorizationSettings } from "./settings.ts";

/** Version of the protocol by which Claude Code signs in at a gateway. */
const GATEWAY_PROTOCOL = 1;

export interface Abilities {
  readonly url: string;
  /** People may sign in, so that programs of theirs get tokens; absent: only tokens of issuers are exchanged. */
  readonly signsIn?: Pick<AuthorizationSettings, "registers" | "readsDocuments">;
}

export function metadata({ url, signsIn }: Abilities): object {
  const common = {
    ...{ issuer: url, token_endpoint: `${url}/oauth/token`, jwks_uri: `${url}/oauth/jwks` },
    token_endpoint_auth_methods_supported: ["none"],
    scopes_supported: SCOPES,
  };
  if (!signsIn) return { ...common, response_types_supported: [], grant_types_supported: [EXCHANGE_GRANT] };
  const { registers, readsDocuments } = signsIn;
  const takesCodes = registers || readsDocuments;
  return {
    ...common,
    ...(takesCodes && {
      authorization_endpoint: `${url}/oauth/authorize`,
      code_challenge_methods_supported: ["S256"],
      authorization_response_iss_parameter_supported: true,
    }),
    response_types_supported: takesCodes ? ["code"] : [],
    grant_types_supported: [
      ...(takesCodes ? ["authorization_code"] : []),
      ...["refresh_token", "urn:ietf:params:oauth:grant-type:device_code", EXCHANGE_GRANT],
    ],
    device_authorization_endpoint: `${url}/oauth/device_authorization`,
    revocation_endpoint: `${url}/oauth/revoke`,
    revocation_endpoint_auth_methods_supported: ["none"],
    ...(registers && { registration_endpoint: `${url}/oauth/register` }),
    client_id_metadata_document_supported: readsDocuments,
    gateway_protocol_version: GATEWAY_PROTOCOL,
  };
}
