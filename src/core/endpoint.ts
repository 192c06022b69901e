/** Where the endpoints of a provider are: paths, and the values that fill them. */

/**
 * A path behind `baseUrl`, or two if the host has a path of its own for streams. It may end in a query. `{model}` stands for the
 * model name and `{region}` for the variable `region`; weir percent-encodes both.
 */
export type SpokenPath = string | { readonly json: string; readonly stream: string };

/** A value that the operator sets, for addresses, paths and `authorize`. Required, unless it has a default. */
export interface Variable {
  /** Environment variables, the first that is set counts. `variables` of the provider in the config overrides them. */
  env?: readonly string[];
  default?: string;
  /** What the value is, as the end of the sentence "set ACME_REGION to …": `the region, such as eu-west-1`. */
  describe: string;
}
