/** Plugins in, frozen lookup out: who can serve a model name, in which format, at which places, and who stands in. */
import { GatewayError } from "../../core/error.ts";
import type { Format } from "../../core/format.ts";
import type { ActiveProvider, Deployment, Provider, Target } from "../../core/provider.ts";
import type { ProviderSettings } from "../../core/settings.ts";
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
  /** Names of providers in the order of the config: the first that has a model wins it, where only its host lists it. */
  order?: readonly string[];
  /** Model name → the models that answer under it, as equals. */
  routes?: Readonly<Record<string, readonly RouteTarget[]>>;
  /** Model name or pattern → the models that stand in for it, in order; the most specific list holds. */
  fallbacks?: Readonly<Record<string, readonly StandIn[]>>;
}

/** A model that stands in for another: when that has failed, or when a prompt does not fit into it. */
export interface StandIn {
  model: string;
  when: "failed" | "too-long";
}

/** One of the models behind a route. */
export interface RouteTarget {
  model: string;
  weight: number;
  /** Lower ones are used first; the others when those have failed. */
  priority: number;
}

/** The models that stand in for those that fit a pattern. */
interface FallbackList {
  pattern: Pattern;
  models: readonly StandIn[];
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

/** The provider that answers when nothing else is configured. */
const EMBEDDED = "mock";
const MOCK_MODEL = "chat";
const REMEMBERED = 2000;

export class Registry {
  readonly providers: readonly ActiveProvider[];
  readonly off: readonly OffProvider[];
  readonly formats: ReadonlyMap<string, Format>;
  readonly #rules: readonly Rule[];
  readonly #aliases: Aliases;
  /** Names in front of the slash of `provider/model`. */
  readonly #providerNames: ReadonlySet<string>;
  readonly live: LiveModels;
  readonly routes: ReadonlyMap<string, readonly RouteTarget[]>;
  /** The most specific first. */
  readonly fallbacks: readonly FallbackList[];
  readonly #exactFallbacks: ReadonlyMap<string, FallbackList>;
  readonly #fallbackPatterns: readonly FallbackList[];
  readonly #offPatterns: readonly { pattern: Pattern; off: OffProvider }[];
  readonly #remembered = new Map<string, Plan>();
  readonly #spoken = new SpokenFormats();

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
      checkProvider(name, { ...provider, speaks }, source, this.formats);
      const switched = activate(provider, source, settings);
      if ("reason" in switched) off.push(switched);
      else active.push(switched);
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
    this.live = new LiveModels(active, options.order ?? [], () => this.#remembered.clear());
  }

  #namesProvider(name: string): boolean {
    const slash = name.indexOf("/");
    return slash > 0 && this.#providerNames.has(name.slice(0, slash));
  }

  /**
   * Waits for the model lists of hosts, a second at most, when nothing else knows a name; gives nothing, and so costs no
   * turn of the event loop, when something does.
   */
  prepare(model: string): Promise<void> | undefined {
    return this.live.isEmpty || this.#knows(this.#aliases.meant(model)) ? undefined : this.live.wait();
  }

  #knows(name: string): boolean {
    const models = this.routes.get(name)?.map(({ model }) => this.#aliases.meant(model)) ?? [name];
    return models.every((model) => this.#winningRule(model) !== undefined);
  }

  /** The rule that holds for a name; behind all patterns the first host that lists it. */
  #winningRule(name: string): { rule: Rule; deployments: readonly Deployment[] } | undefined {
    const rule = this.#rules.find(({ pattern }) => pattern.test(name));
    return rule ? { rule, deployments: rule.provider.deployments } : this.live.rulesOf(name)[0];
  }

  /**
   * Where a call may go, best first.
   * @throws GatewayError `not-found` (`model_not_found`) with what would help.
   */
  plan(model: string, clientFormat: string): Plan {
    const key = `${clientFormat}\n${model}`;
    const remembered = this.#remembered.get(key);
    if (remembered) return remembered;
    const plan = this.#plan(model, clientFormat);
    if (this.#remembered.size >= REMEMBERED) this.#remembered.clear();
    this.#remembered.set(key, plan);
    return plan;
  }

  /** Notes that a host does not speak a format: calls to come go there in the next one. Until the next reload. */
  noteLacking(deployment: Deployment, format: string): void {
    this.#spoken.noteLacking(deployment, format);
    this.#remembered.clear();
  }

  /** The first place of a plan, whatever is known of its health. @throws as {@link plan} */
  resolve(model: string, clientFormat: string): Target {
    return rank(this.plan(model, clientFormat).choices, () => "")[0]!.target;
  }

  #plan(model: string, clientFormat: string): Plan {
    const name = this.#aliases.meant(model);
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
    const fitting = this.#fallbacksOf(model, name);
    const standIns = (when: StandIn["when"]) => {
      const models = (fitting?.models ?? []).filter((entry) => entry.when === when);
      return this.#standIns(models, `fallback of ${model}; `, clientFormat, choices);
    };
    return { choices, fallbacks: standIns("failed"), larger: standIns("too-long") };
  }

  /** The most specific list for a name as the client wrote it, or as the alias means it. */
  #fallbacksOf(model: string, name: string): FallbackList | undefined {
    const exact = [model, name].flatMap((text) => this.#exactFallbacks.get(text) ?? []);
    const [first] = exact.sort((a, b) => bySpecificity(a.pattern, b.pattern));
    return first ?? this.#fallbackPatterns.find(({ pattern }) => pattern.test(model) || pattern.test(name));
  }

  /** The deployments of a model, or of all models of a route; those that are off are left out. */
  #choices(name: string, clientFormat: string, prefix = ""): Choice[] {
    const route = this.routes.get(name);
    if (!route) return this.#deployments({ model: name, weight: 1, priority: 0 }, clientFormat, prefix);
    return route.flatMap((entry) =>
      this.#deployments(
        { ...entry, model: this.#aliases.meant(entry.model) },
        clientFormat,
        `${prefix}route ${name} to ${entry.model}; `,
      ),
    );
  }

  #deployments({ model, weight, priority }: RouteTarget, clientFormat: string, prefix: string): Choice[] {
    const found = this.#winningRule(model);
    if (!found) return [];
    return found.deployments.map((deployment) => ({
      target: this.#spoken.target(found.rule, deployment, model, clientFormat, prefix),
      weight: weight * deployment.weight,
      priority: [priority, deployment.priority],
    }));
  }

  /** The places of other models, without those that are in use already. */
  #standIns(
    models: readonly StandIn[],
    prefix: string,
    clientFormat: string,
    choices: readonly Choice[],
  ): Choice[][] {
    const known = new Set(choices.map(placeOf));
    const groups = models.map(({ model }) => {
      const places = this.#choices(this.#aliases.meant(model), clientFormat, prefix);
      const left = places.filter((choice) => !known.has(placeOf(choice)));
      for (const choice of left) known.add(placeOf(choice));
      return left;
    });
    return groups.filter((group) => group.length > 0);
  }

  /** Whether a model belongs to providers that are off. */
  isOff(name: string): boolean {
    const meant = this.#aliases.meant(name);
    return !this.routes.has(meant) && !this.#winningRule(meant);
  }

  /** Why nobody serves a name of the config; `undefined` when somebody does, or would if it were on. */
  faultOf(name: string): string | undefined {
    const meant = this.#aliases.meant(name);
    // Which models hosts will list is not known when the config is checked.
    if (!this.live.isEmpty || !this.isOff(name) || this.#offProviderOf(meant)) return undefined;
    return this.#unknown(name, meant);
  }

  /** With nothing but the mock switched on, a name that a known provider would serve is answered by the mock. */
  #substitute(name: string): Target | undefined {
    const provider = this.providers[0];
    if (!provider || this.providers.some(({ name: other }) => other !== EMBEDDED)) return undefined;
    const wanted = this.#offProviderOf(this.routes.get(name)?.[0]?.model ?? name);
    if (!wanted) return undefined;
    return {
      provider,
      deployment: provider.deployments[0]!,
      model: MOCK_MODEL,
      lane: "generated",
      format: "",
      url: "",
      reason: `no provider is configured, so ${EMBEDDED} stands in for ${wanted.provider.name}`,
      substitute: true,
    };
  }

  #offProviderOf(name: string): OffProvider | undefined {
    return this.#offPatterns.find(({ pattern }) => pattern.test(name))?.off;
  }

  #unknown(model: string, name: string): string {
    const wanted = this.#offProviderOf(this.routes.get(name)?.[0]?.model ?? name);
    if (wanted)
      return `The model \`${model}\` belongs to ${wanted.provider.name}, which is off: ${wanted.reason}.`;
    const names = this.providers.map((provider) => `${provider.name}/…`).join(", ");
    return `No provider serves the model \`${model}\`. Name one as provider/model (${names}), or see GET /v1/models.`;
  }

  /** Everyone who could serve a name, in order of precedence; the first wins. Of a route, whoever wins each of its models. */
  explain(model: string): Candidate[] {
    const name = this.#aliases.meant(model);
    const route = this.routes.get(name);
    const prefix = name === model ? "" : `alias of ${name}; `;
    if (!route) return this.#candidates(name, prefix);
    return route.flatMap((entry) =>
      this.#candidates(this.#aliases.meant(entry.model), `${prefix}route ${name}; `).slice(0, 1),
    );
  }

  /** The provider that answers under a name; of a route, that of the first model with one. */
  #winner(model: string): ActiveProvider | undefined {
    const name = this.#aliases.meant(model);
    const models = this.routes.get(name)?.map((entry) => this.#aliases.meant(entry.model));
    for (const meant of models ?? [name]) {
      const found = this.#winningRule(meant);
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

  /** Names to list: routes, aliases, then what each provider's catalog names, as a client would write them. */
  models(): ModelEntry[] {
    const entries = new Map<string, string>();
    for (const name of [...this.routes.keys(), ...this.#aliases.names]) {
      const winner = this.#winner(name);
      if (winner) entries.set(name, winner.name);
    }
    const listed = this.providers.flatMap((provider) =>
      (provider.catalog ?? []).map((model) => ({ provider, model })),
    );
    for (const { provider, model } of [...listed, ...this.live.all()]) {
      const bare = this.#winningRule(model)?.rule.provider === provider;
      const id = bare ? model : `${provider.name}/${model}`;
      if (!entries.has(id)) entries.set(id, provider.name);
    }
    return [...entries].map(([id, provider]) => ({ id, provider }));
  }
}

function placeOf({ target: { deployment, model } }: Choice): string {
  return `${deployment.name} ${model}`;
}
