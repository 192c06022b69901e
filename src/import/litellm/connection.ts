/** `litellm_params` of one entry of `model_list` as a connection. */
import type { Connection, ConnectionSettings } from "../draft.ts";
import { shortName } from "../draft.ts";
import { hostName, isVendorAddress, vendorAt } from "../hosts.ts";
import type { Reading } from "../reader.ts";
import { seconds } from "../settings.ts";
import type { SourceNode } from "../source.ts";
import { bedrockRegion, COMPATIBLE, KEY_VARIABLES, type NamedModel, PREFIXES } from "./vendors.ts";

/** Reads members of `litellm_params`, and those of the credential that it names. */
export type Member = (name: string) => SourceNode | undefined;

/** @returns undefined if weir has no provider for it; then `model` says so in the report */
export function connectionOf(
  reading: Reading,
  { prefix, model }: NamedModel,
  member: Member,
  hint: string,
): Connection | undefined {
  const address = member("api_base") ?? member("base_url");
  const provider = providerOf(reading, prefix, model, member, address);
  if (provider === undefined) return undefined;
  const isOwn = provider === OWN;
  const name = isOwn ? hostNameOf(reading, address!, hint) : provider;
  const to = `providers.${name}`;
  const settings: ConnectionSettings = {
    ...(isOwn && { speaks: "chat-completions" }),
    baseUrl: addressOf(reading, name, address, isOwn),
    ...credentials(reading, name, prefix, member),
    ...(name === "bedrock" && bedrockSettings(reading, model, member)),
    ...(name.startsWith("vertex") && vertexSettings(reading, member)),
    ...(name.startsWith("azure") && azureSettings(reading, name, member)),
    ...regionOf(reading, address),
    timeouts: timeoutsOf(member),
    concurrency: concurrencyOf(member),
    headers: headersOf(reading, member),
  };
  member("custom_llm_provider")?.taken(to);
  return { provider: name, hint: hintOf(settings, hint), settings };
}

const OWN = "";

function providerOf(
  { vendors, environment }: Reading,
  prefix: string,
  model: string,
  member: Member,
  address: SourceNode | undefined,
): string | undefined {
  const text = address?.text;
  const literal = text !== undefined && !environment.isReference(text) ? text : undefined;
  if (prefix === "azure") return isDated(member) ? "azure-dated" : "azure";
  if (prefix === "azure_ai" && model.startsWith("claude")) return "foundry";
  if (
    prefix === "vertex_ai" &&
    /^(meta|openai|deepseek-ai|qwen|mistralai|zai-org|moonshotai|minimaxai)\//.test(model)
  )
    return "vertex-openai";
  if (COMPATIBLE.has(prefix)) {
    const known = literal && vendorAt(literal, vendors)?.name;
    if (known) return known;
    return address ? OWN : PREFIXES[prefix];
  }
  return PREFIXES[prefix] ?? (address ? OWN : undefined);
}

/** A dated version of Azure's API, as opposed to `/openai/v1`. Without one LiteLLM takes it from the environment. */
function isDated(member: Member): boolean {
  const version = member("api_version")?.text;
  return version === undefined || !["v1", "latest", "preview"].includes(version);
}

function hostNameOf({ environment }: Reading, address: SourceNode, hint: string): string {
  const text = address.text ?? "";
  return environment.isReference(text) ? shortName(hint, "host").replace(/^(?=\d)/, "host-") : hostName(text);
}

/** The region of a vendor that has an address for each. */
function regionOf({ vendors }: Reading, address: SourceNode | undefined): ConnectionSettings {
  const variables = vendorAt(address?.text ?? "", vendors)?.variables;
  return variables ? { variables } : {};
}

/** What LiteLLM adds to an address and weir expects in it. */
const PATHS: Readonly<Record<string, string>> = {
  ollama: "/v1",
  azure: "/openai/v1",
  "azure-dated": "/openai",
};

function addressOf(
  { environment, vendors }: Reading,
  provider: string,
  address: SourceNode | undefined,
  isOwn: boolean,
): string | undefined {
  const text = address?.text;
  const path = isOwn ? "" : (PATHS[provider] ?? "");
  if (address === undefined || text === undefined)
    return provider.startsWith("azure")
      ? `${environment.variable("AZURE_API_BASE", "url")}${path}`
      : undefined;
  const to = `providers.${provider}.baseUrl`;
  if (environment.isReference(text)) {
    const reference = environment.text(text, "url");
    if (path === "") address.taken(to);
    else
      address.changed(`the variable must hold the address without a path and without a slash at its end`, to);
    return `${reference}${path}`;
  }
  const vendor = vendors.get(provider);
  const isVendors = vendor !== undefined && isVendorAddress(text, vendor, vendorAt(text, vendors)?.variables);
  address.taken(isVendors ? `providers.${provider}` : to);
  return isVendors ? undefined : withPath(text, path, provider);
}

function withPath(text: string, path: string, provider: string): string {
  const plain = text
    .replace(/[?#].*$/s, "")
    .replace(/\/+$/, "")
    .replace(/\/chat\/completions$/, "");
  if (provider === "anthropic") return plain.replace(/(\/v1)?(\/messages)?$/, "");
  if (path === "") return plain;
  const bare =
    provider === "ollama" ? plain.replace(/(\/v1|\/api)$/, "") : plain.replace(/\/openai(\/.*)?$/, "");
  return `${bare}${path}`;
}

function credentials(
  reading: Reading,
  provider: string,
  prefix: string,
  member: Member,
): Pick<ConnectionSettings, "apiKey"> {
  const key = member("api_key");
  const isKeyless = member("tenant_id") !== undefined || member("azure_ad_token") !== undefined;
  const vendor = reading.vendors.get(provider);
  const usual = KEY_VARIABLES[prefix] ?? (vendor?.authorize ? undefined : vendor?.apiKey);
  const variable = key === undefined && !isKeyless ? usual : undefined;
  return { apiKey: variable ? reading.environment.variable(variable) : reading.apiKey(key, provider) };
}

/** Members that are one credential of several, or a variable, by the names in weir. */
type Named = Readonly<Record<string, string>>;

const AWS_SECRETS: Named = {
  aws_access_key_id: "AWS_ACCESS_KEY_ID",
  aws_secret_access_key: "AWS_SECRET_ACCESS_KEY",
  aws_session_token: "AWS_SESSION_TOKEN",
};
const AWS_VARIABLES: Named = { aws_region_name: "region", aws_profile_name: "profile" };
const AZURE_SECRETS: Named = {
  tenant_id: "AZURE_TENANT_ID",
  client_id: "AZURE_CLIENT_ID",
  client_secret: "AZURE_CLIENT_SECRET",
};
const VERTEX_VARIABLES: Named = {
  vertex_ai_project: "project",
  vertex_ai_location: "location",
  vertex_project: "project",
  vertex_location: "location",
};

function secretsOf(
  { environment }: Reading,
  provider: string,
  member: Member,
  names: Named,
): Record<string, string> {
  return collect(member, names, (node, name) => {
    node.taken(`providers.${provider}.secrets.${name}`);
    return environment.secret(node, name);
  });
}

function variablesOf(
  { environment }: Reading,
  provider: string,
  member: Member,
  names: Named,
): Record<string, string> {
  return collect(member, names, (node, name) => {
    node.taken(`providers.${provider}.variables.${name}`);
    return environment.text(String(node.value));
  });
}

function collect(
  member: Member,
  names: Named,
  read: (node: SourceNode, name: string) => string,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(names).flatMap(([from, name]) => {
      const node = member(from);
      return node === undefined ? [] : [[name, read(node, name)]];
    }),
  );
}

function bedrockSettings(reading: Reading, model: string, member: Member): ConnectionSettings {
  const region = bedrockRegion(model);
  const variables = variablesOf(reading, "bedrock", member, AWS_VARIABLES);
  const endpoint = member("aws_bedrock_runtime_endpoint");
  endpoint?.taken("providers.bedrock.baseUrl");
  for (const name of ["aws_role_name", "aws_session_name", "aws_web_identity_token", "aws_sts_endpoint"])
    member(name)?.dropped(
      "weir assumes a role only by a profile of AWS",
      "write a profile with role_arn into ~/.aws/config, and set variables.profile to its name",
    );
  return {
    ...(endpoint && { baseUrl: reading.environment.text(String(endpoint.value), "url") }),
    secrets: secretsOf(reading, "bedrock", member, AWS_SECRETS),
    variables: { ...(region !== undefined && { region }), ...variables },
  };
}

function vertexSettings(reading: Reading, member: Member): ConnectionSettings {
  const variables = variablesOf(reading, "vertex", member, VERTEX_VARIABLES);
  const file = member("vertex_credentials") ?? member("vertex_ai_credentials");
  const text = file?.text;
  const isInline = text === undefined || text.trimStart().startsWith("{");
  if (file && isInline)
    file.dropped(
      "weir reads the key of a service account from a file",
      "save it, and set variables.keyFile to its path",
    );
  else if (file && text !== undefined) {
    if (reading.environment.isReference(text))
      file.changed(
        "the variable must hold the path of the key file, not its content",
        "providers.vertex.variables.keyFile",
      );
    else file.taken("providers.vertex.variables.keyFile");
    variables["keyFile"] = reading.environment.text(text);
  }
  return { variables };
}

/** What LiteLLM asks for without `api_version`. */
const DEFAULT_VERSION = "${AZURE_API_VERSION:-2025-02-01-preview}";

function azureSettings(reading: Reading, provider: string, member: Member): ConnectionSettings {
  const version = member("api_version");
  const isVersioned = provider === "azure-dated";
  if (isVersioned) version?.taken("providers.azure-dated.variables.apiVersion");
  else version?.changed("weir asks Azure at /openai/v1, which has no version", "providers.azure");
  member("azure_ad_token")?.dropped(
    "weir fetches tokens of Microsoft Entra itself",
    "set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET",
  );
  const { environment } = reading;
  const written = version?.text === undefined ? DEFAULT_VERSION : environment.text(version.text);
  const apiVersion = isVersioned ? written : undefined;
  return {
    secrets: secretsOf(reading, provider, member, AZURE_SECRETS),
    variables: { ...(apiVersion !== undefined && { apiVersion }) },
  };
}

function timeoutsOf(member: Member): Record<string, number> {
  const timeout = member("timeout");
  const stream = member("stream_timeout");
  const limit = timeout ?? stream;
  const firstByteMs = limit && seconds(limit);
  if (firstByteMs === undefined) return {};
  timeout?.changed(
    "weir limits the time to the first byte of the answer; a stream may take longer",
    "timeouts.firstByteMs",
  );
  if (timeout === undefined)
    stream?.changed("weir has one limit for streams and other answers", "timeouts.firstByteMs");
  else stream?.dropped("weir has one limit for streams and other answers", "lower timeouts.firstByteMs");
  return { firstByteMs };
}

function concurrencyOf(member: Member): number | undefined {
  const most = member("max_parallel_requests");
  if (most?.number === undefined) return undefined;
  most.changed("the limit holds for each process of weir; with several, divide it", "concurrency");
  return Math.max(1, Math.round(most.number));
}

function headersOf({ environment }: Reading, member: Member): Record<string, string> {
  const organization = member("organization");
  organization?.taken("headers.OpenAI-Organization");
  const named = member("extra_headers")?.entries ?? [];
  const headers = named.flatMap((node) => {
    node.taken(`headers.${node.name}`);
    return [[node.name, environment.header(node)] as const];
  });
  return {
    ...(organization && { "OpenAI-Organization": environment.text(String(organization.value)) }),
    ...(Object.fromEntries(headers) as Record<string, string>),
  };
}

/** A short word that tells the connection from others of its provider. */
function hintOf({ baseUrl, variables, apiKey }: ConnectionSettings, fallback: string): string {
  const region = variables?.["region"] ?? variables?.["location"];
  if (region !== undefined && !region.includes("$")) return region;
  if (baseUrl !== undefined && !baseUrl.includes("$")) return hostName(baseUrl);
  const variable = /\$\{(\w+)\}/.exec(baseUrl ?? apiKey ?? "")?.[1];
  const telling = variable
    ?.toLowerCase()
    .replace(/(^|_)(api|key|base|url|endpoint|azure|openai)(?=_|$)/g, "");
  return shortName(telling ?? "", shortName(fallback, "main"));
}
