/**
 * `key_management_system`: LiteLLM reads what `os.environ/NAME` names from a store of secrets, and from the environment if the store
 * does not have it. https://docs.litellm.ai/docs/secret_managers/overview
 */
import type { Reading } from "../reader.ts";
import type { SourceNode } from "../source.ts";

interface Found {
  reading: Reading;
  settings: SourceNode | undefined;
  system: SourceNode;
  /** A value that the config sets for the environment of LiteLLM. */
  variable(name: string): string | undefined;
}

/** @returns the reference of weir in place of a variable */
type Refer = (name: string) => string;

/** By the name of the system. @returns undefined, if weir cannot know where the secrets are */
const SYSTEMS: Readonly<Record<string, (found: Found) => Refer | undefined>> = {
  aws_secret_manager: readAws,
  hashicorp_vault: readVault,
  google_secret_manager: readGoogle,
  azure_key_vault: readAzure,
};

const OTHERS: Readonly<Record<string, string>> = {
  aws_kms: "weir decrypts no variables with AWS KMS",
  google_kms: "weir decrypts no variables with Google KMS",
  cyberark: "weir reads no secrets of CyberArk",
  custom: "weir runs no code of the config",
  local: "weir decrypts no variables",
};
const INSTEAD = "${exec:…} takes what a program prints; variables stay";

/** Call this before credentials are read. */
export function readSecretManager(
  reading: Reading,
  general: SourceNode | undefined,
  variables: SourceNode | undefined,
): void {
  const system = general?.member("key_management_system");
  const settings = general?.member("key_management_settings");
  if (system?.text === undefined) return;
  readWriting(settings);
  if (settings?.member("access_mode")?.text === "write_only")
    return system.changed("LiteLLM only writes there, and weir keeps keys in its own store");
  const variable = (name: string) => {
    const node = variables?.entries.find((one) => one.name === name);
    if (node?.text === undefined || reading.environment.isReference(node.text)) return undefined;
    node.taken("secrets");
    return node.text;
  };
  const refer = SYSTEMS[system.text]?.({ reading, settings, system, variable });
  if (!refer) {
    system.dropped(OTHERS[system.text] ?? "weir cannot tell where the secrets are", INSTEAD);
    return;
  }
  const hosted = settings?.member("hosted_keys");
  const names = hosted && new Set(hosted.items.map(({ text }) => text));
  hosted?.taken("providers");
  reading.environment.stored = (name) => (!names || names.has(name) ? refer(name) : undefined);
  system.changed("what is not in the store is not looked for in the environment", "secrets");
}

/** What LiteLLM writes to the store. */
function readWriting(settings: SourceNode | undefined): void {
  const why = "weir keeps keys in its own store";
  for (const name of [
    "store_virtual_keys",
    "prefix_for_stored_virtual_keys",
    "description",
    "tags",
    "kms_key_id",
  ])
    settings?.member(name)?.dropped(why);
  settings?.member("access_mode")?.ignored("weir only reads");
}

function readAws({ reading: { draft }, settings, system, variable }: Found): Refer {
  const region = settings?.member("aws_region_name");
  const profile = settings?.member("aws_profile_name");
  const aws = {
    ...optional("region", region?.text ?? variable("AWS_REGION_NAME")),
    ...optional("profile", profile?.text),
  };
  if (Object.keys(aws).length > 0) draft.set(["secrets", "aws"], aws, system);
  region?.taken("secrets");
  profile?.taken("secrets");
  const primary = settings?.member("primary_secret_name");
  primary?.taken("providers");
  return (name) =>
    primary?.text === undefined ? `\${aws-sm:${name}}` : `\${aws-sm:${primary.text}#${name}}`;
}

function readVault({ reading: { draft, environment }, system, variable }: Found): Refer {
  const roleId = variable("HCP_VAULT_APPROLE_ROLE_ID");
  const secretId = environment.variable("HCP_VAULT_APPROLE_SECRET_ID");
  const auth =
    roleId === undefined
      ? { token: environment.variable("HCP_VAULT_TOKEN") }
      : { approle: { roleId, secretId, ...optional("mount", variable("HCP_VAULT_APPROLE_MOUNT_PATH")) } };
  const vault = {
    address: variable("HCP_VAULT_ADDR") ?? environment.variable("HCP_VAULT_ADDR", "url"),
    auth,
    ...optional("namespace", variable("HCP_VAULT_NAMESPACE")),
  };
  draft.set(["secrets", "vault"], vault, system);
  const mount = variable("HCP_VAULT_MOUNT_NAME") ?? "secret";
  const prefix = variable("HCP_VAULT_PATH_PREFIX");
  const folder = `${mount}/data/${prefix === undefined ? "" : `${prefix}/`}`;
  // LiteLLM reads the member `key` of a secret of its own for each variable.
  return (name) => `\${vault:${folder}${name}#key}`;
}

function readGoogle({ variable }: Found): Refer | undefined {
  const project = variable("GOOGLE_SECRET_MANAGER_PROJECT_ID");
  return project === undefined
    ? undefined
    : (name) => `\${gcp-sm:projects/${project}/secrets/${name}/versions/latest}`;
}

function readAzure({ variable }: Found): Refer | undefined {
  const address = variable("AZURE_KEY_VAULT_URI")?.replace(/\/+$/, "");
  return address === undefined ? undefined : (name) => `\${azure-kv:${address}/secrets/${name}}`;
}

function optional<Name extends string>(name: Name, value: string | undefined): Partial<Record<Name, string>> {
  return value === undefined ? {} : ({ [name]: value } as Record<Name, string>);
}
