/** `providers`: each has keys, which are weir's deployments. */
import { type SourceRequest, type SourceConnection, type ConnectionSettings, shortName } from "../draft.ts";
import { keySettings, keyVariable, ownRequest, type HostMatch, placeOf } from "../hosts.ts";
import type { Reading } from "../reader.ts";
import { count, seconds } from "../settings.ts";
import type { SourceNode } from "../source.ts";
import { secretOf, textOf, valueNode, variableText } from "./values.ts";

/** Providers of Bifrost whose name in weir is another one. */
const NAMES: Readonly<Record<string, string>> = { sgl: "sglang", bedrock_mantle: "bedrock-mantle" };

/** The formats of a provider that the operator has added, by its `base_provider_type`. */
const FORMATS: Readonly<Record<string, string>> = {
  openai: "chat-completions",
  anthropic: "messages",
  gemini: "gemini",
};

/** Providers whose address in Bifrost is without the `/v1` that weir expects in it. */
const WITH_VERSION =
  /^(openai|groq|mistral|cerebras|openrouter|xai|ollama|vllm|sglang|fireworks|together|huggingface|nvidia)$/;

/** The path that Bifrost adds to `base_url`. An address that ends in a version gets no second one. */
function askedAt(base: string, provider: string, format: string | undefined): SourceRequest {
  const url = base.replace(/\/+$/, "");
  if (format === "gemini" || (format === undefined && provider === "gemini"))
    return { format: "gemini", url: `${url}/models/{model}:generateContent` };
  if (format === "messages" || (format === undefined && provider === "anthropic"))
    return { format: "messages", url: `${url.replace(/\/v1$/, "")}/v1/messages` };
  const needsVersion = (format !== undefined || WITH_VERSION.test(provider)) && !/\/v\d+[a-z]*$/.test(url);
  return { format: "chat-completions", url: `${url}${needsVersion ? "/v1" : ""}/chat/completions` };
}

export function readProviders(reading: Reading, section: SourceNode | undefined, version: number): void {
  for (const provider of section?.entries ?? []) readProvider(reading, provider, version);
}

function readProvider(reading: Reading, node: SourceNode, version: number): void {
  const name = NAMES[node.name] ?? node.name;
  const custom = node.member("custom_provider_config");
  const base = custom?.member("base_provider_type");
  const format = base?.text === undefined ? undefined : FORMATS[base.text];
  const isOwn = format !== undefined;
  if (!reading.vendors.has(name) && !isOwn) {
    node.dropped(
      `weir has no provider named ${node.name}`,
      "if the host speaks a format that weir knows, add it to providers with speaks and baseUrl",
    );
    return;
  }
  const place = placeIn(reading, node, name, format);
  const provider = place?.isOwn
    ? shortName(name, "host").replace(/^(?=\d)/, "host-")
    : (place?.provider ?? name);
  base?.taken(`providers.${provider}${place?.isOwn ? ".speaks" : ""}`);
  custom?.dropped("weir sends requests to the paths of the format", "providers.NAME.speaks takes paths");
  const shared = { ...networkOf(reading, node, provider), ...place?.settings };
  const source = { provider, group: node.name, shared };
  const keys = node.member("keys")?.items ?? [];
  const live = keys.filter((key) => key.member("weight")?.number !== 0);
  for (const key of keys) if (!live.includes(key)) key.dropped("its weight is 0, so it gets no calls");
  if (live.length === 1)
    for (const name of ["name", "weight"]) live[0]!.member(name)?.ignored("the only key gets all calls");
  const connections = live.flatMap((key) => readKey(reading, key, source, version) ?? []);
  if (keys.length === 0) {
    connections.push(reading.connect({ provider, hint: "main", group: node.name, settings: shared }, node));
    reading.draft.open.add(connections[0]!);
  }
  const isRenamed = provider !== node.name || (place?.isOwn && reading.vendors.has(provider));
  for (const connection of connections) {
    // Clients of Bifrost say `sgl/MODEL` where weir says `sglang/MODEL`.
    if (isRenamed) reading.draft.patterns.push({ connection, pattern: `${node.name}/*` });
    expectSample(reading, connection, node, place?.asked);
  }
  explainRest(node);
}

/** The address of a provider with `base_url`, or of one that the operator has added. */
function placeIn(
  { environment, vendors }: Reading,
  node: SourceNode,
  name: string,
  format: string | undefined,
): (HostMatch & { asked: SourceRequest }) | undefined {
  const url = valueNode(node.member("network_config")?.member("base_url"));
  if (url?.text === undefined) return undefined;
  const base = environment.text(variableText(url), "url");
  const vendor = vendors.get(name);
  if (format === undefined && vendor?.authorize) return undefined;
  const asked = askedAt(base, name, format);
  const place = placeOf(asked, vendors, format === undefined ? name : undefined);
  // A provider that the operator has added keeps its name, unless weir has the same one.
  const isKept = format === undefined || place.provider === name;
  const kept = isKept ? place : { ...placeOf(asked, new Map()), provider: name };
  url.taken(`providers.${kept.provider}${kept.settings.baseUrl === undefined ? "" : ".baseUrl"}`);
  return { ...kept, asked };
}

/** The name that a key, or a provider without one, has for a model that it serves. */
function expectSample(
  { draft, vendors }: Reading,
  connection: SourceConnection,
  node: SourceNode,
  asked = ownRequest(vendors.get(connection.provider)),
): void {
  if (asked === undefined) return;
  const [limit = "some-model"] = draft.limits.get(connection) ?? [];
  const model = limit.replaceAll("*", "x");
  const url = valueNode(node.member("network_config")?.member("base_url"));
  const keys = (node.member("keys")?.items ?? []).filter(
    (key) => (key.member("name")?.text ?? "key") === connection.hint,
  );
  const from = [url, ...keys.map((key) => valueNode(key.member("value")))].flatMap((one) => one?.where ?? []);
  draft.expected.push({ name: `${node.name}/${model}`, connection, model, asked, from });
}

/** Settings that the keys of a provider share. */
interface KeySource {
  provider: string;
  group: string;
  shared: ConnectionSettings;
}

function readKey(
  reading: Reading,
  key: SourceNode,
  { provider, group, shared }: KeySource,
  version: number,
): SourceConnection | undefined {
  const models = key.member("models");
  const weight = key.member("weight");
  const isNone = models?.items.length === 0 && version === 2;
  if (isNone || weight?.number === 0 || key.member("enabled")?.value === false) {
    key.dropped(isNone ? "the key serves no model" : "the key is off, or its weight is 0");
    return undefined;
  }
  const to = `providers.${provider}`;
  const vendor = reading.vendors.get(provider) ?? { name: provider };
  const settings: ConnectionSettings = {
    ...shared,
    ...keySettings(vendor, secretOf(reading, key.member("value"), `${to}.apiKey`, keyVariable(vendor))),
    ...specialOf(reading, key, provider),
  };
  const name = key.member("name");
  const connection = reading.connect({ provider, hint: name?.text ?? "key", group, settings }, key);
  name?.taken(`${to}.deployments`);
  key.member("id")?.ignored("weir names a deployment by its name");
  key.member("enabled")?.taken(to);
  key.member("use_for_batch_api")?.dropped("weir serves no batches");
  if (weight?.number !== undefined) {
    weight.taken(`${to}.deployments`);
    reading.draft.shares.set(connection, { weight: weight.number });
  }
  readModels(reading, key, connection, version);
  return connection;
}

/** `models` are the client's names, `aliases` the provider's name of each. */
function readModels(
  { draft }: Reading,
  key: SourceNode,
  connection: SourceConnection,
  version: number,
): void {
  const { provider } = connection;
  const groups = [key.member("aliases"), ...specialGroups(key).map((group) => group.member("deployments"))];
  const aliases = new Map<string, string>();
  for (const entry of groups.flatMap((group) => group?.entries ?? [])) {
    const id = entry.text ?? entry.member("model_id")?.text;
    if (id === undefined) continue;
    aliases.set(entry.name, id);
    (entry.text === undefined ? entry.member("model_id")! : entry).taken("aliases");
    entry.dropped("weir has these settings for a provider or a deployment, not for a model");
  }
  readServedName(key, aliases);
  const list = key.member("models");
  const served = (list?.items ?? []).map(({ text = "" }) => text);
  list?.taken(`providers.${provider}.deployments`);
  const isOpen = list === undefined || served.includes("*") || (served.length === 0 && version === 1);
  for (const [name, model] of aliases)
    if (name !== model) draft.serve(`${provider}/${name}`, { connection, model }, key);
  if (isOpen) draft.open.add(connection);
  else draft.limits.set(connection, [...new Set(served.map((model) => aliases.get(model) ?? model))]);
}

/** vLLM serves one model under its own name, whatever the key calls it. */
function readServedName(key: SourceNode, aliases: Map<string, string>): void {
  const served = key.member("vllm_key_config")?.member("model_name");
  if (served?.text === undefined) return;
  served.taken("aliases");
  for (const { text } of key.member("models")?.items ?? [])
    if (text !== undefined && text !== "*" && !aliases.has(text)) aliases.set(text, served.text);
}

/** Groups such as `azure_key_config`. */
function specialGroups(key: SourceNode): SourceNode[] {
  return key.members.filter(({ name }) => name.endsWith("_key_config"));
}

function specialOf(reading: Reading, key: SourceNode, provider: string): ConnectionSettings {
  const [group] = specialGroups(key);
  if (group === undefined) return {};
  const to = `providers.${provider}`;
  const text = (name: string, variable: string) => {
    const value = textOf(reading, group.member(name), `${to}.variables.${variable}`);
    return value === undefined ? {} : { [variable]: value };
  };
  const secret = (name: string, variable: string) => {
    const value = secretOf(reading, group.member(name), `${to}.secrets.${variable}`, variable);
    return value === undefined ? {} : { [variable]: value };
  };
  const special = SPECIAL[group.name]?.(reading, group, { text, secret, to }) ?? {};
  if (special.secrets && Object.keys(special.secrets).length === 0) delete special.secrets;
  return special;
}

interface Helpers {
  text(name: string, variable: string): Record<string, string>;
  secret(name: string, variable: string): Record<string, string>;
  to: string;
}

type Special = (reading: Reading, group: SourceNode, helpers: Helpers) => ConnectionSettings;

const aws: Special = (_reading, group, { text, secret }) => {
  for (const name of ["role_arn", "external_id", "session_name"])
    group
      .member(name)
      ?.dropped(
        "weir assumes a role only by a profile of AWS",
        "write a profile with role_arn into ~/.aws/config, and set variables.profile to its name",
      );
  group.member("arn")?.dropped("weir takes an ARN as the name of a model", "aliases");
  group.member("batch_s3_config")?.dropped("weir serves no batches");
  return {
    variables: text("region", "region"),
    secrets: {
      ...secret("access_key", "AWS_ACCESS_KEY_ID"),
      ...secret("secret_key", "AWS_SECRET_ACCESS_KEY"),
      ...secret("session_token", "AWS_SESSION_TOKEN"),
    },
  };
};

const address =
  (member: string, path: string): Special =>
  (reading, group, { to }) => {
    const url = textOf(reading, group.member(member), `${to}.baseUrl`, "url");
    return url === undefined ? {} : { baseUrl: `${url.replace(/\/+$/, "").replace(/\/v1$/, "")}${path}` };
  };

const SPECIAL: Readonly<Record<string, Special>> = {
  azure_key_config: (reading, group, { secret, to }) => {
    group.member("api_version")?.changed("weir asks Azure at /openai/v1, which has no version", to);
    group.member("scopes")?.dropped("weir asks for the scope that Azure documents");
    const endpoint = textOf(reading, group.member("endpoint"), `${to}.baseUrl`, "url");
    return {
      ...(endpoint !== undefined && { baseUrl: `${endpoint.replace(/\/+$/, "")}/openai/v1` }),
      secrets: {
        ...secret("tenant_id", "AZURE_TENANT_ID"),
        ...secret("client_id", "AZURE_CLIENT_ID"),
        ...secret("client_secret", "AZURE_CLIENT_SECRET"),
      },
    };
  },
  bedrock_key_config: aws,
  bedrock_mantle_key_config: aws,
  vertex_key_config: (_reading, group, { text }) => {
    const credentials = group.member("auth_credentials");
    if (credentials?.value === "") credentials.changed("it is not set");
    credentials?.dropped(
      "weir reads the key of a service account from a file",
      "save it, and set variables.keyFile to its path",
    );
    group.member("project_number")?.dropped("weir needs the id of the project only");
    group.member("force_single_region")?.dropped("weir always asks the location that is set");
    return { variables: { ...text("project_id", "project"), ...text("region", "location") } };
  },
  vllm_key_config: address("url", "/v1"),
  ollama_key_config: address("url", "/v1"),
  sgl_key_config: address("url", "/v1"),
};

/** `network_config` and `concurrency_and_buffer_size`. */
function networkOf(reading: Reading, node: SourceNode, provider: string): ConnectionSettings {
  const { environment, vendors } = reading;
  const network = node.member("network_config");
  const to = `providers.${provider}`;
  const first = network?.member("default_request_timeout_in_seconds");
  const gap = network?.member("stream_idle_timeout_in_seconds");
  first?.changed("weir limits the time to the first byte of the answer", `${to}.timeouts.firstByteMs`);
  gap?.taken(`${to}.timeouts.gapMs`);
  const timeouts = {
    ...(first && seconds(first) !== undefined && { firstByteMs: seconds(first)! }),
    ...(gap && seconds(gap) !== undefined && { gapMs: seconds(gap)! }),
  };
  const headers = (network?.member("extra_headers")?.entries ?? []).map((header) => {
    header.taken(`${to}.headers`);
    return [header.name, environment.header(header)] as const;
  });
  const size = node.member("concurrency_and_buffer_size");
  const most = size?.member("concurrency");
  most?.changed("the limit holds for each process of weir; with several, divide it", `${to}.concurrency`);
  size?.member("buffer_size")?.dropped("weir has no queue", "limits.calls limits the calls of a process");
  const url = network?.member("base_url");
  const isCloud = vendors.get(provider)?.authorize !== undefined;
  const baseUrl = isCloud ? textOf(reading, url, `${to}.baseUrl`, "url")?.replace(/\/+$/, "") : undefined;
  return {
    ...(baseUrl !== undefined && { baseUrl }),
    timeouts,
    headers: Object.fromEntries(headers) as Record<string, string>,
    ...(most && count(most) !== undefined && { concurrency: count(most)! }),
  };
}

const REST: Readonly<Record<string, readonly [why: string, instead?: string]>> = {
  retry_backoff_initial: ["weir waits up to 250 ms, or as long as the provider's retry-after says"],
  retry_backoff_max: ["weir waits up to 250 ms, or as long as the provider's retry-after says"],
  insecure_skip_verify: [
    "weir always verifies certificates",
    "tls.ca of the provider names further authorities",
  ],
  ca_cert_pem: ["weir reads authorities from a file", "save it, and set tls.ca of the provider"],
  enforce_http2: ["weir speaks HTTP/1.1 with providers"],
  max_conns_per_host: ["weir manages its connections itself", "concurrency of the provider"],
  keep_alive_timeout_in_seconds: ["weir manages its connections itself"],
  allow_private_network: ["weir connects to every address of the config"],
  beta_header_overrides: ["weir passes the beta features that a host takes", "variables.betas of bedrock"],
};

function explainRest(node: SourceNode): void {
  const network = node.member("network_config");
  for (const [name, [why, instead]] of Object.entries(REST)) network?.member(name)?.dropped(why, instead);
  node.member("proxy_config")?.dropped("weir has no proxy for one provider", "set HTTPS_PROXY and NO_PROXY");
  for (const name of ["send_back_raw_request", "send_back_raw_response", "store_raw_request_response"])
    node.member(name)?.dropped("weir shows no bodies to clients", "capture keeps those of chosen keys");
  node.member("openai_config")?.dropped("the client says whether OpenAI stores an answer");
}
