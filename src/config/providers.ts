/** Combines the environment variables, the config and the plugin's defaults of one provider. */
import type { Provider, UpstreamTimeouts } from "../core/provider.ts";
import { Secret } from "../core/secret.ts";
import type { ProviderSettings } from "../core/settings.ts";
import { variableName } from "../core/settings.ts";
import { baseUrlFault, baseUrlOfHost, normalizeBaseUrl } from "./address.ts";
import { secretFault } from "./checks.ts";
import { ConfigError } from "./error.ts";
import type { Config } from "./schema.ts";
import type { Environment } from "./substitute.ts";
import { didYouMean } from "../core/suggest.ts";
import { readUpstreamTls } from "./tls.ts";

/** Base URLs are absolute and have no trailing slash. Precedence: environment variable, config, plugin. */
export interface FoundSettings extends ProviderSettings {
  /** `false` only when the config disables the provider. */
  enabled: boolean;
  /** Where credential and base URL were set: a variable's name, `config` or `plugin`. */
  source: { apiKey?: string; baseUrl?: string };
}

/**
 * Settings of one provider: its environment variables override the config, the config overrides the plugin.
 * An empty variable counts as unset.
 * @throws ConfigError that names the variable or the plugin, never a credential.
 */
export function providerSettings(config: Config, env: Environment, provider: Provider): FoundSettings {
  const options = config.providers[provider.name] ?? {};
  const key = readApiKey(provider, env) ?? inConfig(options.apiKey);
  const url =
    readBaseUrl(provider, env) ??
    inConfig(options.baseUrl && normalizeBaseUrl(options.baseUrl)) ??
    ownUrl(provider);
  const headers = Object.entries(options.headers ?? {}).map(([name, value]) => [
    name.toLowerCase(),
    value.reveal(),
  ]);
  const timeouts = { ...upstreamTimeouts(config), ...options.timeouts };
  return {
    enabled: options.enabled ?? true,
    apiKey: key?.value,
    baseUrl: url?.value,
    models: options.models,
    headers: headers.length > 0 ? (Object.fromEntries(headers) as Record<string, string>) : undefined,
    speaks: options.speaks === undefined ? undefined : pathsOf(options.speaks),
    liveModels: options.liveModels,
    maxTokensField: options.maxTokensField,
    concurrency: options.concurrency,
    timeouts,
    tls: options.tls && readUpstreamTls(options.tls),
    deployments: options.deployments?.map((deployment) => ({
      ...deployment,
      baseUrl: deployment.baseUrl && normalizeBaseUrl(deployment.baseUrl),
      timeouts: { ...timeouts, ...deployment.timeouts },
    })),
    source: { apiKey: key?.source, baseUrl: url?.source },
  };
}

function upstreamTimeouts({ timeouts }: Config): UpstreamTimeouts {
  const { connectMs, firstByteMs, gapMs, totalMs } = timeouts;
  return { connectMs, firstByteMs, gapMs, totalMs };
}

interface Found<Value> {
  value: Value;
  source: string;
}

function inConfig<Value>(value: Value | undefined): Found<Value> | undefined {
  return value === undefined ? undefined : { value, source: "config" };
}

function readApiKey(provider: Provider, env: Environment): Found<Secret> | undefined {
  const source = provider.apiKey ?? variableName(provider.name, "API_KEY");
  const text = env[source]?.trim();
  if (text === undefined || text === "") return undefined;
  const fault = secretFault(text);
  if (fault !== undefined) throw new ConfigError(source, `the credential of ${provider.name} ${fault}`);
  return { value: new Secret(text), source };
}

function readBaseUrl(provider: Provider, env: Environment): Found<string> | undefined {
  const source = variableName(provider.name, "BASE_URL");
  const text = env[source]?.trim();
  if (text === undefined || text === "") return readHost(provider, env);
  const fault = baseUrlFault(text);
  if (fault !== undefined) throw new ConfigError(source, `the address of ${provider.name} ${fault}`);
  return { value: normalizeBaseUrl(text), source };
}

function readHost({ name, host }: Provider, env: Environment): Found<string> | undefined {
  const text = host && env[host.variable]?.trim();
  if (!text) return undefined;
  const value = baseUrlOfHost(text, host.port, host.path);
  if (value === undefined || baseUrlFault(value) !== undefined)
    throw new ConfigError(host.variable, `the address of ${name} must be a URL or host:port`);
  return { value, source: host.variable };
}

/**
 * Providers that only the config describes: `speaks` is set and no plugin defines the name.
 * @param known names of the providers that plugins define
 */
export function providersOfConfig(config: Config, known: ReadonlySet<string>): Provider[] {
  return Object.entries(config.providers).flatMap(([name, { speaks, models = [] }]) => {
    if (speaks === undefined || known.has(name)) return [];
    const paths = pathsOf(speaks);
    const catalog = models.filter((model) => !model.includes("*"));
    const onlyMessages = Object.keys(paths).every((format) => format === "messages");
    const provider: Provider = { name, speaks: paths, catalog, liveModels: catalog.length === 0 };
    return onlyMessages ? { ...provider, auth: "x-api-key" } : provider;
  });
}

/** Paths for a base URL that ends in `/v1`. */
const PATHS: Readonly<Record<string, string>> = {
  "chat-completions": "/chat/completions",
  messages: "/messages",
};

/** Default paths. Like the vendors' SDKs, weir expects `/v1` in the base URL for chat-completions, but not for messages alone. */
function pathsOf(
  speaks: string | readonly string[] | Readonly<Record<string, string>>,
): Record<string, string> {
  if (typeof speaks === "object" && !Array.isArray(speaks)) return { ...(speaks as Record<string, string>) };
  const formats = typeof speaks === "string" ? [speaks] : (speaks as readonly string[]);
  const hasChat = formats.includes("chat-completions");
  return Object.fromEntries(
    formats.map((format) => [
      format,
      format === "messages" && !hasChat ? "/v1/messages" : (PATHS[format] ?? `/${format}`),
    ]),
  );
}

function ownUrl(provider: Provider): Found<string> | undefined {
  if (provider.baseUrl === undefined) return undefined;
  const fault = baseUrlFault(provider.baseUrl);
  if (fault !== undefined) throw new ConfigError(`plugin ${provider.name}`, `its baseUrl ${fault}`);
  return { value: normalizeBaseUrl(provider.baseUrl), source: "plugin" };
}

/**
 * Refuses settings of a provider that neither a plugin nor the config defines: they would have no effect.
 * @param locate position of a config path
 * @throws ConfigError for the first such provider.
 */
export function assertProvidersKnown(
  config: Config,
  names: readonly string[],
  locate: (path: string[]) => string,
): void {
  const unknown = Object.keys(config.providers).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const path = ["providers", unknown];
  const hint = didYouMean(unknown, names) || "; weir plugin list prints the known providers";
  throw new ConfigError(locate(path), `no plugin defines a provider named ${unknown}${hint}`, path);
}
