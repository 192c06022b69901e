/** A header `x-weir-…` of calls that a feature declares. The description of the API has it. */
export interface CallHeader {
  readonly name: `x-weir-${string}`;
  /** The values that clients may send with a request for generation, and their effect. */
  readonly request?: {
    readonly description: string;
    readonly values: readonly string[];
    /** The operations whose requests may have it. Default: `generate` alone. */
    readonly with?: readonly ("generate" | "compact" | "embeddings")[];
  };
  /** Its meaning in the answer to a call. */
  readonly answer?: string;
}
