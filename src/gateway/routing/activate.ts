/** Combines what plugins declare with the settings: which providers are on, and the deployments of each. */
import type { Format } from "../../core/format.ts";
import type { Plugin } from "../../core/plugin.ts";
import type { ActiveProvider, Deployment, Provider } from "../../core/provider.ts";
import type { DeploymentSettings, ProviderSettings } from "../../core/settings.ts";
import { variableName } from "../../core/settings.ts";

/** A plugin and where it came from: `built-in`, or the path of its file. */
export interface LoadedPlugin {
  plugin: Plugin;
  source: string;
  /** SHA-256 of a plugin file, 64 hexadecimal digits. */
  sha256?: string;
}

/** A provider that is off. */
export interface OffProvider {
  provider: Provider;
  source: string;
  /** Why it is off, or what would switch it on: a clause for a sentence. */
  reason: string;
}

/**
 * One provider for each name. A plugin file replaces a built-in provider of the same name.
 * @throws Error when two plugin files, or two built-in plugins, declare the same name
 */
export function collectProviders(
  plugins: readonly LoadedPlugin[],
): Map<string, { provider: Provider; source: string }> {
  const found = new Map<string, { provider: Provider; source: string }>();
  for (const { plugin, source } of plugins) {
    for (const provider of plugin.providers ?? []) {
      const earlier = found.get(provider.name);
      if (earlier && earlier.source === "built-in" && source === "built-in")
        throw new Error(`Two built-in plugins declare a provider named "${provider.name}".`);
      if (earlier && earlier.source !== "built-in" && source !== "built-in")
        throw new Error(
          `${source}: the provider "${provider.name}" is already declared by ${earlier.source}; rename one of them.`,
        );
      if (!earlier || earlier.source === "built-in") {
        found.delete(provider.name);
        found.set(provider.name, { provider, source });
      }
    }
  }
  return found;
}

/** @throws Error for a mistake in a provider's declaration, so that weir reports it at the start and not at the first call */
export function checkProvider(
  name: string,
  provider: Provider,
  source: string,
  formats: ReadonlyMap<string, Format>,
): void {
  const fail = (sentence: string) => {
    throw new Error(`${source}: provider "${name}": ${sentence}`);
  };
  if (!/^[a-z][a-z0-9-]*$/.test(name)) fail("its name must be lower-case letters, digits and dashes.");
  const formatsSpoken = Object.keys(provider.speaks ?? {});
  if (formatsSpoken.length === 0 && !provider.generate) fail("it must either speak a format or generate.");
  if (formatsSpoken.length > 0 && provider.generate) fail("it can speak formats or generate, not both.");
  for (const id of formatsSpoken) {
    if (!formats.get(id)?.upstream)
      fail(
        `it speaks "${id}", which no upstream codec supports; known formats: ${[...formats.keys()].join(", ")}.`,
      );
    if (!provider.speaks![id]!.startsWith("/")) fail(`the path of "${id}" must begin with a slash.`);
  }
}

/**
 * The provider with its deployments if its address and credential are known, else the reason why it is off.
 * @throws Error for an invalid base URL and for two sources of one credential
 */
export function activate(
  declared: Provider,
  source: string,
  settings: ProviderSettings,
): ActiveProvider | OffProvider {
  const provider: Provider = {
    ...declared,
    speaks: settings.speaks ?? declared.speaks,
    liveModels: settings.liveModels ?? declared.liveModels,
  };
  const headers = withLowerCaseNames({ ...withLowerCaseNames(declared.headers), ...settings.headers });
  const headerCredential = credentialIn(settings.headers ?? {});
  const off = (reason: string): OffProvider => ({ provider, source, reason });
  if (settings.enabled === false) return off("the config says enabled: false");
  const implicit: DeploymentSettings = { name: provider.name };
  const deployments: Deployment[] = [];
  for (const given of settings.deployments ?? [implicit]) {
    const baseUrl = (given.baseUrl ?? settings.baseUrl ?? provider.baseUrl ?? "").replace(/\/+$/, "");
    const apiKey = given.apiKey ?? settings.apiKey;
    if (provider.speaks && baseUrl === "")
      return off(
        `set ${variableName(provider.name, "BASE_URL")}${provider.host ? ` or ${provider.host.variable}` : ""} to the address of the server`,
      );
    if (provider.apiKey && !apiKey && !headerCredential) return off(`set ${provider.apiKey} to its API key`);
    if (provider.speaks) checkBaseUrl(provider.name, baseUrl);
    const credentials = apiKey ? credentialsOf(provider, apiKey.reveal()) : (headerCredential ?? {});
    const duplicate =
      apiKey && Object.keys(headerCredential ?? {}).find((name) => credentials[name] !== undefined);
    if (duplicate)
      throw new Error(
        `providers.${provider.name}: the API key and headers.${duplicate} both set the credential; remove one of them.`,
      );
    deployments.push(
      Object.freeze({
        name: given === implicit ? implicit.name : `${provider.name}/${given.name}`,
        baseUrl: provider.speaks ? baseUrl : "",
        credentials: Object.freeze(credentials),
        weight: given.weight ?? 1,
        priority: given.priority ?? 0,
        concurrency: given.concurrency ?? settings.concurrency,
        timeouts: given.timeouts ?? settings.timeouts,
        tls: settings.tls,
        elsewhere: isOtherHost(provider, baseUrl),
        maxTokensField: settings.maxTokensField,
      }),
    );
  }
  return Object.freeze({
    ...provider,
    source,
    deployments: Object.freeze(deployments),
    headers: Object.freeze(headers),
    patterns: Object.freeze(
      settings.models ? [...new Set([...settings.models, `${provider.name}/*`])] : patternsOf(provider),
    ),
  });
}

/** The credential headers of the config: they replace an API key. */
function credentialIn(headers: Readonly<Record<string, string>>): Record<string, string> | undefined {
  const found = Object.entries(headers).filter(([name]) => name === "authorization" || name === "x-api-key");
  return found.length > 0 ? Object.fromEntries(found) : undefined;
}

function withLowerCaseNames(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function checkBaseUrl(name: string, baseUrl: string): void {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (!url || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw new Error(`The base URL of ${name} must be an absolute http or https URL.`);
  if (url.username || url.password || url.search || url.hash)
    throw new Error(`The base URL of ${name} must not carry a user, a password, a query or a fragment.`);
}

/** Whether the base URL names another host than the vendor's; regional subdomains belong to the vendor. */
function isOtherHost(provider: Provider, baseUrl: string): boolean {
  if (!provider.baseUrl || baseUrl === "") return false;
  const vendorHost = new URL(provider.baseUrl).host;
  const { host } = new URL(baseUrl);
  return host !== vendorHost && !host.endsWith(`.${vendorHost}`);
}

function credentialsOf(provider: Provider, key: string): Record<string, string> {
  if (typeof provider.auth === "function") return provider.auth(key);
  return provider.auth === "x-api-key" ? { "x-api-key": key } : { authorization: `Bearer ${key}` };
}

/** The model patterns of a provider, with `name/*`, which every provider has. */
export function patternsOf(provider: Provider): readonly string[] {
  return [...new Set([...(provider.models ?? []), `${provider.name}/*`])];
}
