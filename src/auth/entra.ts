/** Access tokens of Microsoft Entra, for `authorize` of providers in Azure. */
import { readFileSync } from "node:fs";
import type { Place } from "../core/place.ts";
import type { FetchedToken } from "./oauth-token.ts";
import { oauthToken } from "./oauth-token.ts";
import { formOf, readToken } from "./token-answer.ts";

export interface EntraOptions {
  /** The purpose of the token: `https://cognitiveservices.azure.com/.default`. */
  scope: string;
  /** Address of Entra. Default: the public cloud's. */
  authorityHost?: string;
}

const AUTHORITY_HOST = "https://login.microsoftonline.com";
const JWT_BEARER = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
/** The address of the instance metadata service, the same on every machine in Azure. */
const METADATA_HOST = "http://169.254.169.254";

/**
 * The access token of a place, kept and refreshed by {@link oauthToken}. It is fetched with the credentials in use:
 * `AZURE_TENANT_ID`, `AZURE_CLIENT_ID` and `AZURE_CLIENT_SECRET` or `AZURE_FEDERATED_TOKEN_FILE`; without any of them, with
 * the managed identity of the machine.
 * @throws Error with the reason that the token endpoint gives
 */
export function entraToken(place: Place, options: EntraOptions): Promise<string> {
  return oauthToken(place, () => fetchToken(place, options));
}

function fetchToken(place: Place, options: EntraOptions): Promise<FetchedToken> {
  return place.secret("AZURE_TENANT_ID") === undefined
    ? fetchManaged(place, options)
    : fetchForClient(place, options);
}

async function fetchForClient(
  place: Place,
  { scope, authorityHost = AUTHORITY_HOST }: EntraOptions,
): Promise<FetchedToken> {
  const tenant = encodeURIComponent(place.secret("AZURE_TENANT_ID") ?? "");
  const answer = await place.fetch({
    url: `${authorityHost.replace(/\/+$/, "")}/${tenant}/oauth2/v2.0/token`,
    ...formOf({
      grant_type: "client_credentials",
      client_id: place.secret("AZURE_CLIENT_ID") ?? "",
      scope,
      ...proofOf(place),
    }),
  });
  return readToken(answer, "Microsoft Entra", place.now());
}

/** The secret of the client, or the token that the platform writes into a file. The platform replaces the file before it expires. */
function proofOf(place: Place): Record<string, string> {
  const secret = place.secret("AZURE_CLIENT_SECRET");
  if (secret !== undefined) return { client_secret: secret };
  const assertion = readFileSync(place.secret("AZURE_FEDERATED_TOKEN_FILE") ?? "", "utf8").trim();
  return { client_assertion_type: JWT_BEARER, client_assertion: assertion };
}

/** `AZURE_CLIENT_ID` names one of several identities of the machine. */
async function fetchManaged(place: Place, { scope }: EntraOptions): Promise<FetchedToken> {
  const { IDENTITY_ENDPOINT, IDENTITY_HEADER, AZURE_CLIENT_ID, AZURE_POD_IDENTITY_AUTHORITY_HOST } =
    place.env;
  // App Service, Functions and Container Apps have an endpoint of their own.
  const isAppService = IDENTITY_ENDPOINT !== undefined && IDENTITY_HEADER !== undefined;
  const address = isAppService
    ? IDENTITY_ENDPOINT
    : `${AZURE_POD_IDENTITY_AUTHORITY_HOST ?? METADATA_HOST}/metadata/identity/oauth2/token`;
  const query = new URLSearchParams({
    "api-version": isAppService ? "2019-08-01" : "2018-02-01",
    resource: scope.replace(/\/\.default$/, ""),
    ...(AZURE_CLIENT_ID && { client_id: AZURE_CLIENT_ID }),
  });
  const headers: Record<string, string> = isAppService
    ? { "x-identity-header": IDENTITY_HEADER }
    : { metadata: "true" };
  const answer = await place.fetch({ url: `${address}?${query}`, headers, direct: true });
  return readToken(answer, "The managed identity of the machine", place.now());
}
