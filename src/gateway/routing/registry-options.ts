/** The parts of a registry. */
import type { EmbedDialect } from "../../core/embed-dialect.ts";
import type { KnownKind } from "../../core/model-kind.ts";
import type { Format } from "../../core/format.ts";
import type { NameOptions } from "./model-names.ts";
import type { Declared } from "./sort-providers.ts";

export interface RegistryOptions extends Declared, NameOptions {
  formats: readonly Format[];
  /** Dialects of embeddings. Absent where nothing is embedded: weir then does not check those that providers name. */
  dialects?: readonly EmbedDialect[];
  /** What models do besides. Absent: nothing. */
  kinds?: readonly KnownKind[];
  /** Provider names in the order of the config: the first one wins a model that only model lists of hosts name. */
  order?: readonly string[];
  /** The config has gateway keys, so that the clients expect real answers. */
  keyed?: boolean;
}
