/** Keys of a profile, in each of the ways that the files of the AWS tools can name them. */
import type { Place } from "../../core/place.ts";
import type { FoundKeys } from "./found-keys.ts";
import { foundKeys, keysInJson } from "./found-keys.ts";
import { containerKeys, instanceKeys } from "./machine.ts";
import type { Profile } from "./profiles.ts";
import { readProfile } from "./profiles.ts";
import { ssoKeys, usesSso } from "./sso.ts";
import { assumeRole, assumeRoleWithWebIdentity } from "./sts.ts";

/** Whether a profile names credentials; many have only a region. */
export function namesKeys(profile: Profile): boolean {
  return (
    usesSso(profile) ||
    ["aws_access_key_id", "role_arn", "credential_process"].some((name) => profile.get(name) !== undefined)
  );
}

/** @param users the profiles whose roles these keys are for @throws Error with a sentence for the log if there are no keys */
export async function profileKeys(
  place: Place,
  name: string,
  users: readonly string[] = [],
): Promise<FoundKeys> {
  const profile = readProfile(name, place);
  if (!profile) throw new Error(`No file of the AWS tools has the profile ${name}.`);
  // A profile may be the source of its own role: then its keys are meant.
  const usesRole = profile.get("role_arn") !== undefined && !users.includes(name);
  if (usesRole) return roleKeys(place, profile, users);
  const accessKeyId = profile.get("aws_access_key_id");
  if (accessKeyId !== undefined)
    return foundKeys(place, `The profile ${name}`, {
      accessKeyId,
      secretAccessKey: profile.get("aws_secret_access_key"),
      sessionToken: profile.get("aws_session_token"),
    });
  if (usesSso(profile)) return ssoKeys(place, profile);
  const command = profile.get("credential_process");
  if (command !== undefined) return processKeys(place, profile, command);
  throw new Error(`The profile ${name} names no credentials.`);
}

async function roleKeys(place: Place, profile: Profile, users: readonly string[]): Promise<FoundKeys> {
  const { name } = profile;
  if (profile.get("mfa_serial") !== undefined)
    throw new Error(
      `The profile ${name} requires a code of a device (mfa_serial), for which weir cannot ask.`,
    );
  const role = {
    arn: profile.get("role_arn")!,
    sessionName: profile.get("role_session_name"),
    externalId: profile.get("external_id"),
    durationSeconds: profile.get("duration_seconds"),
  };
  const tokenFile = profile.get("web_identity_token_file");
  if (tokenFile !== undefined) return assumeRoleWithWebIdentity(place, role, tokenFile);
  const source = profile.get("source_profile");
  const owner =
    source === undefined
      ? await sourceKeys(place, profile)
      : await profileKeys(place, source, [...users, name]);
  return assumeRole(place, role, owner.value);
}

/** The keys that `credential_source` of a role names. */
function sourceKeys(place: Place, profile: Profile): Promise<FoundKeys> {
  const source = profile.get("credential_source");
  switch (source) {
    case "Environment":
      return Promise.resolve(
        foundKeys(place, "The environment", {
          accessKeyId: place.env["AWS_ACCESS_KEY_ID"],
          secretAccessKey: place.env["AWS_SECRET_ACCESS_KEY"],
          sessionToken: place.env["AWS_SESSION_TOKEN"],
        }),
      );
    case "EcsContainer":
      return containerKeys(place);
    case "Ec2InstanceMetadata":
      return instanceKeys(place);
    default:
      throw new Error(`The profile ${profile.name} has a role, but no source_profile or credential_source.`);
  }
}

/** Maximum time and output of a program that prints keys. Milliseconds, bytes. */
const LIMITS = { timeout: 30_000, maxBuffer: 64 * 1024 };

/** Programs run only if the operator allows it: a user who can write the file could run any program. */
async function processKeys(place: Place, { name }: Profile, command: string): Promise<FoundKeys> {
  if (place.variables["credentialProcess"] !== "allow")
    throw new Error(
      `The profile ${name} runs a program (credential_process); set the variable credentialProcess of the provider to allow.`,
    );
  // Few operators allow it, so the modules are loaded only then.
  const [{ exec }, { promisify }] = await Promise.all([import("node:child_process"), import("node:util")]);
  let text: string;
  try {
    text = (await promisify(exec)(command, LIMITS)).stdout;
  } catch (cause) {
    // The message of the cause holds the command line, which may hold a secret.
    const { code } = cause as { code?: unknown };
    throw new Error(`The credential_process of the profile ${name} failed (${String(code ?? "timeout")}).`);
  }
  return keysInJson(place, `The credential_process of the profile ${name}`, text);
}
