/**
 * Plugins in, frozen lookup out: which provider serves a model name, in which format, at which URL.
 *
 * Precedence is decided once: an exact name before a glob, `provider/model` before other globs, a longer pattern before a shorter one, a dropped file before
 * a built-in, then the order of loading.
 */
import { GatewayError } from "../core/error.ts";
import type { Format } from "../core/format.ts";
import type { Plugin } from "../core/plugin.ts";
import type { ActiveProvider, Provider, Target } from "../core/provider.ts";
import type { Secret } from "../core/secret.ts";
import type { Pattern } from "./pattern.ts";
import { compilePattern } from "./pattern.ts";

/** A plugin and where it came from: `built-in`, or the path of its file. */
export interface LoadedPlugin {
  plugin: Plugin;
  source: string;
  /** Digest of a dropped file, 64 hexadecimal digits. */
  sha256?: string;
}

/** What config and environment say about one provider. */
export interface ProviderSettings {
  enabled?: boolean;
  apiKey?: Secret;
  baseUrl?: string;
  /** Replaces the plugin's patterns. */
  models?: readonly string[];
  headers?: Readonly<Record<string, string>>;
}

export interface RegistryOptions {
  plugins: readonly LoadedPlugin[];
  formats: readonly Format[];
  settings(provider: Provider): ProviderSettings;
  /** Model name → the name it stands for, often `provider/model`. */
  aliases?: Readonly<Record<string, string>>;
}

/** A provider that is switched off, and what would switch it on. */
export interface OffProvider {
  provider: Provider;
  source: string;
  reason: string;
}

/** One line of `weir models NAME`. */
export interface Candidate {
  provider: string;
  pattern: string;
  /** The model name the upstream would be asked for. */
  model: string;
  source: string;
  reason: string;
  wins: boolean;
}

/** One line of `GET /v1/models`. */
export interface ModelEntry {
  id: string;
  provider: string;
}

interface Rule {
  pattern: Pattern;
  provider: ActiveProvider;
  /** The provider's own `name/*`. */
  forced: boolean;
  builtIn: boolean;
  order: number;
}

/** The provider that answers when nothing else is configured. */
const EMBEDDED = "mock";
const MOCK_MODEL = "chat";
const REMEMBERED = 2000;

export class Registry {
  readonly providers: readonly ActiveProvider[];
  readonly off: readonly OffProvider[];
  readonly formats: ReadonlyMap<string, Format>;
  readonly aliases: Readonly<Record<string, string>>;
  readonly #rules: readonly Rule[];
  readonly #remembered = new Map<string, Target>();

  constructor(options: RegistryOptions) {
    this.formats = new Map(
      [...options.formats, ...options.plugins.flatMap(({ plugin }) => plugin.formats ?? [])].map((f) => [
        f.id,
        f,
      ]),
    );
    this.aliases = Object.freeze({ ...options.aliases });
    checkAliases(this.aliases);
    const active: ActiveProvider[] = [];
    const off: OffProvider[] = [];
    for (const [name, { provider, source }] of collectProviders(options.plugins)) {
      checkProvider(name, provider, source, this.formats);
      const switched = activate(provider, source, options.settings(provider));
      if ("reason" in switched) off.push(switched);
      else active.push(switched);
    }
    this.providers = Object.freeze(active);
    this.off = Object.freeze(off);
    this.#rules = Object.freeze(active.flatMap(rulesOf).sort(byPrecedence));
  }

  /**
   * Where a call goes.
   * @throws GatewayError `not-found` (`model_not_found`) with what would help.
   */
  resolve(model: string, clientFormat: string): Target {
    const key = `${clientFormat}\n${model}`;
    const remembered = this.#remembered.get(key);
    if (remembered) return remembered;
    const target = this.#resolve(model, clientFormat);
    if (this.#remembered.size >= REMEMBERED) this.#remembered.clear();
    this.#remembered.set(key, target);
    return target;
  }

  #resolve(model: string, clientFormat: string): Target {
    const name = this.aliases[model] ?? model;
    const rule = this.#rules.find((candidate) => candidate.pattern.test(name));
    if (rule) return this.#target(rule, name, clientFormat, name === model ? "" : `alias of ${name}; `);
    const embedded = this.#substitute(name);
    if (embedded) {
      const reason = `no provider is configured, so ${EMBEDDED} stands in for ${embedded.wanted}`;
      return {
        provider: embedded.provider,
        model: MOCK_MODEL,
        lane: "generated",
        format: "",
        url: "",
        reason,
        substitute: true,
      };
    }
    throw new GatewayError("not-found", this.#unknown(model, name), {
      code: "model_not_found",
      param: "model",
    });
  }

  #target(rule: Rule, name: string, clientFormat: string, prefix: string): Target {
    const { provider, pattern } = rule;
    const model = pattern.strip(name);
    const reason = `${prefix}${describe(pattern)} of ${provider.name}`;
    if (!provider.speaks) return { provider, model, lane: "generated", format: "", url: "", reason };
    const format =
      provider.speaks[clientFormat] !== undefined ? clientFormat : Object.keys(provider.speaks)[0]!;
    return {
      provider,
      model,
      lane: format === clientFormat ? "native" : "translated",
      format,
      url: provider.baseUrl + provider.speaks[format]!,
      reason,
    };
  }

  /** With nothing but the mock switched on, a name that a known provider would serve is answered by the mock. */
  #substitute(name: string): { provider: ActiveProvider; wanted: string } | undefined {
    if (this.providers.some((provider) => provider.name !== EMBEDDED)) return undefined;
    const provider = this.providers[0];
    const wanted = this.#offProviderOf(name);
    return provider && wanted && { provider, wanted: wanted.provider.name };
  }

  #offProviderOf(name: string): OffProvider | undefined {
    return this.off.find(({ provider }) =>
      patternsOf(provider).some((pattern) => compilePattern(pattern).test(name)),
    );
  }

  #unknown(model: string, name: string): string {
    const wanted = this.#offProviderOf(name);
    if (wanted)
      return `The model \`${model}\` belongs to ${wanted.provider.name}, which is off: ${wanted.reason}.`;
    const names = this.providers.map((provider) => `${provider.name}/…`).join(", ");
    return `No provider serves the model \`${model}\`. Name one as provider/model (${names}), or see GET /v1/models.`;
  }

  /** Everyone who could serve a name, in order of precedence; the first wins. */
  explain(model: string): Candidate[] {
    const name = this.aliases[model] ?? model;
    const matching = this.#rules.filter((rule) => rule.pattern.test(name));
    return matching.map((rule, index) => ({
      provider: rule.provider.name,
      pattern: rule.pattern.text,
      model: rule.pattern.strip(name),
      source: rule.provider.source,
      reason: `${name === model ? "" : `alias of ${name}; `}${whyBefore(rule, matching[index + 1])}`,
      wins: index === 0,
    }));
  }

  /** Names to list: aliases, then what each provider's catalog names, as a client would write them. */
  models(): ModelEntry[] {
    const entries = new Map<string, string>();
    for (const [alias, name] of Object.entries(this.aliases)) {
      const rule = this.#rules.find((candidate) => candidate.pattern.test(name));
      if (rule) entries.set(alias, rule.provider.name);
    }
    for (const provider of this.providers) {
      for (const model of provider.catalog ?? []) {
        const bare = this.#rules.find((rule) => rule.pattern.test(model));
        const id = bare?.provider === provider ? model : `${provider.name}/${model}`;
        if (!entries.has(id)) entries.set(id, provider.name);
      }
    }
    return [...entries].map(([id, provider]) => ({ id, provider }));
  }
}

/** One provider per name: a dropped one replaces a built-in, and a name stands for one file only. */
function collectProviders(
  plugins: readonly LoadedPlugin[],
): Map<string, { provider: Provider; source: string }> {
  const found = new Map<string, { provider: Provider; source: string }>();
  for (const { plugin, source } of plugins) {
    for (const provider of plugin.providers ?? []) {
      const earlier = found.get(provider.name);
      if (earlier && earlier.source === "built-in" && source === "built-in")
        throw new Error(`Two built-in plugins bring a provider named "${provider.name}".`);
      if (earlier && earlier.source !== "built-in" && source !== "built-in")
        throw new Error(
          `${source}: the provider "${provider.name}" is already brought by ${earlier.source}; rename one of them.`,
        );
      if (!earlier || earlier.source === "built-in") {
        found.delete(provider.name);
        found.set(provider.name, { provider, source });
      }
    }
  }
  return found;
}

/** A mistake in a provider's declaration, said once at the start and not at the first call. */
function checkProvider(
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
      fail(`it speaks "${id}", which nobody can encode; known are ${[...formats.keys()].join(", ")}.`);
    if (!provider.speaks![id]!.startsWith("/")) fail(`the path of "${id}" must begin with a slash.`);
  }
}

/** Switches a provider on when what it needs is known. */
function activate(
  provider: Provider,
  source: string,
  settings: ProviderSettings,
): ActiveProvider | OffProvider {
  const off = (reason: string): OffProvider => ({ provider, source, reason });
  if (settings.enabled === false) return off("the config says enabled: false");
  const baseUrl = (settings.baseUrl ?? provider.baseUrl ?? "").replace(/\/+$/, "");
  const variable = variableName(provider.name);
  if (provider.speaks && baseUrl === "") return off(`set ${variable}_BASE_URL to the address of the server`);
  if (provider.apiKey && !settings.apiKey) return off(`set ${provider.apiKey} to its API key`);
  if (provider.speaks) checkBaseUrl(provider.name, baseUrl);
  return Object.freeze({
    ...provider,
    source,
    baseUrl: provider.speaks ? baseUrl : "",
    headers: Object.freeze({ ...provider.headers, ...settings.headers }),
    credentials: Object.freeze(settings.apiKey ? credentialsOf(provider, settings.apiKey.reveal()) : {}),
    patterns: Object.freeze(
      settings.models ? [...new Set([...settings.models, `${provider.name}/*`])] : patternsOf(provider),
    ),
  });
}

/** `openrouter` → `OPENROUTER`, `my-host` → `MY_HOST`. */
export function variableName(provider: string): string {
  return provider.toUpperCase().replaceAll("-", "_");
}

function checkBaseUrl(name: string, baseUrl: string): void {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (!url || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw new Error(`The base URL of ${name} must be an absolute http or https URL.`);
  if (url.username || url.password || url.search || url.hash)
    throw new Error(`The base URL of ${name} must not carry a user, a password, a query or a fragment.`);
}

function credentialsOf(provider: Provider, key: string): Record<string, string> {
  if (typeof provider.auth === "function") return provider.auth(key);
  return provider.auth === "x-api-key" ? { "x-api-key": key } : { authorization: `Bearer ${key}` };
}

/** A provider's patterns; `name/*` holds for each without being listed. */
function patternsOf(provider: Provider): readonly string[] {
  return [...new Set([...(provider.models ?? []), `${provider.name}/*`])];
}

function rulesOf(provider: ActiveProvider, order: number): Rule[] {
  const builtIn = provider.source === "built-in";
  return provider.patterns.map((text) => ({
    pattern: compilePattern(text),
    provider,
    forced: text === `${provider.name}/*`,
    builtIn,
    order,
  }));
}

function byPrecedence(a: Rule, b: Rule): number {
  return (
    Number(b.pattern.exact) - Number(a.pattern.exact) ||
    Number(b.forced) - Number(a.forced) ||
    b.pattern.text.length - a.pattern.text.length ||
    Number(a.builtIn) - Number(b.builtIn) ||
    a.order - b.order
  );
}

function describe(pattern: Pattern): string {
  return `${pattern.exact ? "exact name" : "pattern"} ${pattern.text}`;
}

function whyBefore(rule: Rule, next: Rule | undefined): string {
  if (!next) return describe(rule.pattern);
  if (rule.pattern.exact !== next.pattern.exact) return `${describe(rule.pattern)}: exact before glob`;
  if (rule.forced !== next.forced) return `${describe(rule.pattern)}: the name says the provider`;
  if (rule.pattern.text.length !== next.pattern.text.length)
    return `${describe(rule.pattern)}: longer before shorter`;
  if (rule.builtIn !== next.builtIn) return `${describe(rule.pattern)}: dropped file before built-in`;
  return `${describe(rule.pattern)}: loaded first`;
}

function checkAliases(aliases: Readonly<Record<string, string>>): void {
  for (const [alias, name] of Object.entries(aliases))
    if (aliases[name] !== undefined)
      throw new Error(
        `The alias "${alias}" points at "${name}", which is an alias itself; name the model directly.`,
      );
}
