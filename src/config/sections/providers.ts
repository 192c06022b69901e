/** Options of one provider and of its deployments. */
import { baseUrlFault } from "../address.ts";
import { type Fault, faultAt, type Path } from "../error.ts";
import { patternFault, PROVIDER_NAME } from "../model-names.ts";
import { section } from "../section.ts";
import { settleProviders } from "../tls.ts";
import { doesOption, embedsOption, liveModelsOption, speaksOption } from "./spoken.ts";
import { type Static, Type } from "@sinclair/typebox";
import type { Secret } from "../../core/secret.ts";
import { CLOSED, headerFault, oneOf, secret } from "./kinds.ts";
import { modelTraitsSchema, traitsSchema } from "./traits.ts";

/** Names of a provider's deployments. */
export const DEPLOYMENT_NAME = /^[a-z0-9][a-z0-9-]{0,39}$/;

/** The timeouts that a provider or a deployment can override. */
export const upstreamTimeouts = Type.Object(
  {
    connectMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400_000 })),
    firstByteMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400_000 })),
    streamFirstByteMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400_000 })),
    gapMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400_000 })),
    totalMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400_000 })),
  },
  { ...CLOSED, description: "Timeouts for this provider. Missing values default to `timeouts`." },
);

/** PEM files; relative paths are relative to the config file. */
const upstreamTls = Type.Object(
  {
    ca: Type.Optional(
      Type.String({
        description:
          "PEM file of the certificate authorities that weir trusts for this provider, instead of the public ones.",
        "x-path": true,
      }),
    ),
    cert: Type.Optional(
      Type.String({
        description: "PEM file of a client certificate, followed by its intermediate certificates.",
        "x-path": true,
      }),
    ),
    key: Type.Optional(
      Type.String({
        description: "PEM file of the client certificate's private key, not encrypted.",
        "x-path": true,
      }),
    ),
  },
  { ...CLOSED, description: "Certificates for the connections to the provider." },
);

export const weight = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: 1000,
    description: "Share of the calls among targets of the same priority. Default 1.",
  }),
);

export const priority = Type.Optional(
  Type.Integer({
    minimum: 0,
    maximum: 100,
    description:
      "Targets with a lower number are used first, those with a higher number after they failed. Default 0.",
  }),
);

const concurrency = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    description:
      "Maximum number of calls in flight per deployment and process. Further calls go to another deployment, or are answered with 503. Default: no limit.",
  }),
);

const variables = Type.Optional(
  Type.Record(Type.String(), Type.String(), {
    description:
      "Values that addresses and paths of the provider contain, such as a region. They override the environment variables that the plugin reads.",
  }),
);

const secrets = Type.Optional(
  Type.Record(Type.String(), Type.Unsafe<Secret>(Type.String({ writeOnly: true })), {
    description:
      "Credentials of a provider that needs several, by the names of their environment variables, which they override.",
  }),
);

const deploymentOptions = Type.Object(
  {
    name: Type.String({
      pattern: DEPLOYMENT_NAME.source,
      "x-expects": "lower-case letters, digits and dashes",
      description: "Name of the deployment; the log and the headers show `provider/name`.",
    }),
    apiKey: Type.Optional(secret("Credential of the deployment, instead of the provider's.")),
    baseUrl: Type.Optional(
      Type.String({ description: "Base URL of the deployment, instead of the provider's." }),
    ),
    variables,
    secrets,
    models: Type.Optional(
      Type.Array(Type.String(), {
        minItems: 1,
        "x-expects": "a list of at least one model",
        description:
          "Globs over the provider's names of the models that the deployment serves. Default: all models of the provider.",
      }),
    ),
    weight,
    priority,
    concurrency,
    timeouts: Type.Optional(upstreamTimeouts),
  },
  { ...CLOSED, description: "A deployment: one base URL and credential of a provider." },
);

export const providerOptions = Type.Object(
  {
    enabled: Type.Optional(
      Type.Boolean({
        default: true,
        description: "`false` disables the provider, even if a credential or a base URL is set.",
      }),
    ),
    optional: Type.Optional(
      Type.Boolean({
        description:
          "Whether weir starts without the provider while a secret of it cannot be read. Default: no.",
      }),
    ),
    apiKey: Type.Optional(
      secret("Credential. The provider's own environment variable, usually `<NAME>_API_KEY`, overrides it."),
    ),
    baseUrl: Type.Optional(
      Type.String({
        description:
          "Base URL of the provider, as the vendor's SDK takes it. `<NAME>_BASE_URL` overrides it.",
      }),
    ),
    variables,
    secrets,
    models: Type.Optional(
      Type.Array(Type.String(), {
        description: "Model names and patterns that the provider serves, instead of the plugin's own.",
      }),
    ),
    speaks: speaksOption,
    embeds: embedsOption,
    does: doesOption,
    prefer: Type.Optional(
      Type.String({
        description:
          "Format of translated calls, one of those that the provider speaks; the client's own format comes first always. Default: `responses` for `openai` at the vendor's own base URL, otherwise the first format of `speaks`. If a host answers 404 or 405 for the path, weir uses the next format.",
      }),
    ),
    liveModels: liveModelsOption,
    headers: Type.Optional(
      Type.Record(Type.String(), Type.Unsafe<Secret>(Type.String({ writeOnly: true })), {
        description:
          "Request headers that weir adds to the plugin's own. With `Authorization` or `x-api-key` no API key is needed.",
      }),
    ),
    maxTokensField: Type.Optional(
      oneOf(["max_tokens", "max_completion_tokens"], {
        description:
          "Name of the output limit in chat-completions requests. Default: `max_tokens` at a base URL other than the vendor's, except for OpenAI models that refuse it.",
      }),
    ),
    traits: Type.Optional(traitsSchema),
    modelTraits: Type.Optional(modelTraitsSchema),
    concurrency,
    timeouts: Type.Optional(upstreamTimeouts),
    tls: Type.Optional(upstreamTls),
    deployments: Type.Optional(
      Type.Array(deploymentOptions, {
        minItems: 1,
        "x-expects": "a list of at least one deployment",
        description: "Deployments of the provider, instead of the single `baseUrl` and `apiKey` above.",
      }),
    ),
  },
  { ...CLOSED, description: "Settings of one provider." },
);

/** Settings of one provider as the file contains them. */
export type ProviderOptions = Static<typeof providerOptions>;

export const providers = section(
  "providers",
  Type.Record(Type.String(), providerOptions, {
    default: {},
    examples: [
      {
        openai: { apiKey: "${OPENAI_API_KEY}" },
        ollama: { baseUrl: "http://127.0.0.1:11434/v1", timeouts: { firstByteMs: 900_000 } },
      },
    ],
    propertyNames: { pattern: PROVIDER_NAME.source },
    description: "Settings of providers, by provider name.",
  }),
  {
    faults: (written) =>
      Object.entries(written as Record<string, WrittenProvider>).flatMap(([name, provider]) =>
        providerFaults(name, provider),
      ),
    settle: (value, { folder, locate }) => settleProviders(value, folder, locate),
  },
);

interface WrittenDeployment {
  apiKey?: string;
  baseUrl?: string;
  variables?: Record<string, string>;
  secrets?: Record<string, string>;
}

interface WrittenProvider extends WrittenDeployment {
  deployments?: (WrittenDeployment & { name: string })[];
  models?: string[];
  headers?: Record<string, string>;
}

function providerFaults(name: string, provider: WrittenProvider): Fault[] {
  const base = ["providers", name];
  if (!PROVIDER_NAME.test(name)) {
    return faultAt(base, "a provider's name must consist of lower-case letters, digits and dashes");
  }
  return [
    ...deploymentFaults(base, provider),
    ...(provider.deployments ?? []).flatMap((deployment, index, all) => [
      ...deploymentFaults([...base, "deployments", index], deployment),
      ...faultAt(
        [...base, "deployments", index, "name"],
        all.findIndex(({ name }) => name === deployment.name) < index
          ? `the deployment ${deployment.name} is defined twice`
          : undefined,
      ),
    ]),
    ...(provider.models ?? []).flatMap((pattern, index) =>
      faultAt([...base, "models", index], clauseOf(`models[${index}]`, patternFault(pattern))),
    ),
    ...Object.entries(provider.headers ?? {}).flatMap(([header, value]) =>
      faultAt([...base, "headers", header], headerFault(header, value)),
    ),
  ];
}

function deploymentFaults(
  base: Path,
  { apiKey, baseUrl, variables = {}, secrets = {} }: WrittenDeployment,
): Fault[] {
  return [
    ...Object.entries(variables).flatMap(([name, value]) =>
      faultAt([...base, "variables", name], value.trim() === "" ? `${name} is empty` : undefined),
    ),
    ...Object.entries(secrets).flatMap(([name, value]) =>
      faultAt([...base, "secrets", name], value.trim() === "" ? `${name} is empty` : undefined),
    ),
    ...faultAt([...base, "apiKey"], clauseOf("apiKey", secretFault(apiKey))),
    ...faultAt(
      [...base, "baseUrl"],
      clauseOf("baseUrl", baseUrl === undefined ? undefined : baseUrlFault(baseUrl)),
    ),
  ];
}

function clauseOf(name: string, fault: string | undefined): string | undefined {
  return fault === undefined ? undefined : `${name} ${fault}`;
}

/** The fault of a credential; undefined when there is none. Never contains the credential. */
export function secretFault(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (text.trim() === "") return "is empty; remove it to use no credential";
  if (!/^[\x21-\x7e]+$/.test(text))
    return "must consist of visible ASCII characters, because it is sent in a header";
  return undefined;
}
