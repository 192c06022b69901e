/** Access tokens of Google Cloud, for `authorize` of providers there. */
import type { Surroundings } from "../core/endpoint.ts";
import type { Place } from "../core/place.ts";
import {
  type AuthorizedUser,
  findGoogleKey,
  googleKeyPath,
  readGoogleKey,
  type ServiceAccount,
} from "./google-key-file.ts";
import { type FetchedToken, oauthToken } from "./oauth-token.ts";
import { formOf, readToken } from "./token-answer.ts";
import type { JsonObject } from "../core/json.ts";

const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
const JWT_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer";
/** How long the signed request for a token is valid, at most an hour. Seconds. */
const ASSERTION_LIFETIME = 3600;
/** Address of the metadata server of a machine at Google, the same on all of them. */
const METADATA_HOST = "169.254.169.254";

/** The key file of the application default credentials, without a secret. */
export interface GoogleIdentity {
  /** Where it is, for people. */
  readonly source: string;
  readonly project?: string;
  /** The project whose quota the calls use. */
  readonly quotaProject?: string;
}

/**
 * Looks for the application default credentials in a file: the one that `GOOGLE_APPLICATION_CREDENTIALS` names, or that of
 * gcloud. It sends nothing.
 * @param keyFile path that takes precedence
 * @returns undefined if there is no file that weir can use
 */
export function googleIdentity(
  known: Pick<Surroundings, "env">,
  keyFile?: string,
): GoogleIdentity | undefined {
  const path = keyFile || googleKeyPath(known);
  const key = findGoogleKey(path);
  if (!key) return undefined;
  return key.type === "service_account"
    ? { source: `the service account in ${path}`, project: key.project }
    : { source: `the user of gcloud in ${path}`, quotaProject: key.quotaProject };
}

export interface GoogleTokenOptions {
  /** Path of a key file. Default: as {@link googleIdentity} finds it. The file is read anew for each token. */
  keyFile?: string;
  /** Uses the metadata server of the machine instead of a file. */
  metadata?: boolean;
}

/**
 * The access token of a place for Google Cloud, kept and refreshed by {@link oauthToken}.
 * @throws Error with the reason that the token endpoint gives, or for a file that cannot be used
 */
export function googleToken(place: Place, options?: GoogleTokenOptions): Promise<string> {
  return oauthToken(place, () => fetchToken(place, options));
}

async function fetchToken(
  place: Place,
  { keyFile, metadata = false }: GoogleTokenOptions = {},
): Promise<FetchedToken> {
  if (metadata) return fetchFromMetadata(place);
  const path = keyFile || googleKeyPath(place);
  if (path === undefined)
    throw new Error("There is no key file of Google; set GOOGLE_APPLICATION_CREDENTIALS.");
  const key = readGoogleKey(path);
  const fields = key.type === "service_account" ? assertionOf(key, place) : refreshOf(key, place);
  const answer = await place.fetch({ url: key.tokenUri, ...formOf(fields) });
  return readToken(answer, "The token endpoint of Google", place.now());
}

function assertionOf(key: ServiceAccount, place: Place): Record<string, string> {
  const issued = Math.floor(place.now() / 1000);
  const claims = {
    iss: key.clientEmail,
    scope: SCOPE,
    aud: key.tokenUri,
    iat: issued,
    exp: issued + ASSERTION_LIFETIME,
  };
  return { grant_type: JWT_GRANT, assertion: signJwt(claims, key.privateKey, key.privateKeyId) };
}

function refreshOf({ clientId, clientSecret, refreshToken }: AuthorizedUser, place: Place) {
  place.conceal(clientSecret);
  place.conceal(refreshToken);
  return {
    grant_type: "refresh_token",
    client_id: clientId,
    client_secret: clientSecret,
    refresh_token: refreshToken,
  };
}

async function fetchFromMetadata(place: Place): Promise<FetchedToken> {
  const host = place.env["GCE_METADATA_HOST"] ?? METADATA_HOST;
  const answer = await place.fetch({
    url: `http://${host}/computeMetadata/v1/instance/service-accounts/default/token`,
    headers: { "metadata-flavor": "Google" },
    direct: true,
  });
  return readToken(answer, "The metadata server of the machine", place.now());
}

/**
 * A JSON Web Token (RFC 7519), signed with RS256.
 * @param privateKey in PEM
 * @param keyId header `kid`
 * @throws Error if the key is no RSA key
 */
function signJwt(claims: JsonObject, privateKey: string, keyId?: string): string {
  const header = { alg: "RS256", typ: "JWT", ...(keyId !== undefined && { kid: keyId }) };
  const text = `${encode(header)}.${encode(claims)}`;
  // The module is loaded by the first token: most gateways need none.
  const { sign } = process.getBuiltinModule("node:crypto");
  return `${text}.${sign("RSA-SHA256", Buffer.from(text), privateKey).toString("base64url")}`;
}

function encode(value: JsonObject): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
