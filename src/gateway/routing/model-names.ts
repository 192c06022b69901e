/** The operator's settings by the names of models: aliases, routes, fallbacks, settings of requests, strategies. */
import type { Fallback, ModelSettings, RouteTarget, Strategy } from "../../core/settings.ts";
import { Aliases, type Naming } from "./aliases.ts";
import { ModelTable } from "./model-table.ts";

export interface NameOptions {
  /** Model name or pattern → the name it stands for, often `provider/model`. */
  aliases?: Readonly<Record<string, string>>;
  /** Model name → the models that serve it. */
  routes?: Readonly<Record<string, readonly RouteTarget[]>>;
  /** Model name or pattern → what decides between its targets; the most specific entry applies. */
  routing?: Readonly<Record<string, Strategy>>;
  /** Model name or pattern → what the operator sets for its requests; the most specific entry applies. */
  models?: Readonly<Record<string, ModelSettings>>;
  /** Model name or pattern → its fallback models, in order; the most specific entry applies. */
  fallbacks?: Readonly<Record<string, readonly Fallback[]>>;
}

export class ModelNames {
  readonly aliases: Aliases;
  readonly routes: ReadonlyMap<string, readonly RouteTarget[]>;
  readonly fallbacks: ModelTable<readonly Fallback[]>;
  readonly settings: ModelTable<ModelSettings>;
  readonly routing: ModelTable<Strategy>;

  /** @throws Error when an alias points at another alias */
  constructor(options: NameOptions, naming: Omit<Naming, "isRoute">) {
    this.routes = new Map(Object.entries(options.routes ?? {}));
    this.aliases = new Aliases(options.aliases ?? {}, {
      ...naming,
      isRoute: (name) => this.routes.has(name),
    });
    this.fallbacks = new ModelTable(options.fallbacks ?? {});
    this.settings = new ModelTable(options.models ?? {});
    this.routing = new ModelTable(options.routing ?? {});
  }
}

/** The names of models that a store adds, as far as they are known. */
export interface StoredNames {
  /** Resolves when they are known, or will not be in time; absent while there is nothing to wait for. */
  readonly pending: Promise<void> | undefined;
  /** The answer for a name that nothing serves while they are not known. */
  readonly fault: Error | undefined;
}
