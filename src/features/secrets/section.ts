/** The section of the config: where stores of secrets are, and how weir signs in there. */
import { type Static, type TProperties, type TSchema, Type } from "@sinclair/typebox";
import { type Fault, faultAt } from "../../config/error.ts";
import { section } from "../../config/section.ts";
import { CLOSED, secret } from "../../config/sections/kinds.ts";
import { readDuration } from "./declarations.ts";

/** Kinds of references beside `file`, which every build has. */
export const STORE_KINDS = ["exec", "vault", "aws-sm", "aws-ssm", "gcp-sm", "azure-kv", "k8s"] as const;

const text = (description: string, examples?: readonly string[]) =>
  Type.Optional(Type.String({ description, ...(examples && { examples: [...examples] }) }));

const role = {
  role: Type.String({ description: "Role of weir in Vault." }),
  mount: text("Where Vault has the method. Default: its name."),
};

const one = <Name extends string, Schema extends TSchema>(name: Name, schema: Schema) =>
  Type.Object({ [name]: schema } as Record<Name, Schema>, CLOSED);

const group = <Members extends TProperties>(members: Members) => Type.Object(members, CLOSED);

const vaultAuth = Type.Union(
  [
    one("token", secret("Token.")),
    one(
      "approle",
      group({
        roleId: Type.String({ description: "Role id." }),
        secretId: Type.Optional(secret("Secret id.")),
        mount: role.mount,
      }),
    ),
    one(
      "kubernetes",
      group({ ...role, tokenFile: text("Token of the service account. Default: where Kubernetes puts it.") }),
    ),
    one("jwt", group({ ...role, tokenFile: Type.String({ description: "File with the token." }) })),
    one("aws", group({ ...role, header: text("Value of `X-Vault-AWS-IAM-Server-ID`, if Vault wants one.") })),
  ],
  {
    examples: [{ kubernetes: { role: "weir" } }],
    "x-expects": "a group with one of token, approle, kubernetes, jwt and aws",
    description:
      "How weir signs in: `{token}`, or a group `approle` (`roleId`, `secretId`), `kubernetes` (`role`, `tokenFile`), `jwt` (the same) or `aws` (`role`, `header`), which may have `mount`. Default: `VAULT_TOKEN`.",
  },
);

const vault = Type.Object(
  {
    address: text("Address. Default: `VAULT_ADDR`.", ["https://vault.corp.example:8200"]),
    auth: Type.Optional(vaultAuth),
    namespace: text("Namespace. Default: `VAULT_NAMESPACE`.", ["eng"]),
    ca: Type.Optional(
      Type.String({
        "x-path": true,
        description:
          "PEM file with authorities that may have signed its certificate. Default: `VAULT_CACERT`.",
      }),
    ),
    refresh: text("As `secrets.refresh`, for secrets without a lease."),
  },
  { ...CLOSED, description: "HashiCorp Vault or OpenBao." },
);

const aws = Type.Object(
  {
    region: text("Region, unless an ARN has one. Default: `AWS_REGION`, or that of the profile.", [
      "eu-central-1",
    ]),
    profile: text("Profile in `~/.aws`."),
    instanceMetadata: Type.Optional(
      Type.Boolean({ description: "Whether weir uses the role of the EC2 instance. Default: no." }),
    ),
    endpoint: text("Address in place of that of AWS. Default: `AWS_ENDPOINT_URL`."),
  },
  { ...CLOSED, description: "Secrets Manager and Parameter Store; credentials as for Bedrock." },
);

const gcp = Type.Object(
  {
    keyFile: text("Key file. Default: the application default credentials, then those of the machine.", [
      "/etc/weir/google.json",
    ]),
    endpoint: text("Address in place of that of Google."),
  },
  { ...CLOSED, description: "Secret Manager of Google Cloud." },
);

const azure = Type.Object(
  {
    authority: text("Address of Entra. Default: `AZURE_AUTHORITY_HOST`, or the public cloud.", [
      "https://login.microsoftonline.us",
    ]),
  },
  {
    ...CLOSED,
    description:
      "Key Vault. weir signs in with `AZURE_TENANT_ID`, `AZURE_CLIENT_ID` and `AZURE_CLIENT_SECRET` or `AZURE_FEDERATED_TOKEN_FILE`, else as the machine.",
  },
);

const kubernetes = Type.Object(
  {
    server: text("Address of the API. Default: that of the cluster in which weir runs.", [
      "https://10.0.0.1:6443",
    ]),
    tokenFile: text("Token. Default: that of the service account."),
    ca: Type.Optional(
      Type.String({
        "x-path": true,
        description: "PEM file with the authorities of the cluster. Default: that of the service account.",
      }),
    ),
  },
  { ...CLOSED, description: "Secrets of Kubernetes." },
);

const options = Type.Object(
  {
    refresh: Type.Optional(
      Type.String({
        examples: ["5m"],
        description: "How often weir reads secrets without a lease again: `30s`, `5m`, `12h`. Default: `5m`.",
      }),
    ),
    vault: Type.Optional(vault),
    aws: Type.Optional(aws),
    gcp: Type.Optional(gcp),
    azure: Type.Optional(azure),
    kubernetes: Type.Optional(kubernetes),
  },
  {
    ...CLOSED,
    default: {},
    examples: [
      { vault: { address: "https://vault.corp.example:8200", auth: { kubernetes: { role: "weir" } } } },
    ],
    description:
      "Stores of secrets to which the config refers, as in `${vault:secret/data/llm#openai}`. Its own secrets come from variables and files.",
  },
);

export type SecretsOptions = Static<typeof options>;
export type VaultOptions = Static<typeof vault>;
export type AwsOptions = Static<typeof aws>;
export type AzureOptions = Static<typeof azure>;
export type GcpOptions = Static<typeof gcp>;
export type KubernetesOptions = Static<typeof kubernetes>;

export const secretsSection = section("secrets", options, {
  after: ["providers"],
  faults: (written) => faultsIn(written as SecretsOptions),
});

function faultsIn(written: SecretsOptions): Fault[] {
  const times = [
    [["secrets", "refresh"], written.refresh],
    [["secrets", "vault", "refresh"], written.vault?.refresh],
  ] as const;
  return times.flatMap(([path, refresh]) =>
    faultAt(
      path,
      refresh === undefined || readDuration(refresh) !== undefined
        ? undefined
        : "refresh must be a time of at least a second, such as 30s, 5m or 12h",
    ),
  );
}
