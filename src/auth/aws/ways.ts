/** The ways to get access keys that are not in the environment, in the order of the AWS tools. */
import type { CredentialSource } from "../../core/credential.ts";
import type { Surroundings } from "../../core/endpoint.ts";
import type { Place } from "../../core/place.ts";
import type { FoundKeys } from "./found-keys.ts";
import { containerKeys, containerUrl, instanceKeys } from "./machine.ts";
import { namesKeys, profileKeys } from "./profile-keys.ts";
import { profileName, readProfile } from "./profiles.ts";
import { assumeRoleWithWebIdentity } from "./sts.ts";

/** One way to get keys that are not in the environment. */
interface Way {
  /** Where the keys are, for people; undefined if they are not there. */
  find(known: Surroundings): string | undefined;
  fetch(place: Place): Promise<FoundKeys>;
}

/** Whether the config names the profile for this provider. */
function isChosen({ variables }: Surroundings): boolean {
  return Boolean(variables["profile"]);
}

const profile: Way = {
  find(known) {
    const name = profileName(known);
    const found = readProfile(name, known);
    return isChosen(known) || (found && namesKeys(found)) ? `the AWS profile ${name}` : undefined;
  },
  fetch: (place) => profileKeys(place, profileName(place)),
};

const webIdentity: Way = {
  find({ env }) {
    const isThere = env["AWS_WEB_IDENTITY_TOKEN_FILE"] && env["AWS_ROLE_ARN"];
    return isThere ? "the token in AWS_WEB_IDENTITY_TOKEN_FILE" : undefined;
  },
  fetch(place) {
    const { AWS_ROLE_ARN, AWS_ROLE_SESSION_NAME, AWS_WEB_IDENTITY_TOKEN_FILE } = place.env;
    const role = { arn: AWS_ROLE_ARN!, sessionName: AWS_ROLE_SESSION_NAME || undefined };
    return assumeRoleWithWebIdentity(place, role, AWS_WEB_IDENTITY_TOKEN_FILE!);
  },
};

const container: Way = {
  find: (known) => (containerUrl(known) === undefined ? undefined : "the role of the container"),
  fetch: containerKeys,
};

const instance: Way = {
  find: ({ variables }) =>
    variables["instanceMetadata"] === "allow" ? "the role of the EC2 instance" : undefined,
  fetch: instanceKeys,
};

const WAYS: readonly Way[] = [profile, webIdentity, container, instance];

/** The first way that is there. */
export function wayOf(known: Surroundings): Way | undefined {
  return WAYS.find((way) => way.find(known) !== undefined);
}

/** A profile that the config chooses for this provider precedes the keys of the environment, which are for any program. */
export const chosenProfile: CredentialSource = {
  find: (known) => (isChosen(known) ? profile.find(known) : undefined),
};

export const anyWay: CredentialSource = {
  find: (known) => wayOf(known)?.find(known),
  hint: "add the profile to ~/.aws/credentials, or on EC2 set the variable instanceMetadata to allow",
};
