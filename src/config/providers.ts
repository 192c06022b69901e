/** Combines the environment variables, the config and the plugin's defaults of one provider. */
import { hostsKinds } from "../core/does.ts";
import type { Provider, UpstreamTimeouts } from "../core/provider.ts";
import { Secret } from "../core/secret.ts";
import type { ProviderSettings } from "../core/settings.ts";
import { isVariableList, variableName } from "../core/settings.ts";
import { pathsOf as templatesOf, placeholdersOf } from "../core/template.ts";
import { baseUrlFault, baseUrlOfHost, isOwnAddress, normalizeBaseUrl } from "./address.ts";
import type { PriceSetting } from "../ledger/prices/settings.ts";
import { type ProviderOptions, secretFault } from "./sections/providers.ts";
import { authOf, framingOf, type DefaultEndpoints, embedsOf, pathsOf } from "./default-endpoints.ts";
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
export function providerSettings(
  config: Config,
  env: Environment,
  provider: Provider,
  endpoints: DefaultEndpoints,
): FoundSettings {
  const options = config.providers[provider.name] ?? {};
  const key = readApiKey(provider, env) ?? inConfig(options.apiKey);
  const url =
    readBaseUrl(provider, env, config) ??
    inConfig(configuredUrl(provider, options, "baseUrl")) ??
    ownUrl(provider);
  const given = Object.entries(options.headers ?? {}).map(
    ([name, value]) => [name.toLowerCase(), value] as const,
  );
  const fixed = given.filter(([, { live }]) => !live).map(([name, value]) => [name, value.reveal()] as const);
  const live = given.filter(([, value]) => value.live);
  const timeouts = { ...upstreamTimeouts(config), ...options.timeouts };
  return {
    enabled: options.enabled ?? true,
    apiKey: key?.value,
    baseUrl: url?.value,
    models: options.models,
    headers: fixed.length > 0 ? Object.fromEntries(fixed) : undefined,
    ...(live.length > 0 && { liveHeaders: Object.fromEntries(live) }),
    speaks: options.speaks === undefined ? undefined : pathsOf(options.speaks, endpoints),
    embeds: options.embeds,
    does: options.does,
    prefer: readPreferred(provider, options, endpoints),
    variables: readVariables(provider, options, env, endpoints),
    secrets: readSecrets(provider, options, env),
    env,
    liveModels: options.liveModels,
    maxTokensField: options.maxTokensField,
    traits: options.traits,
    modelTraits: options.modelTraits,
    concurrency: options.concurrency,
    timeouts,
    circuitBreaker: config.circuitBreaker,
    tls: options.tls && readUpstreamTls(options.tls),
    deployments: options.deployments?.map((deployment, index) => ({
      ...deployment,
      baseUrl: configuredUrl(provider, deployment, `deployments[${index}].baseUrl`),
      timeouts: { ...timeouts, ...deployment.timeouts },
    })),
    source: { apiKey: key?.source, baseUrl: url?.source },
  };
}

/** Whether a host is off because neither the config nor the environment has anything about it. */
export function isUnset(config: Config, env: Environment, provider: Provider): boolean {
  const { apiKey, baseUrl, credentials, variables = {} } = provider;
  const isHost = provider.speaks !== undefined || provider.embeds !== undefined || hostsKinds(provider.does);
  const needsKey = apiKey !== undefined || credentials?.every(isVariableList) === true;
  if (!isHost || !(needsKey || baseUrl === undefined)) return false;
  const own = Object.values(variables).flatMap(({ env: names = [] }) => names);
  return !isConfigured(config, env, provider) && !own.some((variable) => env[variable]);
}

/** Whether the config names a provider, or the environment has its address or a credential of it. */
export function isConfigured(config: Config, env: Environment, provider: Provider): boolean {
  const { name, apiKey, credentials, host } = provider;
  const names = [
    ...(apiKey === undefined ? [] : [apiKey]),
    ...[variableName(name, "API_KEY"), variableName(name, "BASE_URL")],
    ...(host && hostText(provider, env, config) ? [host.variable] : []),
    ...(credentials?.filter(isVariableList).flat() ?? []),
  ];
  return config.providers[name] !== undefined || names.some((variable) => env[variable]);
}

/** @throws ConfigError for a format that the provider does not speak */
function readPreferred(
  { name, speaks = {} }: Provider,
  options: ProviderOptions,
  endpoints: DefaultEndpoints,
): string | undefined {
  const { prefer } = options;
  const spoken = Object.keys(options.speaks === undefined ? speaks : pathsOf(options.speaks, endpoints));
  if (prefer === undefined || spoken.includes(prefer)) return prefer;
  const hint = didYouMean(prefer, spoken) || (spoken.length > 0 ? `; it speaks ${spoken.join(", ")}` : "");
  throw new ConfigError(`providers.${name}.prefer`, `the provider does not speak this format${hint}`);
}

/**
 * The values of a provider's variables: from the config, else from the first environment variable that is set.
 * @throws ConfigError for a name that neither the plugin nor a path of the config has
 */
function readVariables(
  provider: Provider,
  options: ProviderOptions,
  env: Environment,
  endpoints: DefaultEndpoints,
): Record<string, string> {
  const declared = provider.variables ?? {};
  const inPaths = Object.values(options.speaks === undefined ? {} : pathsOf(options.speaks, endpoints))
    .map(templatesOf)
    .flatMap(({ json, stream }) => [...placeholdersOf(json), ...placeholdersOf(stream)])
    .filter((name) => name !== MODEL);
  assertKnown(provider, "variables", options, [...Object.keys(declared), ...inPaths]);
  const fromEnv = Object.entries(declared).flatMap(([name, { env: names = [] }]) =>
    names
      .flatMap((variable) => env[variable]?.trim() || [])
      .slice(0, 1)
      .map((value) => [name, value]),
  );
  return { ...(Object.fromEntries(fromEnv) as Record<string, string>), ...options.variables };
}

/** @throws ConfigError for a name that is in none of the plugin's sets of credentials */
function readSecrets(provider: Provider, options: ProviderOptions, env: Environment): Record<string, Secret> {
  const names = [...new Set(provider.credentials?.filter(isVariableList).flat() ?? [])];
  assertKnown(provider, "secrets", options, names);
  const fromEnv = names.flatMap((name) => {
    const text = env[name]?.trim();
    return text ? [[name, new Secret(text)]] : [];
  });
  const secrets = { ...(Object.fromEntries(fromEnv) as Record<string, Secret>), ...options.secrets };
  // `authorize` may take a private key, which has lines; any other credential is sent in a header.
  if (!provider.authorize)
    for (const [name, secret] of Object.entries(secrets)) assertSecret(secret.reveal(), name, provider.name);
  return secrets;
}

/** @throws ConfigError for a name in the config, also of a deployment, that would have no effect */
function assertKnown(
  { name: provider }: Provider,
  option: "variables" | "secrets",
  options: ProviderOptions,
  known: readonly string[],
): void {
  for (const given of [options, ...(options.deployments ?? [])]) {
    const unknown = Object.keys(given[option] ?? {}).find((name) => !known.includes(name));
    if (unknown === undefined) continue;
    const hint =
      didYouMean(unknown, known) || (known.length > 0 ? `; it has ${known.join(", ")}` : "; it has none");
    const what = option === "variables" ? "variable" : "credential";
    // What does not look like the name of a variable may be the credential itself.
    const isName = option === "variables" || /^[A-Z_][A-Z0-9_]*$/.test(unknown);
    const named = isName ? `named ${unknown}` : "of the given name";
    throw new ConfigError(`providers.${provider}.${option}`, `the provider has no ${what} ${named}${hint}`);
  }
}

/** @throws ConfigError for a credential that no header can carry */
function assertSecret(text: string, variable: string, provider: string): void {
  const fault = secretFault(text);
  if (fault !== undefined) throw new ConfigError(variable, `the credential of ${provider} ${fault}`);
}

function upstreamTimeouts({ timeouts }: Config): UpstreamTimeouts {
  const { connectMs, firstByteMs, streamFirstByteMs, gapMs, totalMs } = timeouts;
  return { connectMs, firstByteMs, streamFirstByteMs, gapMs, totalMs };
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
  assertSecret(text, source, provider.name);
  return { value: new Secret(text), source };
}

function readBaseUrl(provider: Provider, env: Environment, config: Config): Found<string> | undefined {
  const source = variableName(provider.name, "BASE_URL");
  const text = env[source]?.trim();
  if (text === undefined || text === "") return readHost(provider, env, config);
  assertNotMistaken(provider, text, source, false);
  const fault = baseUrlFault(text);
  if (fault !== undefined) throw new ConfigError(source, `the address of ${provider.name} ${fault}`);
  return { value: normalizeBaseUrl(text), source };
}

/** @throws ConfigError for an address that the plugin knows as a mistake */
function assertNotMistaken(provider: Provider, text: string, source: string, isHost: boolean): void {
  // A host may be written without a scheme.
  const url = URL.parse(text) ?? URL.parse(`https://${text}`);
  const fault = url ? provider.addressFault?.(url, isHost) : undefined;
  if (fault !== undefined) throw new ConfigError(source, `the address of ${provider.name} ${fault}`);
}

/** @param option where the config has it, for the message */
function configuredUrl(
  provider: Provider,
  { baseUrl }: { baseUrl?: string },
  option: string,
): string | undefined {
  if (baseUrl === undefined) return undefined;
  assertNotMistaken(provider, baseUrl, `providers.${provider.name}.${option}`, false);
  return normalizeBaseUrl(baseUrl);
}

/**
 * The text of the variable with the host; absent if it leads to weir itself, because the same variable points tools that speak
 * to such a host at weir.
 */
function hostText({ host }: Provider, env: Environment, config: Config): string | undefined {
  const text = host && env[host.variable]?.trim();
  if (!text) return undefined;
  const url = baseUrlOfHost(text, host.port, "");
  return url !== undefined && isOwnAddress(url, config) ? undefined : text;
}

function readHost(provider: Provider, env: Environment, config: Config): Found<string> | undefined {
  const { name, host } = provider;
  const text = hostText(provider, env, config);
  if (!host || text === undefined) return undefined;
  assertNotMistaken(provider, text, host.variable, true);
  const value = baseUrlOfHost(text, host.port, host.path);
  if (value === undefined || baseUrlFault(value) !== undefined)
    throw new ConfigError(host.variable, `the address of ${name} must be a URL or host:port`);
  return { value, source: host.variable };
}

/**
 * Providers that only the config describes: `speaks`, `embeds` or `does` is set and no plugin defines the name.
 * @param known names of the providers that plugins define
 */
export function providersOfConfig(
  config: Config,
  known: ReadonlySet<string>,
  endpoints: DefaultEndpoints,
): Provider[] {
  return Object.entries(config.providers).flatMap(([name, { speaks, embeds, does, models = [] }]) => {
    if ((speaks ?? embeds ?? does) === undefined || known.has(name)) return [];
    const paths = speaks === undefined ? undefined : pathsOf(speaks, endpoints);
    const catalog = models.filter((model) => !model.includes("*"));
    const formats = Object.keys(paths ?? {});
    const wire = { ...authOf(formats, endpoints), ...framingOf(formats, endpoints) };
    const embedding = embeds ?? embedsOf(paths ?? {}, endpoints);
    const listed = { catalog, liveModels: catalog.length === 0 };
    return [{ name, speaks: paths, embeds: embedding, does, ...listed, ...wire }];
  });
}

/** The placeholder of the model name; no variable. */
const MODEL = "model";

/** The plugin's base URL. @throws Error for an invalid one. One that depends on variables is made later, for each deployment. */
function ownUrl({ name, baseUrl }: Provider): Found<string> | undefined {
  if (typeof baseUrl !== "string" || baseUrl.includes("{")) return undefined;
  const fault = baseUrlFault(baseUrl);
  if (fault !== undefined) throw new Error(`provider "${name}": its baseUrl ${fault}`);
  return { value: normalizeBaseUrl(baseUrl), source: "plugin" };
}

/** A price of units alone is for work of a part of weir too, which no provider does. */
function isOfWork(setting: 0 | PriceSetting): boolean {
  return setting !== 0 && setting.units !== undefined && setting.input === undefined;
}

/**
 * Refuses settings and prices of a provider that neither a plugin nor the config defines: they would have no effect.
 * @param locate position of a config path
 * @throws ConfigError for the first such provider.
 */
export function assertProvidersKnown(
  config: Config,
  names: readonly string[],
  locate: (path: string[]) => string,
): void {
  // A name without a slash is that of a model, of whichever provider.
  const priced = Object.entries(config.prices)
    .filter(([name, setting]) => name.includes("/") && !isOfWork(setting))
    .map(([name]) => ["prices", name] as const);
  const named = Object.keys(config.providers).map((name) => ["providers", name] as const);
  const path = [...named, ...priced].find(([, name]) => !isKnown(name.replace(/\/.*/s, ""), names));
  if (path === undefined) return;
  const unknown = path[1].replace(/\/.*/s, "");
  const hint = didYouMean(unknown, names) || "; weir plugin list prints the known providers";
  throw new ConfigError(locate([...path]), `no plugin defines a provider named ${unknown}${hint}`, path);
}

/** @param name a pattern may match providers that are not known yet */
function isKnown(name: string, names: readonly string[]): boolean {
  return name.includes("*") || names.includes(name);
}
