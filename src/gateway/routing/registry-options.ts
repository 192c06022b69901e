/** What a registry is made from. */
import type { EmbedDialect } from "../../core/embed-dialect.ts";
import type { Format } from "../../core/format.ts";
import type { Fallback, ModelSettings, RouteTarget, Strategy } from "../../core/settings.ts";
import type { Declared } from "./sort-providers.ts";

export interface RegistryOptions extends Declared {
  formats: readonly Format[];
  /** Dialects of embeddings. Absent where nothing is embedded: weir then does not check those that providers name. */
  dialects?: readonly EmbedDialect[];
  /** Model name or pattern → the name it stands for, often `provider/model`. */
  aliases?: Readonly<Record<string, string>>;
  /** Provider names in the order of the config: the first one wins a model that only model lists of hosts name. */
  order?: readonly string[];
  /** The config has gateway keys, so that the clients expect real answers. */
  keyed?: boolean;
  /** Model name → the models that serve it. */
  routes?: Readonly<Record<string, readonly RouteTarget[]>>;
  /** Model name or pattern → what decides between its targets; the most specific entry applies. */
  routing?: Readonly<Record<string, Strategy>>;
  /** Model name or pattern → what the operator sets for its requests; the most specific entry applies. */
  models?: Readonly<Record<string, ModelSettings>>;
  /** Model name or pattern → its fallback models, in order; the most specific entry applies. */
  fallbacks?: Readonly<Record<string, readonly Fallback[]>>;
}
