/** Keys for a profile that signs in with AWS IAM Identity Center (single sign-on). */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isObject, parseJson } from "../../core/json.ts";
import type { Place } from "../../core/place.ts";
import type { FoundKeys } from "./found-keys.ts";
import { foundKeys } from "./found-keys.ts";
import type { Profile } from "./profiles.ts";
import { awsFolder, readSsoSession } from "./profiles.ts";

export function usesSso(profile: Profile): boolean {
  return (profile.get("sso_session") ?? profile.get("sso_start_url")) !== undefined;
}

/** weir uses the token of the last `aws sso login` and cannot log in itself. @throws Error if the token has expired */
export async function ssoKeys(place: Place, profile: Profile): Promise<FoundKeys> {
  const sessionName = profile.get("sso_session");
  const session = sessionName === undefined ? undefined : readSsoSession(sessionName, place);
  const region = session?.get("sso_region") ?? profile.get("sso_region");
  const account = profile.get("sso_account_id");
  const role = profile.get("sso_role_name");
  if (region === undefined || account === undefined || role === undefined)
    throw new Error(
      `The profile ${profile.name} needs sso_region, sso_account_id and sso_role_name for single sign-on.`,
    );
  const token = readToken(place, sessionName ?? profile.get("sso_start_url")!);
  if (token === undefined)
    throw new Error(
      `The single sign-on session of the profile ${profile.name} has expired; run \`aws sso login --profile ${profile.name}\`.`,
    );
  place.conceal(token);
  const host = place.env["AWS_ENDPOINT_URL_SSO"] || `https://portal.sso.${region}.amazonaws.com`;
  const query = new URLSearchParams({ role_name: role, account_id: account });
  const { status, text } = await place.fetch({
    url: `${host.replace(/\/$/, "")}/federation/credentials?${query.toString()}`,
    headers: { "x-amz-sso_bearer_token": token },
  });
  if (status !== 200) throw new Error(`Single sign-on refused the role ${role} with status ${status}.`);
  const said = parseJson(text);
  const keys = isObject(said) && isObject(said["roleCredentials"]) ? said["roleCredentials"] : {};
  const { accessKeyId, secretAccessKey, sessionToken, expiration } = keys;
  return foundKeys(place, "Single sign-on", { accessKeyId, secretAccessKey, sessionToken, expiration });
}

/** The token that `aws sso login` left. @param key name of the session, or start URL @returns undefined if it is not valid any more */
function readToken(place: Place, key: string): string | undefined {
  const name = `${new Bun.CryptoHasher("sha1").update(key).digest("hex")}.json`;
  let text: string;
  try {
    text = readFileSync(join(awsFolder(place) ?? ".", "sso", "cache", name), "utf8");
  } catch {
    return undefined;
  }
  const kept = parseJson(text);
  const { accessToken, expiresAt } = isObject(kept) ? kept : {};
  const isValid = typeof expiresAt === "string" && Date.parse(expiresAt) > place.now();
  return isValid && typeof accessToken === "string" ? accessToken : undefined;
}
