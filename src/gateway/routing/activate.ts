/** Combines what plugins declare with the settings: which providers are on, and the deployments of each. */
import { kindFault, type KnownDialects } from "./kind-fault.ts";
import { isVariableList } from "../../core/settings.ts";
import { hostsKinds, isHosted, servedKinds } from "../../core/does.ts";
import type { Format } from "../../core/format.ts";
import type { Plugin } from "../../core/plugin.ts";
import type { ActiveProvider, Deployment, Provider } from "../../core/provider.ts";
import type { Secret } from "../../core/secret.ts";
import type { DeploymentSettings, ProviderSettings } from "../../core/settings.ts";
import { ProviderAuthorizer } from "./authorizer.ts";
import { LiveAuthorizer } from "./live-authorizer.ts";
import type { Credentials } from "./credentials.ts";
import { chooseCredentials } from "./credentials.ts";
import { fittedBaseUrl } from "./base-url.ts";
import { missingBaseUrl, missingVariables, ownBaseUrl, templateFault, variablesOf } from "./endpoint.ts";

/** A plugin and where it came from: `built-in`, or the path of its file. */
export interface LoadedPlugin {
  plugin: Plugin;
  source: string;
  /** SHA-256 of a plugin file, 64 hexadecimal digits. */
  sha256?: string;
  /** Parts of a plugin file that the next release does not read, and what to write instead; a clause each. */
  notices?: readonly string[];
}

/** A provider that is off. */
export interface OffProvider {
  provider: Provider;
  source: string;
  /** Why it is off, or what would switch it on: a clause for a sentence. */
  reason: string;
  /** The operator wants it: the config names it, the environment has a credential of it, or a plugin file declares it. */
  configured?: boolean;
  /** The config says so. */
  turnedOff?: boolean;
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
  { dialects, kinds }: KnownDialects,
  settings?: ProviderSettings,
): void {
  const fail = (sentence: string) => {
    throw new Error(`${source}: provider "${name}": ${sentence}`);
  };
  if (!/^[a-z][a-z0-9-]*$/.test(name)) fail("its name must be lower-case letters, digits and dashes.");
  const formatsSpoken = Object.keys(provider.speaks ?? {});
  const dialectsSpoken = Object.keys(provider.embeds ?? {});
  const served = servedKinds(provider.does);
  const isHost = formatsSpoken.length + dialectsSpoken.length > 0 || hostsKinds(provider.does);
  const isProgram =
    provider.generate !== undefined ||
    provider.embed !== undefined ||
    served.some(([, given]) => !isHosted(given));
  if (!isHost && !isProgram) fail("it must speak a format, generate or embed, or do something else.");
  if (isHost && isProgram)
    fail("it can be a host, with speaks, embeds or paths in does, or a program, with functions, not both.");
  const unknown = dialectsSpoken.find((id) => dialects && !dialects.has(id));
  if (unknown !== undefined)
    fail(
      `it embeds in the unknown dialect "${unknown}"; known dialects: ${[...dialects!.keys()].join(", ")}.`,
    );
  const fault = kindFault(provider, kinds, formats);
  if (fault !== undefined) fail(fault);
  for (const id of formatsSpoken) {
    if (!formats.get(id)?.upstream)
      fail(
        `it speaks "${id}", which no upstream codec supports; known formats: ${[...formats.keys()].join(", ")}.`,
      );
  }
  // The config may replace what the plugin says about formats.
  const framing = settings?.speaks ? undefined : provider.framing;
  const prefers = settings?.speaks ? settings.prefer : provider.prefers;
  const wrong = templateFault(provider, settings) ?? contradictionIn({ ...provider, framing, prefers });
  if (wrong !== undefined) fail(wrong);
}

/** The first contradiction between members of a provider; undefined if there is none. */
function contradictionIn({
  speaks,
  embeds,
  does,
  credentials,
  authorize,
  framing = {},
  variables,
  prefers,
}: Provider): string | undefined {
  if (!speaks && !embeds && !hostsKinds(does)) {
    const without = Object.entries({ credentials, authorize, variables }).find(([, value]) => value);
    return without && `it has ${without[0]}, which only hosts can have.`;
  }
  const spoken = speaks ?? {};
  if (prefers !== undefined && !Object.hasOwn(spoken, prefers))
    return `it prefers "${prefers}", which it does not speak.`;
  const unspoken = Object.keys(framing).find((format) => !Object.hasOwn(spoken, format));
  if (unspoken !== undefined) return `it has a framing for "${unspoken}", which it does not speak.`;
  if (credentials?.some((set) => !isVariableList(set) || set.length !== 1) && !authorize)
    return "each set of its credentials must be a list with one name, because it has no authorize.";
  return undefined;
}

/**
 * The provider with its deployments if its address and credentials are known, else the reason why it is off.
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
    embeds: settings.embeds ?? declared.embeds,
    does: settings.does ?? declared.does,
    liveModels: settings.liveModels ?? declared.liveModels,
    ...traitsOf(declared, settings),
  };
  const headers = withLowerCaseNames({ ...withLowerCaseNames(declared.headers), ...settings.headers });
  const off = (reason: string): OffProvider => ({ provider, source, reason });
  if (settings.enabled === false) return { ...off("the config says enabled: false"), turnedOff: true };
  const deployments: Deployment[] = [];
  for (const given of settings.deployments ?? [{ name: "" }]) {
    const deployment = activateDeployment(provider, settings, given);
    if (typeof deployment === "string") return off(deployment);
    deployments.push(Object.freeze(deployment));
  }
  return Object.freeze({
    ...provider,
    ...toldTraits(settings),
    source,
    deployments: Object.freeze(deployments),
    headers: Object.freeze(headers),
    patterns: Object.freeze(
      settings.models ? [...new Set([...settings.models, `${provider.name}/*`])] : patternsOf(provider),
    ),
  });
}

/** The deviations of a provider: those of the config precede those of the plugin. */
function traitsOf(declared: Provider, { traits, modelTraits }: ProviderSettings): Partial<Provider> {
  return {
    ...(traits && { traits: Object.freeze({ ...declared.traits, ...traits }) }),
    ...(modelTraits && { modelTraits: Object.freeze([...(declared.modelTraits ?? []), ...modelTraits]) }),
  };
}

function toldTraits({
  traits,
  modelTraits,
}: ProviderSettings): Pick<ActiveProvider, "fitted" | "toldTraits"> {
  const fitted = traits ? ["*"] : modelTraits?.flatMap(({ models }) => models);
  return {
    ...(fitted && { fitted: Object.freeze(fitted) }),
    ...(traits && { toldTraits: Object.freeze(traits) }),
  };
}

/** A provider that is off for sure; the reason is found when it is asked for. */
export function unset(provider: Provider, source: string, settings: () => ProviderSettings): OffProvider {
  return {
    provider,
    source,
    get reason() {
      const activated = activate(provider, source, settings());
      return "reason" in activated ? activated.reason : "its settings have changed";
    },
  };
}

/** Shorter texts are values of many variables. */
const LEAST_KEY = 8;

/** The variable that has this credential: the provider's own one before any other. */
function variableWith(
  credential: string | undefined,
  own: string,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  if (credential === undefined || credential.length < LEAST_KEY) return undefined;
  if (env[own]?.trim() === credential) return own;
  return Object.keys(env).find((name) => env[name]?.trim() === credential);
}

/**
 * One deployment, or the reason why the provider is off.
 * @param given its settings; the name is empty if the config lists no deployments
 */
function activateDeployment(
  provider: Provider,
  settings: ProviderSettings,
  given: DeploymentSettings,
): Deployment | string {
  const endpoint = { provider, settings, deployment: given };
  const variables = variablesOf(endpoint);
  const credentialHeaders = credentialIn({ ...settings.headers, ...revealed(settings.liveHeaders) });
  const chosen = chooseCredentials(provider, settings, given, variables);
  const lacksCredentials = "missing" in chosen && !credentialHeaders;
  const missing = missingVariables(endpoint, variables);
  if (missing.length > 0) return [...missing, ...(lacksCredentials ? [chosen.missing] : [])].join("; ");
  const isHost = provider.speaks !== undefined || provider.embeds !== undefined || hostsKinds(provider.does);
  const own = ownBaseUrl(provider, variables);
  const written = (given.baseUrl ?? settings.baseUrl)?.replace(/\/+$/, "");
  const baseUrl =
    written === undefined ? (own ?? "").replace(/\/+$/, "") : fittedBaseUrl(written, own, provider);
  if (isHost && baseUrl === "")
    return [missingBaseUrl(provider), ...(lacksCredentials ? [chosen.missing] : [])].join("; ");
  if (lacksCredentials) return chosen.missing;
  if (isHost) checkBaseUrl(provider.name, baseUrl);
  const elsewhere = !provider.hostPerCustomer && isOtherHost(own, baseUrl);
  const name = given.name === "" ? provider.name : `${provider.name}/${given.name}`;
  const { names, values, source } = "missing" in chosen ? NO_CREDENTIALS : chosen;
  return {
    name,
    baseUrl: isHost ? baseUrl : "",
    variables: Object.freeze(variables),
    ...authorizedBy(provider, settings, { name, variables, values, credentialHeaders }),
    secretNames: names,
    keyVariable: variableWith(values.get(names[0]!)?.reveal(), names[0]!, settings.env ?? {}),
    credentialSource: source,
    ...(given.models && { models: Object.freeze([...given.models]) }),
    weight: given.weight ?? 1,
    priority: given.priority ?? 0,
    concurrency: given.concurrency ?? settings.concurrency,
    timeouts: given.timeouts ?? settings.timeouts,
    circuitBreaker: settings.circuitBreaker,
    tls: settings.tls,
    elsewhere,
    prefers: settings.prefer ?? (elsewhere ? undefined : provider.prefers),
    maxTokensField: settings.maxTokensField,
  };
}

interface Chosen {
  /** Of the deployment. */
  name: string;
  variables: Readonly<Record<string, string>>;
  values: ReadonlyMap<string, Secret>;
  /** Credential headers of the config. */
  credentialHeaders: Readonly<Record<string, string>> | undefined;
}

/** What authorizes requests: headers that stay, or an authorizer, if a plugin makes them or their values may change. */
function authorizedBy(
  provider: Provider,
  { liveHeaders = {}, headers, env = {} }: ProviderSettings,
  { name, variables, values, credentialHeaders }: Chosen,
): Pick<Deployment, "credentials" | "authorizer"> {
  const inner =
    provider.authorize && !credentialHeaders
      ? new ProviderAuthorizer(provider, { name, variables, env, secrets: values })
      : undefined;
  const key = [...values.values()][0];
  const changing = [...values.values(), ...Object.values(liveHeaders)].filter(({ live }) => live);
  const made = () => credentialsOf(provider, key, credentialIn({ ...headers, ...revealed(liveHeaders) }));
  if (changing.length === 0)
    return { credentials: Object.freeze(made()), ...(inner && { authorizer: inner }) };
  const all = () => ({ ...revealed(liveHeaders), ...made() });
  // A plugin or a header of the config takes the place of a key.
  return {
    credentials: {},
    authorizer: new LiveAuthorizer(changing, inner ? () => revealed(liveHeaders) : all, inner),
  };
}

function revealed(secrets: Readonly<Record<string, Secret>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(secrets).map(([name, secret]) => [name, secret.reveal()]));
}

const NO_CREDENTIALS: Credentials = { names: [], values: new Map() };

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
function isOtherHost(vendorUrl: string | undefined, baseUrl: string): boolean {
  if (!URL.canParse(vendorUrl ?? "") || baseUrl === "") return false;
  const vendorHost = new URL(vendorUrl!).host;
  const { host } = new URL(baseUrl);
  return host !== vendorHost && !host.endsWith(`.${vendorHost}`);
}

/**
 * The headers with the credential.
 * @param fromConfig credential headers of the config
 * @throws Error if both the key and the config set the same header
 */
function credentialsOf(
  { name, auth, authorize }: Provider,
  apiKey: Secret | undefined,
  fromConfig: Record<string, string> | undefined,
): Record<string, string> {
  if (authorize || !apiKey) return fromConfig ?? {};
  const key = apiKey.reveal();
  const headers =
    typeof auth === "function"
      ? auth(key)
      : auth === "x-api-key"
        ? { "x-api-key": key }
        : { authorization: `Bearer ${key}` };
  const duplicate = Object.keys(fromConfig ?? {}).find((header) => headers[header] !== undefined);
  if (duplicate)
    throw new Error(
      `providers.${name}: the API key and headers.${duplicate} both set the credential; remove one of them.`,
    );
  return headers;
}

/** The model patterns of a provider, with `name/*`, which every provider has. */
export function patternsOf(provider: Provider): readonly string[] {
  return [...new Set([...(provider.models ?? []), `${provider.name}/*`])];
}
