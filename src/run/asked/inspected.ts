/** The parts of a worker that the console may ask about. */
import type { Assembled } from "../assemble.ts";
import type { LoadedConfig, ValueOrigin } from "../../config/load.ts";
import type { Path } from "../../config/error.ts";
import type { Options } from "../../config/options.ts";
import type { Config } from "../../config/schema.ts";
import type { StoredModels } from "../stored-models.ts";
import type { Health } from "../../gateway/retry/health.ts";

/** Where the config comes from. */
export interface ConfigSources {
  env: Record<string, string | undefined>;
  /** The config file, and where each option comes from. */
  file?: string;
  sources?: Readonly<Record<string, ValueOrigin>>;
  /** The options of this build. Default: those of weir without features. */
  options?: Options;
  /** Position of a config path, for messages. */
  locate?(path: Path): string;
  /**
   * Reads the config as a reload would.
   * @param onFile called with the name of each file of it, also of a broken one
   * @throws Error with one sentence
   */
  reread?(onFile?: (name: string) => void): Promise<LoadedConfig>;
}

/** The parts that serve at the moment. */
export interface Inspected {
  settings: ConfigSources;
  config: Config;
  /** The config with the models of the store. */
  merged: Config;
  stored: StoredModels;
  /** The start, or the last reload. Milliseconds since 1970. */
  since: number;
  parts: Assembled;
  health: Health;
}
