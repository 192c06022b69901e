/**
 * The models that were added at run time, in a worker: merged with those of the config, they replace what the registry knows by
 * names. Plugins, providers, breakers and lists of hosts stay as they are.
 */
import { namesOf, readFacts, type Assembled } from "./assemble.ts";
import type { Path } from "../config/error.ts";
import type { Config } from "../config/schema.ts";
import { mergeStored, modelsOf, pathOfName, writeFault } from "../config/stored-models.ts";
import { writePath } from "../core/path.ts";
import type { BooksDown, ModelCheck, ModelState } from "../ledger/messages.ts";
import type { StoredModel } from "../ledger/policy.ts";
import { policyUnknown } from "../ledger/worker/refusal.ts";
import type { StoredNames } from "../gateway/routing/model-names.ts";

/** Longest wait of calls for the first list of the keeper. Milliseconds. */
const WAIT_MS = 2_000;

/** The config that serves, and where it is written. */
export interface ServedConfig {
  config: Config;
  parts: Pick<Assembled, "registry" | "catalog"> & Partial<Pick<Assembled, "modelsChanged">>;
  locate?(path: Path): string;
}

export interface StoredModelsOptions {
  /** Models may be stored: calls wait until it is known which. */
  awaits: boolean;
  /** Called after each change of the list. */
  onChange(): void;
  /** Gets a sentence for each model that does not serve, once. */
  report(sentence: string): void;
}

export class StoredModels implements StoredNames {
  readonly #options: StoredModelsOptions;
  readonly #known = Promise.withResolvers<void>();
  readonly #models = new Map<string, StoredModel>();
  #awaits: boolean;
  #waiting: Promise<void> | undefined;
  #isLate = false;
  /** Registries that have had names of the store. */
  readonly #renamed = new WeakSet<object>();
  #states: readonly ModelState[] = [];
  #told: ReadonlySet<string> = new Set();

  constructor(options: StoredModelsOptions) {
    this.#options = options;
    this.#awaits = options.awaits;
  }

  get pending(): Promise<void> | undefined {
    if (!this.#awaits) return undefined;
    return (this.#waiting ??= this.#wait());
  }

  get fault() {
    return this.#isLate ? policyUnknown() : undefined;
  }

  get states(): readonly ModelState[] {
    return this.#states;
  }

  /** Takes the list of the keeper over. Messages about other things are ignored. */
  receive(message: BooksDown): void {
    if (message.kind === "policy") {
      const { models = [] } = message.policy;
      const isSame = models.length === 0 && this.#models.size === 0;
      this.#models.clear();
      for (const model of models) this.#models.set(model.id, model);
      if (!isSame) this.#options.onChange();
      this.#awaits = this.#isLate = false;
      this.#known.resolve();
    } else if (message.kind === "changes") {
      const { upserts, removed } = message;
      const gone = removed.filter((id) => this.#models.delete(id));
      for (const model of upserts.models ?? []) this.#models.set(model.id, model);
      if (gone.length > 0 || upserts.models) this.#options.onChange();
    }
  }

  /**
   * Makes the registry serve the models of a config and of the store.
   * @returns the config with what the store adds
   */
  apply({ config, parts: { registry, catalog, modelsChanged }, locate }: ServedConfig): Config {
    if (this.#models.size === 0 && !this.#renamed.has(registry)) return config;
    this.#renamed.add(registry);
    const states = new Map<string, ModelState>();
    const free: StoredModel[] = [];
    // In the same order in each worker, because of two entries that exclude each other the first one serves.
    for (const model of [...this.#models.values()].sort((a, b) => (a.id < b.id ? -1 : 1))) {
      const { name, damage } = model;
      const path = pathOfName(config, name);
      if (damage !== undefined) states.set(name, { name, state: "damaged", why: `${damage}.` });
      else if (path) states.set(name, { name, state: "shadowed", why: shadowedBy(path, locate) });
      else free.push(model);
    }
    const merged = mergeStored(config, free);
    for (const [name, fault] of merged.refused)
      states.set(name, { name, state: "refused", why: `${writeFault(fault)}.` });
    registry.rename(namesOf(merged.config));
    for (const { name, spec } of merged.accepted) {
      const reasons = modelsOf({ name, spec }).flatMap(({ model }) => registry.whyUnserved(model) ?? []);
      states.set(
        name,
        reasons[0] === undefined ? { name, state: "serving" } : { name, state: "unserved", why: reasons[0] },
      );
    }
    catalog.renew(() => readFacts(merged.config));
    modelsChanged?.();
    this.#states = [...states.values()];
    this.#report();
    return merged.config;
  }

  #report(): void {
    const sentences = this.#states.flatMap(({ name, state, why }) =>
      why === undefined ? [] : [`the stored model ${name} ${WORDS[state]}: ${why}`],
    );
    for (const sentence of sentences) if (!this.#told.has(sentence)) this.#options.report(sentence);
    this.#told = new Set(sentences);
  }

  /** Whether the config permits a model, with all others that are stored. */
  check(model: StoredModel, { config, parts: { registry }, locate }: ServedConfig): ModelCheck {
    const path = pathOfName(config, model.name);
    if (path) return { declared: placeOf(path, locate) };
    const usable = [...this.#models.values()].filter(
      ({ id, name, damage }) => id !== model.id && damage === undefined && !pathOfName(config, name),
    );
    const others = mergeStored(config, usable).accepted;
    const { refused } = mergeStored(config, [...others, model]);
    const fault = refused.get(model.name);
    if (fault) return { fault };
    const models = modelsOf(model);
    for (const { path: at, model: named } of models) {
      const clause = registry.faultOf(named)?.replace(/\.$/, "");
      if (clause !== undefined) return { fault: { path: at, clause } };
    }
    return { warnings: models.flatMap(({ model: named }) => registry.whyUnserved(named) ?? []) };
  }

  async #wait(): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, WAIT_MS);
    await Promise.race([this.#known.promise, late]);
    clearTimeout(timer);
    if (!this.#awaits) return;
    this.#awaits = false;
    this.#isLate = true;
  }
}

const WORDS: Readonly<Record<ModelState["state"], string>> = {
  serving: "serves",
  shadowed: "is not used",
  unserved: "is not served",
  refused: "is not used",
  damaged: "is not used",
};

function placeOf(path: Path, locate: ServedConfig["locate"]): string {
  const at = locate?.(path);
  return at === undefined ? writePath(path) : `${at} (${writePath(path)})`;
}

function shadowedBy(path: Path, locate: ServedConfig["locate"]): string {
  return `the name is defined at ${placeOf(path, locate)}, and the config file precedes the store.`;
}
