/** Access keys as the endpoints and programs of AWS return them. */
import { isObject, parseJson } from "../../core/json.ts";
import type { Place } from "../../core/place.ts";
import type { FetchedValue } from "../kept-value.ts";
import type { AwsKeys } from "../sign-v4.ts";

export type FoundKeys = FetchedValue<AwsKeys>;

interface Parts {
  accessKeyId: unknown;
  secretAccessKey: unknown;
  sessionToken?: unknown;
  /** ISO 8601, or milliseconds since 1970. */
  expiration?: unknown;
}

/** The keys, which weir masks from now on. @param origin what returned them, for the error @throws Error if one is missing */
export function foundKeys(place: Place, origin: string, parts: Parts): FoundKeys {
  const { accessKeyId, secretAccessKey, sessionToken, expiration } = parts;
  if (!isText(accessKeyId) || !isText(secretAccessKey))
    throw new Error(`${origin} returned no access key and secret key.`);
  const value = { accessKeyId, secretAccessKey, ...(isText(sessionToken) && { sessionToken }) };
  for (const secret of Object.values(value)) place.conceal(secret);
  const expiresAt = isText(expiration) ? Date.parse(expiration) : expiration;
  return { value, ...(typeof expiresAt === "number" && !Number.isNaN(expiresAt) && { expiresAt }) };
}

/** The keys in the JSON of container and instance endpoints and of `credential_process`. */
export function keysInJson(place: Place, origin: string, text: string): FoundKeys {
  const said = parseJson(text);
  const { AccessKeyId, SecretAccessKey, SessionToken, Token, Expiration } = isObject(said) ? said : {};
  return foundKeys(place, origin, {
    accessKeyId: AccessKeyId,
    secretAccessKey: SecretAccessKey,
    sessionToken: SessionToken ?? Token,
    expiration: Expiration,
  });
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
