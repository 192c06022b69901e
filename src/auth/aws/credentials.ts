/** The credentials of AWS for a provider: where they may be, and the access keys to sign a request with. */
import type { CredentialSet } from "../../core/credential.ts";
import type { Variable } from "../../core/endpoint.ts";
import type { Place } from "../../core/place.ts";
import { keptValue } from "../kept-value.ts";
import type { AwsKeys } from "../sign-v4.ts";
import { regionOfProfile, stampOf } from "./profiles.ts";
import { anyWay, chosenProfile, wayOf } from "./ways.ts";

/** Variables that {@link awsCredentials} and {@link awsKeys} read, for `variables` of a provider. */
export const awsVariables: Readonly<
  Record<"region" | "profile" | "credentialProcess" | "instanceMetadata", Variable>
> = {
  region: {
    env: ["AWS_REGION", "AWS_DEFAULT_REGION"],
    find: regionOfProfile,
    describe: "the AWS region, such as eu-central-1",
  },
  profile: { default: "", describe: "the profile in ~/.aws; it precedes all other credentials" },
  credentialProcess: { default: "", describe: "allow, to run the credential_process of a profile" },
  instanceMetadata: { default: "", describe: "allow, to use the role of the EC2 instance" },
};

/**
 * The sets of credentials of AWS in the order of its tools, for `credentials` of a provider: access keys in the environment, a
 * profile, a web identity, a container, an instance. A profile that the config names comes first. Nothing is called before the
 * first request.
 * @param others sets that precede the access keys, such as API keys of a service
 */
export function awsCredentials(...others: readonly CredentialSet[]): readonly CredentialSet[] {
  return [
    chosenProfile,
    ...others,
    ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"],
    ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"],
    anyWay,
  ];
}

/** The session token of the keys in use. That of the environment belongs to the keys of the environment, not to those of the config. */
function sessionTokenFor(accessKeyId: string, { secret, env }: Place): string | undefined {
  const token = secret("AWS_SESSION_TOKEN");
  const isOther =
    token === env["AWS_SESSION_TOKEN"]?.trim() && accessKeyId !== env["AWS_ACCESS_KEY_ID"]?.trim();
  return isOther ? undefined : token;
}

const KEY = "weir.aws-keys";
const STAMP = "weir.aws-files";

/**
 * The access keys of the credentials in use, for `signV4`. Temporary keys are refreshed five minutes before they expire, once for
 * all calls; keys in files are read again when a file changes.
 * @throws Error if there are none
 */
export async function awsKeys(place: Place): Promise<AwsKeys> {
  const accessKeyId = place.secret("AWS_ACCESS_KEY_ID");
  const secretAccessKey = place.secret("AWS_SECRET_ACCESS_KEY");
  if (accessKeyId !== undefined && secretAccessKey !== undefined)
    return { accessKeyId, secretAccessKey, sessionToken: sessionTokenFor(accessKeyId, place) };
  const stamp = stampOf(place);
  if (place.kept.get(STAMP) !== stamp) {
    place.kept.delete(KEY);
    place.kept.set(STAMP, stamp);
  }
  return keptValue(place, KEY, () => {
    const way = wayOf(place);
    if (!way) throw new Error("The AWS credentials that were there at the start are gone.");
    return way.fetch(place);
  });
}
