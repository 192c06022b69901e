/** `litellm_params` of one entry of `model_list` as a connection. */
import { type SourceRequest, type SourceConnection, type ConnectionSettings, shortName } from "../draft.ts";
import { hostName, keySettings, keyVariable, ownRequest, type HostMatch, placeOf } from "../hosts.ts";
import type { Reading } from "../reader.ts";
import { seconds } from "../settings.ts";
import type { SourceNode } from "../source.ts";
import { askedBy, LOCAL_OLLAMA, OTHER_KEYS } from "./asks.ts";
import { cloudPlace, DEFAULT_VERSION, type Member, type Placed } from "./clouds.ts";
import { STREAM_TIMEOUT } from "./settings.ts";
import { bedrockRegion, COMPATIBLE, KEY_VARIABLES, type NamedModel, PREFIXES } from "./vendors.ts";

/** A connection, and the request that LiteLLM sends over it. */
export interface Connected {
  connection: SourceConnection;
  /** Absent where it depends on more than the address. */
  asked?: SourceRequest;
}

/** @returns undefined if weir has no provider for it; then `model` says so in the report */
export function connectionOf(
  reading: Reading,
  named: NamedModel,
  member: Member,
  hint: string,
): Connected | undefined {
  const { prefix, model } = named;
  const address = member("api_base") ?? member("base_url");
  const found = placeFor(reading, named, member, address);
  if (found === undefined) return undefined;
  const { place, asked } = found;
  const isNameless = place.isOwn && reading.environment.isReference(address?.text ?? "");
  const name = isNameless ? shortName(hint, "host").replace(/^(?=\d)/, "host-") : place.provider;
  sayAddress(reading, address, name, place);
  const special = {
    ...(name === "bedrock" && bedrockSettings(reading, model, member)),
    ...(name.startsWith("vertex") && vertexSettings(reading, member)),
    ...(name.startsWith("azure") && azureSettings(reading, name, member)),
  };
  const { secrets, ...key } = credentials(reading, name, prefix, member);
  const settings: ConnectionSettings = {
    ...place.settings,
    ...key,
    ...special,
    ...(secrets && { secrets: { ...secrets, ...special.secrets } }),
    variables: { ...place.settings.variables, ...special.variables },
    timeouts: timeoutsOf(member),
    concurrency: concurrencyOf(member),
    headers: headersOf(reading, member),
  };
  member("custom_llm_provider")?.taken(`providers.${name}`);
  return { connection: { provider: name, hint: hintOf(settings, hint), settings }, ...(asked && { asked }) };
}

function placeFor(
  { vendors, environment }: Reading,
  { prefix, model, isResponses }: NamedModel,
  member: Member,
  address: SourceNode | undefined,
): Placed | undefined {
  const base = address?.text === undefined ? undefined : environment.text(address.text, "url");
  const special = cloudPlace(environment, { prefix, model }, member, base);
  if (special) return special;
  const isCompatible = COMPATIBLE.has(prefix);
  const provider = PREFIXES[prefix];
  if (provider === undefined && (!isCompatible || base === undefined)) return undefined;
  const asked = askedBy(isResponses ? "responses" : prefix, base ?? usualBase(prefix, isResponses));
  if (asked && SPOKEN.has(asked.format) && (base !== undefined || OTHER_KEYS.has(prefix))) {
    const url = asked.url.replace(/(\/chat\/completions){2}$/, "$1");
    return { asked, place: placeOf({ ...asked, url }, vendors, isCompatible ? undefined : provider) };
  }
  const own = prefix.startsWith("ollama") ? ollamaBase(base) : undefined;
  const settings = own === undefined ? {} : { baseUrl: own };
  // Without an address of its own in LiteLLM, the vendor's holds for both.
  const request = asked ?? (base === undefined ? ownRequest(vendors.get(provider!)) : undefined);
  return { place: { provider: provider!, isOwn: false, settings }, ...(request && { asked: request }) };
}

/** Formats that weir speaks with hosts, by which it finds their provider. */
const SPOKEN = new Set(["chat-completions", "messages", "responses", "gemini"]);

/** The address of OpenAI itself, for its other format. */
function usualBase(prefix: string, isResponses: boolean | undefined): string | undefined {
  return isResponses && prefix === "openai" ? "https://api.openai.com/v1" : undefined;
}

/** weir asks Ollama in the format of OpenAI, at `/v1`. */
function ollamaBase(base = `\${OLLAMA_API_BASE:-${LOCAL_OLLAMA}}`): string {
  return `${base
    .replace(/[?#].*$/s, "")
    .replace(/\/+$/, "")
    .replace(/\/(v1|api)$/, "")}/v1`;
}

/** The report's line about the address. Whether it is the one that LiteLLM asks is checked with the written file. */
function sayAddress(
  { environment }: Reading,
  address: SourceNode | undefined,
  provider: string,
  { settings }: HostMatch,
): void {
  const to = settings.baseUrl === undefined ? `providers.${provider}` : `providers.${provider}.baseUrl`;
  const isPlain = settings.baseUrl === environment.text(address?.text ?? "", "url");
  if (address && environment.isReference(address.text ?? "") && !isPlain)
    address.changed(`the variable must hold the address without a path and without a slash at its end`, to);
  else address?.taken(to);
}

function credentials(
  reading: Reading,
  provider: string,
  prefix: string,
  member: Member,
): Pick<ConnectionSettings, "apiKey" | "secrets"> {
  const key = member("api_key");
  const isKeyless = member("tenant_id") !== undefined || member("azure_ad_token") !== undefined;
  const vendor = reading.vendors.get(provider);
  const needsKey = vendor !== undefined && !vendor.authorize && !vendor.liveModels;
  const usual = KEY_VARIABLES[prefix] ?? (needsKey ? keyVariable(vendor) : undefined);
  const variable = key === undefined && !isKeyless ? usual : undefined;
  const value = variable ? reading.environment.variable(variable) : reading.apiKey(key, provider);
  return vendor === undefined ? { apiKey: value } : keySettings(vendor, value);
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
  const firstByteMs = timeout && seconds(timeout);
  const streamFirstByteMs = stream && seconds(stream);
  if (firstByteMs !== undefined)
    timeout?.changed(
      "weir limits the time to the first byte of the answer; a stream may take longer",
      "timeouts.firstByteMs",
    );
  if (streamFirstByteMs !== undefined) stream?.changed(STREAM_TIMEOUT, "timeouts.streamFirstByteMs");
  return {
    ...(firstByteMs !== undefined && { firstByteMs }),
    ...(streamFirstByteMs !== undefined && { streamFirstByteMs }),
  };
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
