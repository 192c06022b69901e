/** Temporary keys of a role, from the Security Token Service (STS). */
import { readFileSync } from "node:fs";
import type { Place } from "../../core/place.ts";
import type { AwsKeys } from "../sign-v4.ts";
import { signV4 } from "../sign-v4.ts";
import type { FoundKeys } from "./found-keys.ts";
import { foundKeys } from "./found-keys.ts";

export interface Role {
  arn: string;
  /** Default: `weir`. */
  sessionName?: string;
  externalId?: string;
  durationSeconds?: string;
}

/** The keys of a role for an owner of other keys. */
export function assumeRole(place: Place, role: Role, keys: AwsKeys): Promise<FoundKeys> {
  return ask(place, "AssumeRole", { ...parametersOf(role), ExternalId: role.externalId }, keys);
}

/** The keys of a role for the owner of a token. @param tokenFile it is read anew each time, because platforms replace the token */
export function assumeRoleWithWebIdentity(place: Place, role: Role, tokenFile: string): Promise<FoundKeys> {
  const token = readFileSync(tokenFile, "utf8").trim();
  place.conceal(token);
  return ask(place, "AssumeRoleWithWebIdentity", { ...parametersOf(role), WebIdentityToken: token });
}

function parametersOf({ arn, sessionName = "weir", durationSeconds }: Role) {
  return { RoleArn: arn, RoleSessionName: sessionName, DurationSeconds: durationSeconds };
}

/** @param keys absent: the request is not signed */
async function ask(
  place: Place,
  action: string,
  parameters: Readonly<Record<string, string | undefined>>,
  keys?: AwsKeys,
): Promise<FoundKeys> {
  const region = place.variables["region"];
  if (region === undefined) throw new Error("A role needs the variable region of the provider.");
  const url = new URL(place.env["AWS_ENDPOINT_URL_STS"] || `https://sts.${region}.${domainOf(region)}/`);
  const form = new URLSearchParams({ Action: action, Version: "2011-06-15" });
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) form.set(name, value);
  const body = form.toString();
  const headers = { "content-type": "application/x-www-form-urlencoded; charset=utf-8" };
  const request = { method: "POST", url, headers, body: [Buffer.from(body)] };
  const signature = keys && signV4(request, { service: "sts", region, keys, now: place.now() });
  const { status, text } = await place.fetch({
    url: url.href,
    headers: { ...headers, accept: "text/xml", ...signature },
    body,
  });
  if (status !== 200) {
    const reason = [elementOf(text, "Code"), elementOf(text, "Message")].filter(Boolean).join(": ");
    throw new Error(`STS refused ${action} with status ${status}. ${reason}`.trim());
  }
  return foundKeys(place, `STS (${action})`, {
    accessKeyId: elementOf(text, "AccessKeyId"),
    secretAccessKey: elementOf(text, "SecretAccessKey"),
    sessionToken: elementOf(text, "SessionToken"),
    expiration: elementOf(text, "Expiration"),
  });
}

/** The domain of AWS in a region. */
function domainOf(region: string): string {
  return region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
}

/** The text of an element that occurs once in an XML answer. Keys and tokens have no characters that XML escapes. */
function elementOf(xml: string, name: string): string | undefined {
  return new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1]?.trim();
}
