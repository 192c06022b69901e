/** Resolves a model name to a plan: the provider, format and deployments that serve it, and its fallbacks. */
import { GatewayError } from "../../core/error.ts";
import type { Format } from "../../core/format.ts";
import type { ActiveProvider, Deployment, Provider, Target } from "../../core/provider.ts";
import type { Fallback, ProviderSettings, RouteTarget } from "../../core/settings.ts";
import { Aliases } from "./aliases.ts";
import type { LoadedPlugin, OffProvider } from "./activate.ts";
import { activate, checkProvider, collectProviders, patternsOf } from "./activate.ts";
import { LiveModels } from "./live-models.ts";
import type { Pattern } from "./pattern.ts";
import { bySpecificity, compilePattern } from "./pattern.ts";
import type { Choice, Plan } from "./plan.ts";
import { rank } from "./plan.ts";
import type { Rule } from "./precedence.ts";
import { rulesOf, whyBefore } from "./precedence.ts";
import { SpokenFormats } from "./spoken-formats.ts";

export type { LoadedPlugin, OffProvider } from "./activate.ts";

export interface RegistryOptions {
  plugins: readonly LoadedPlugin[];
  formats: readonly Format[];
  settings(provider: Provider): ProviderSettings;
  /** Model name or pattern → the name it stands for, often `provider/model`. */
  aliases?: Readonly<Record<string, string>>;
  /** Provider names in the order of the config: the first one wins a model that only model lists of hosts name. */
  order?: readonly string[];
  /** Model name → the models that serve it. */
  routes?: Readonly<Record<string, readonly RouteTarget[]>>;
  /** Model name or pattern → its fallback models, in order; the most specific entry applies. */
  fallbacks?: Readonly<Record<string, readonly Fallback[]>>;
}

/** The fallbacks of the models that match a pattern. */
interface FallbackList {
  pattern: Pattern;
  models: readonly Fallback[];
}

/** One line of `weir models NAME`. */
export interface Candidate {
  provider: string;
  pattern: string;
  /** The model name for the provider. */
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

/** The provider that answers while no other provider is on. */
const MOCK_PROVIDER = "mock";
const MOCK_MODEL = "chat";
/** Clients choose the model names, so the number of cached plans is limited. */
const MAX_PLANS = 2000;

export class Registry {
  readonly providers: readonly ActiveProvider[];
  readonly off: readonly OffProvider[];
  readonly formats: ReadonlyMap<string, Format>;
  readonly #rules: readonly Rule[];
  readonly #aliases: Aliases;
  /** Providers that are on or off: the names that may precede the slash of `provider/model`. */
  readonly #providerNames: ReadonlySet<string>;
  readonly live: LiveModels;
  readonly routes: ReadonlyMap<string, readonly RouteTarget[]>;
  /** Sorted, the most specific pattern first. */
  readonly fallbacks: readonly FallbackList[];
  readonly #exactFallbacks: ReadonlyMap<string, FallbackList>;
  readonly #fallbackPatterns: readonly FallbackList[];
  readonly #offPatterns: readonly { pattern: Pattern; off: OffProvider }[];
  /** Cache, by client format and model name. */
  readonly #plans = new Map<string, Plan>();
  readonly #formats = new SpokenFormats();

  constructor(options: RegistryOptions) {
    this.formats = new Map(
      [...options.formats, ...options.plugins.flatMap(({ plugin }) => plugin.formats ?? [])].map((f) => [
        f.id,
        f,
      ]),
    );
    this.#aliases = new Aliases(
      options.aliases ?? {},
      (name) => this.#namesProvider(name) || this.routes.has(name),
    );
    this.routes = new Map(Object.entries(options.routes ?? {}));
    this.fallbacks = Object.entries(options.fallbacks ?? {})
      .map(([text, models]) => ({ pattern: compilePattern(text), models }))
      .sort((a, b) => bySpecificity(a.pattern, b.pattern));
    this.#exactFallbacks = new Map(
      this.fallbacks.filter(({ pattern }) => pattern.exact).map((list) => [list.pattern.text, list]),
    );
    this.#fallbackPatterns = this.fallbacks.filter(({ pattern }) => !pattern.exact);
    const active: ActiveProvider[] = [];
    const off: OffProvider[] = [];
    for (const [name, { provider, source }] of collectProviders(options.plugins)) {
      const settings = options.settings(provider);
      const speaks = settings.speaks ?? provider.speaks;
      checkProvider(name, { ...provider, speaks }, source, this.formats, settings);
      const activated = activate(provider, source, settings);
      if ("reason" in activated) off.push(activated);
      else active.push(activated);
    }
    this.providers = Object.freeze(active);
    this.off = Object.freeze(off);
    this.#offPatterns = off.flatMap((entry) =>
      patternsOf(entry.provider).map((text) => ({ pattern: compilePattern(text), off: entry })),
    );
    this.#rules = rulesOf(active);
    this.#providerNames = new Set([
      ...active.map(({ name }) => name),
      ...off.map(({ provider }) => provider.name),
    ]);
    this.live = new LiveModels(active, options.order ?? [], this.formats, () => this.#plans.clear());
  }

  #namesProvider(name: string): boolean {
    const slash = name.indexOf("/");
    return slash > 0 && this.#providerNames.has(name.slice(0, slash));
  }

  /**
   * Waits for the model lists of hosts, at most one second, if no rule knows the name. Returns `undefined` if a rule does,
   * so that the usual case costs no turn of the event loop.
   */
  prepare(model: string): Promise<void> | undefined {
    return this.live.isEmpty || this.#knows(this.#aliases.resolve(model)) ? undefined : this.live.wait();
  }

  #knows(name: string): boolean {
    const models = this.routes.get(name)?.map(({ model }) => this.#aliases.resolve(model)) ?? [name];
    return models.every((model) => this.#winningRule(model) !== undefined);
  }

  /** The rule for a name: the first matching pattern, else the first host that lists the name. */
  #winningRule(name: string): { rule: Rule; deployments: readonly Deployment[] } | undefined {
    const rule = this.#rules.find(({ pattern }) => pattern.test(name));
    return rule ? { rule, deployments: rule.provider.deployments } : this.live.rulesOf(name)[0];
  }

  /**
   * The targets and fallbacks of a model name.
   * @throws GatewayError `not-found` (`model_not_found`) for a model that no provider serves
   */
  plan(model: string, clientFormat: string): Plan {
    const key = `${clientFormat}\n${model}`;
    const cached = this.#plans.get(key);
    if (cached) return cached;
    const plan = this.#plan(model, clientFormat);
    if (this.#plans.size >= MAX_PLANS) this.#plans.clear();
    this.#plans.set(key, plan);
    return plan;
  }

  /** Records that a host does not serve a format. Later calls use the next format of its provider, until a reload. */
  noteMissingFormat(deployment: Deployment, format: string): void {
    this.#formats.noteMissing(deployment, format);
    this.#plans.clear();
  }

  /** The first target of a plan, regardless of circuit breakers. @throws as {@link plan} */
  resolve(model: string, clientFormat: string): Target {
    return rank(this.plan(model, clientFormat).choices, () => "")[0]!.target;
  }

  #plan(model: string, clientFormat: string): Plan {
    const name = this.#aliases.resolve(model);
    const choices = this.#choices(name, clientFormat, name === model ? "" : `alias of ${name}; `);
    if (choices.length === 0) {
      const substitute = this.#substitute(name);
      if (!substitute)
        throw new GatewayError("not-found", this.#unknown(model, name), {
          code: "model_not_found",
          param: "model",
        });
      choices.push({ target: substitute, weight: 1, priority: [0, 0] });
    }
    const list = this.#fallbacksOf(model, name);
    const fallbacks = (when: Fallback["when"]) => {
      const models = (list?.models ?? []).filter((entry) => entry.when === when);
      return this.#fallbackChoices(models, `fallback of ${model}; `, clientFormat, choices);
    };
    return { choices, fallbacks: fallbacks("failed"), larger: fallbacks("too-long") };
  }

  /** The most specific list for the client's model name or for the name that its alias stands for. */
  #fallbacksOf(model: string, name: string): FallbackList | undefined {
    const exact = [model, name].flatMap((text) => this.#exactFallbacks.get(text) ?? []);
    const [first] = exact.sort((a, b) => bySpecificity(a.pattern, b.pattern));
    return first ?? this.#fallbackPatterns.find(({ pattern }) => pattern.test(model) || pattern.test(name));
  }

  /** The deployments of a model, or of all models of a route, without providers that are off. */
  #choices(name: string, clientFormat: string, prefix = ""): Choice[] {
    const route = this.routes.get(name);
    if (!route) return this.#deployments({ model: name, weight: 1, priority: 0 }, clientFormat, prefix);
    return route.flatMap((entry) =>
      this.#deployments(
        { ...entry, model: this.#aliases.resolve(entry.model) },
        clientFormat,
        `${prefix}route ${name} to ${entry.model}; `,
      ),
    );
  }

  #deployments({ model, weight, priority }: RouteTarget, clientFormat: string, prefix: string): Choice[] {
    const found = this.#winningRule(model);
    if (!found) return [];
    return found.deployments.map((deployment) => ({
      target: this.#formats.target(found.rule, deployment, model, clientFormat, prefix),
      weight: weight * deployment.weight,
      priority: [priority, deployment.priority],
    }));
  }

  /** The deployments of fallback models, without targets that the plan already has. */
  #fallbackChoices(
    models: readonly Fallback[],
    prefix: string,
    clientFormat: string,
    choices: readonly Choice[],
  ): Choice[][] {
    const known = new Set(choices.map(targetKey));
    const groups = models.map(({ model }) => {
      const all = this.#choices(this.#aliases.resolve(model), clientFormat, prefix);
      const added = all.filter((choice) => !known.has(targetKey(choice)));
      for (const choice of added) known.add(targetKey(choice));
      return added;
    });
    return groups.filter((group) => group.length > 0);
  }

  /** Whether no provider that is on serves a model. */
  isOff(name: string): boolean {
    const resolved = this.#aliases.resolve(name);
    return !this.routes.has(resolved) && !this.#winningRule(resolved);
  }

  /** Why no provider serves a model of the config; `undefined` if one does, or would if it were on. */
  faultOf(name: string): string | undefined {
    const resolved = this.#aliases.resolve(name);
    // While the config is checked, weir does not know yet which models the hosts will list.
    if (!this.live.isEmpty || !this.isOff(name) || this.#offProviderOf(resolved)) return undefined;
    return this.#unknown(name, resolved);
  }

  /** While only the mock is on, it answers for the models of known providers, so that a first try needs no key. */
  #substitute(name: string): Target | undefined {
    const provider = this.providers[0];
    if (!provider || this.providers.some(({ name: other }) => other !== MOCK_PROVIDER)) return undefined;
    const off = this.#offProviderOf(this.routes.get(name)?.[0]?.model ?? name);
    if (!off) return undefined;
    return {
      provider,
      deployment: provider.deployments[0]!,
      model: MOCK_MODEL,
      lane: "generated",
      format: "",
      url: "",
      reason: `no provider is configured; ${MOCK_PROVIDER} answers in place of ${off.provider.name}`,
      substitute: true,
    };
  }

  #offProviderOf(name: string): OffProvider | undefined {
    return this.#offPatterns.find(({ pattern }) => pattern.test(name))?.off;
  }

  #unknown(model: string, name: string): string {
    const off = this.#offProviderOf(this.routes.get(name)?.[0]?.model ?? name);
    if (off) return `The model \`${model}\` belongs to ${off.provider.name}, which is off: ${off.reason}.`;
    const names = this.providers.map((provider) => `${provider.name}/…`).join(", ");
    return `No provider serves the model \`${model}\`. Name one as provider/model (${names}), or see GET /v1/models.`;
  }

  /** The providers that match a name, in order of precedence; the first wins. For a route: the winner of each model. */
  explain(model: string): Candidate[] {
    const name = this.#aliases.resolve(model);
    const route = this.routes.get(name);
    const prefix = name === model ? "" : `alias of ${name}; `;
    if (!route) return this.#candidates(name, prefix);
    return route.flatMap((entry) =>
      this.#candidates(this.#aliases.resolve(entry.model), `${prefix}route ${name}; `).slice(0, 1),
    );
  }

  /** The provider that serves a name; for a route, the provider of the first model that has one. */
  #winner(model: string): ActiveProvider | undefined {
    const name = this.#aliases.resolve(model);
    const models = this.routes.get(name)?.map((entry) => this.#aliases.resolve(entry.model));
    for (const candidate of models ?? [name]) {
      const found = this.#winningRule(candidate);
      if (found) return found.rule.provider;
    }
    return undefined;
  }

  #candidates(name: string, prefix: string): Candidate[] {
    const matching = [
      ...this.#rules.filter((rule) => rule.pattern.test(name)),
      ...this.live.rulesOf(name).map(({ rule }) => rule),
    ];
    return matching.map((rule, index) => ({
      provider: rule.provider.name,
      pattern: rule.pattern.text,
      model: rule.pattern.strip(name),
      source: rule.provider.source,
      reason: `${prefix}${whyBefore(rule, matching[index + 1])}`,
      wins: index === 0,
    }));
  }

  /** The models of `GET /v1/models`, under names a client can use: routes, aliases, catalogs, model lists of hosts. */
  models(): ModelEntry[] {
    return [...this.eachModel()];
  }

  /** As {@link models}, one at a time: each takes a search through the rules. */
  *eachModel(): Generator<ModelEntry> {
    const seen = new Set<string>();
    for (const id of [...this.routes.keys(), ...this.#aliases.names]) {
      const winner = this.#winner(id);
      if (!winner || seen.has(id)) continue;
      seen.add(id);
      yield { id, provider: winner.name };
    }
    const listed = this.providers.flatMap((provider) =>
      (provider.catalog ?? []).map((model) => ({ provider, model })),
    );
    for (const { provider, model } of [...listed, ...this.live.all()]) {
      const isOwn = this.#winningRule(model)?.rule.provider === provider;
      const id = isOwn ? model : `${provider.name}/${model}`;
      if (seen.has(id)) continue;
      seen.add(id);
      yield { id, provider: provider.name };
    }
  }
}

function targetKey({ target: { deployment, model } }: Choice): string {
  return `${deployment.name} ${model}`;
}
