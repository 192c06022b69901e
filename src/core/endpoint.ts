/** Where the endpoints of a provider are: paths, and the values that fill them. */

/**
 * A path behind `baseUrl`. It may end in a query. `{model}` stands for the model name and `{region}` for the variable `region`;
 * weir percent-encodes both.
 */
export type SpokenPath = string | SpokenPaths;

/** A format that has several paths, or that a host speaks for some of its models only. */
export interface SpokenPaths {
  readonly json: string;
  /** Path of requests for streams. Default: `json`. */
  readonly stream?: string;
  /**
   * Globs over the provider's names of the models that the host serves in this format. Default: all. One that begins with `!`
   * excludes models: `["!claude-*"]` are all others.
   */
  readonly models?: readonly string[];
  /**
   * The host gets requests of the format's own clients alone, as they are: translated ones, and those that a plugin edits, take
   * another format. Default false.
   */
  readonly ownClientsOnly?: boolean;
  /** How the host spells the name of a model in this format. It must leave its own results unchanged. Default: as it is. */
  modelFor?(model: string): string;
}

/** A deployment before its first request. */
export interface Surroundings {
  /** Values of the provider's variables. */
  readonly variables: Readonly<Record<string, string>>;
  /** The environment of the process. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A value that the operator sets, for addresses, paths and `authorize`. Required, unless it has a default or is optional. */
export interface Variable {
  /** Environment variables, the first that is set counts. `variables` of the provider in the config overrides them. */
  env?: readonly string[];
  /**
   * Finds the value elsewhere, for example in a file of the vendor's tools, if neither the config nor a variable of `env` has it.
   * It reads files and sends nothing. @param known without the variables that have to be found
   */
  find?(known: Surroundings): string | undefined;
  default?: string;
  /** The provider works without a value, unless a path or the base URL in use contains the variable. */
  optional?: boolean;
  /** The meaning of the value, as the end of the sentence "set ACME_REGION to …": `the region, such as eu-west-1`. */
  describe: string;
}
