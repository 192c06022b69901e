/** Resolves a model name to a plan: the provider, format and deployments that serve it, and its fallbacks. */
import { GatewayError } from "../../core/error.ts";
import type { EmbedDialect } from "../../core/embed-dialect.ts";
import type { KnownKind } from "../../core/model-kind.ts";
import type { Format } from "../../core/format.ts";
import type { ActiveProvider, Deployment, Provider, Target } from "../../core/provider.ts";
import type { Fallback, ModelSettings, RouteTarget, Strategy } from "../../core/settings.ts";
import type { LoadedPlugin, OffProvider } from "./activate.ts";
import { guardsOf } from "./plugin-guards.ts";
import { sortProviders } from "./sort-providers.ts";
import { listModels, type ModelEntry, type ServedModel } from "./list-models.ts";
import { LiveModels } from "./live-models.ts";
import type { Candidate, Rule, ServingRule } from "./rules.ts";
import { candidatesOf, longNameBy, modelFault, rulesOf, servingDeployments } from "./rules.ts";
import { taskFault, taskOfOperation } from "./tasks.ts";
import { type Choice, type Plan, rank } from "./plan.ts";
import { targetFor } from "./target-for.ts";
import { isUnconfigured, mockModel, offProviderOf, standIn } from "./stand-in.ts";
import type { RegistryOptions } from "./registry-options.ts";
import { type ModelTable, orderedBy, withSettings } from "./model-table.ts";
import { ModelNames, type NameOptions, type StoredNames } from "./model-names.ts";
import { SpokenFormats } from "./spoken-formats.ts";

export type { LoadedPlugin, OffProvider } from "./activate.ts";
export type { ModelEntry, ServedModel } from "./list-models.ts";
export type { RegistryOptions } from "./registry-options.ts";

/** The operation that a client asks a model for: `generate`, `embed`, or the id of a kind. */
export type Operation = string;

/** The operation of a request, and the format or dialect that it is written in. */
interface Wanted {
  operation: Operation;
  format: string;
  /** The name that the client or a plugin asks for. */
  asked: string;
}

/** Clients choose the model names, so the number of cached plans is limited. */
const MAX_PLANS = 2000;

export class Registry {
  readonly providers: readonly ActiveProvider[];
  readonly off: readonly OffProvider[];
  /** Only the mock is on, and the operator has named no provider, alias, route or fallback. */
  isUnconfigured!: boolean;
  readonly formats: ReadonlyMap<string, Format>;
  readonly dialects: ReadonlyMap<string, EmbedDialect>;
  readonly kinds: ReadonlyMap<string, KnownKind>;
  /** Judges of texts that plugins bring, by their names. */
  readonly guards: ReturnType<typeof guardsOf>;
  readonly #rules: readonly Rule[];
  readonly #isKeyed: boolean;
  /** Providers that are on or off: the names that may precede the slash of `provider/model`. */
  readonly #providerNames: ReadonlySet<string>;
  readonly live: LiveModels;
  readonly #order: readonly string[];
  /** The operator's settings by names. */
  names!: ModelNames;
  #renamed = 0;
  /** Set for a gateway with a store. */
  stored: StoredNames | undefined;
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
    this.guards = guardsOf(options.plugins);
    this.dialects = new Map((options.dialects ?? []).map((dialect) => [dialect.id, dialect]));
    this.kinds = new Map((options.kinds ?? []).map((kind) => [kind.id, kind]));
    this.#isKeyed = options.keyed === true;
    this.#order = options.order ?? [];
    const { active, off } = sortProviders(options, this.formats, {
      dialects: options.dialects && this.dialects,
      kinds: this.kinds,
    });
    this.providers = Object.freeze(active);
    this.off = Object.freeze(off);
    this.#rules = rulesOf(active);
    this.#providerNames = new Set([
      ...active.map(({ name }) => name),
      ...off.map(({ provider }) => provider.name),
    ]);
    this.live = new LiveModels(active, this.#order, this.formats, () => this.#plans.clear());
    this.rename(options);
  }

  /** Replaces what the operator sets by names, for later calls. @throws Error when an alias points at another alias */
  rename(names: NameOptions): void {
    this.names = new ModelNames(names, {
      hasProvider: (name) => this.#namesProvider(name),
      longName: (name) => longNameBy(this.#winningRule(name)?.rule, name),
    });
    this.isUnconfigured = isUnconfigured(this.providers, this.off, { ...names, order: this.#order });
    this.#plans.clear();
    this.#renamed++;
  }

  /** Counts the changes of names and of the lists of hosts. */
  get revision(): number {
    return this.live.revision + this.#renamed;
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
    const pending = this.stored?.pending;
    if (pending) return pending.then(() => this.prepare(model));
    return this.live.isEmpty || this.#knows(this.#resolve(model)) ? undefined : this.live.wait();
  }

  /** Waits until the names of the store and the lists of hosts are known, at most some seconds. */
  async settled(): Promise<void> {
    await this.stored?.pending;
    await this.live.wait();
  }

  /** The model name that an alias stands for; the name itself if it is no alias. */
  #resolve(name: string): string {
    return this.names.aliases.resolve(name);
  }

  #knows(name: string): boolean {
    const models = this.names.routes.get(name)?.map(({ model }) => this.#resolve(model)) ?? [name];
    return models.every((model) => this.#winningRule(model) !== undefined);
  }

  /** The rule for a name: the first matching pattern, else the first host that lists the name. */
  #winningRule(name: string): ServingRule | undefined {
    const rule = this.#rules.find(({ pattern }) => pattern.test(name));
    return rule ? { rule, deployments: rule.provider.deployments } : this.live.rulesOf(name)[0];
  }

  /**
   * The targets and fallbacks of a model name. Embeddings have no fallbacks: the vectors of two models cannot be compared.
   * @param format of the client, for embeddings and kinds its dialect
   * @throws GatewayError `not-found` (`model_not_found`) for a model that no provider serves
   */
  plan(model: string, format: string, operation: Operation = "generate"): Plan {
    const key = `${operation} ${format}\n${model}`;
    const cached = this.#plans.get(key);
    if (cached) return cached;
    const plan = this.#plan(model, { operation, format, asked: model });
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
  resolve(model: string, clientFormat: string, operation?: Operation): Target {
    return rank(this.plan(model, clientFormat, operation).choices, () => "")[0]!.target;
  }

  #plan(model: string, wanted: Wanted): Plan {
    const name = this.#resolve(model);
    const choices = this.#choices(name, wanted, name === model ? "" : `alias of ${name}; `);
    if (choices.length === 0) {
      const substitute = this.#substitute(name, wanted.operation);
      if (!substitute)
        throw (
          this.stored?.fault ??
          new GatewayError("not-found", this.#unserved(model, name, wanted), {
            code: "model_not_found",
            param: "model",
          })
        );
      choices.push({ target: substitute, weight: 1, priority: [0, 0] });
    }
    // A route has no names but its own: its models may have fallbacks of their own.
    const named = this.names.routes.has(name) ? [] : choices.map(({ target }) => target);
    const list = wanted.operation === "embed" ? undefined : this.names.fallbacks.of([model, name], named);
    const fallbacks = (when: Fallback["when"]) => {
      const models = (list ?? []).filter((entry) => entry.when === when);
      return this.#fallbackChoices(models, `fallback of ${model}; `, wanted, choices);
    };
    return {
      choices: this.#complete(choices, wanted, [model, name]),
      fallbacks: fallbacks("failed"),
      larger: fallbacks("too-long"),
    };
  }

  /** The deployments of a model, or of all models of a route, without providers that are off. */
  #choices(name: string, wanted: Wanted, prefix = ""): Choice[] {
    const route = this.names.routes.get(name);
    if (!route) return this.#deployments({ model: name, weight: 1, priority: 0 }, wanted, prefix);
    return route.flatMap((entry) =>
      this.#deployments(
        { ...entry, model: this.#resolve(entry.model) },
        wanted,
        `${prefix}route ${name} to ${entry.model}; `,
      ),
    );
  }

  /** None if the provider of the model does not serve the operation. */
  #deployments({ model, weight, priority }: RouteTarget, wanted: Wanted, prefix: string): Choice[] {
    const found = this.#winningRule(model);
    if (!found) return [];
    const known = { formats: this.#formats, kinds: this.kinds };
    return servingDeployments(found, model).flatMap((deployment) => {
      const target = targetFor(known, found.rule, deployment, { ...wanted, model, prefix });
      if (!target) return [];
      return {
        target: { ...target, asked: wanted.asked },
        weight: weight * deployment.weight,
        priority: [priority, deployment.priority],
      };
    });
  }

  /** The deployments of fallback models, without targets that the plan already has. */
  #fallbackChoices(
    models: readonly Fallback[],
    prefix: string,
    wanted: Wanted,
    choices: readonly Choice[],
  ): Choice[][] {
    const known = new Set(choices.map(targetKey));
    const groups = models.map(({ model }) => {
      const all = this.#choices(this.#resolve(model), wanted, prefix);
      const added = all.filter((choice) => !known.has(targetKey(choice)));
      for (const choice of added) known.add(targetKey(choice));
      const named = added.map((choice) => ({ ...choice, fallback: model }));
      return this.#complete(named, wanted, [model, this.#resolve(model)]);
    });
    return groups.filter((group) => group.length > 0);
  }

  /** The choices with what the config sets for their model. Only requests for text have settings. */
  #complete(choices: Choice[], { operation }: Wanted, names: readonly [model: string, resolved: string]) {
    const settings = operation === "generate" ? this.names.settings : undefined;
    return orderedBy(withSettings(choices, settings, names), this.strategyOf(names[0]));
  }

  /** The routing strategy between the targets of a model or route. */
  strategyOf(model: string): Strategy {
    return this.#entryOf(this.names.routing, model) ?? "weight";
  }

  /** The operator's settings for requests that ask for a model. */
  settingsOf(model: string): ModelSettings | undefined {
    return this.#entryOf(this.names.settings, model);
  }

  /** A route has the entries of its own name, not those of its models. */
  #entryOf<Value>(table: ModelTable<Value>, model: string): Value | undefined {
    if (table.all.length === 0) return undefined;
    const name = this.#resolve(model);
    return table.of([model, name], this.names.routes.has(name) ? [] : this.servedBy(model));
  }

  /** Whether no provider that is on serves a model. */
  isOff(name: string): boolean {
    const resolved = this.#resolve(name);
    return !this.names.routes.has(resolved) && !this.#winningRule(resolved);
  }

  /** Why no provider serves a model of the config; `undefined` if one does, or would if it were on. */
  faultOf(name: string): string | undefined {
    const resolved = this.#resolve(name);
    // While the config is checked, weir does not know yet which models the hosts will list.
    const fault = modelFault(this.#winningRule(resolved), resolved);
    if (fault !== undefined) return fault;
    if (!this.live.isEmpty || !this.isOff(name) || offProviderOf(this.off, resolved)) return undefined;
    return this.#unknown(name, resolved);
  }

  /** Why no provider serves a model at the moment; `undefined` if one does. */
  whyUnserved(name: string): string | undefined {
    const resolved = this.#resolve(name);
    const fault = modelFault(this.#winningRule(resolved), resolved);
    return fault ?? (this.isOff(name) ? this.#unknown(name, resolved) : undefined);
  }

  /** While nothing is configured, the mock answers for the models of known providers, so that a first try needs no key. */
  #substitute(name: string, operation: Operation): Target | undefined {
    const [mock] = this.providers;
    const off = this.isUnconfigured && !this.#isKeyed && offProviderOf(this.off, name);
    return mock && off ? standIn(mock, off, mockModel(operation, this.kinds)) : undefined;
  }

  #unserved(asked: string, name: string, { operation, format }: Wanted): string {
    const [served] = this.servedBy(asked);
    if (!served) return this.#unknown(asked, name);
    const want = { ...served, name: asked, task: taskOfOperation(operation), dialect: format };
    return modelFault(this.#winningRule(name), name) ?? taskFault(want, this);
  }

  #unknown(model: string, name: string): string {
    const off = offProviderOf(this.off, this.names.routes.get(name)?.[0]?.model ?? name);
    if (off) return `The model \`${model}\` belongs to ${off.provider.name}, which is off: ${off.reason}.`;
    const names = this.providers.map((provider) => `${provider.name}/…`).join(", ");
    const meaning = name === model ? "" : `, for which \`${model}\` stands`;
    return `No provider serves the model \`${name}\`${meaning}. Name one as provider/model (${names}), or see GET /v1/models.`;
  }

  /** The providers that match a name, in order of precedence; the first wins. For a route: the winner of each model. */
  explain(model: string): Candidate[] {
    const name = this.#resolve(model);
    const route = this.names.routes.get(name);
    const prefix = name === model ? "" : `alias of ${name}; `;
    if (!route) return this.#candidates(name, prefix);
    return route.flatMap((entry) =>
      this.#candidates(this.#resolve(entry.model), `${prefix}route ${name}; `).slice(0, 1),
    );
  }

  /** The models that serve a name, as their providers name them; for a route, those of all its models. */
  servedBy(model: string): ServedModel[] {
    const name = this.#resolve(model);
    const models = this.names.routes.get(name)?.map((entry) => this.#resolve(entry.model)) ?? [name];
    return models.flatMap((candidate) => {
      const rule = this.#winningRule(candidate)?.rule;
      return rule ? [{ provider: rule.provider, model: rule.pattern.strip(candidate) }] : [];
    });
  }

  #candidates(name: string, prefix: string): Candidate[] {
    const matching = [
      ...this.#rules.filter((rule) => rule.pattern.test(name)),
      ...this.live.rulesOf(name).map(({ rule }) => rule),
    ];
    return candidatesOf(matching, name, prefix);
  }

  /** As {@link eachModel}. */
  models(): ModelEntry[] {
    return [...this.eachModel()];
  }

  /** The models of `GET /v1/models`, one at a time, because each takes a search through the rules. */
  *eachModel(): Generator<ModelEntry> {
    yield* listModels(this, (provider, model) => this.#winningRule(model)?.rule.provider === provider);
  }
}

function targetKey({ target: { deployment, model } }: Choice): string {
  return `${deployment.name} ${model}`;
}
