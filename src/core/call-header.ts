/** A header `x-weir-…` of calls that a feature declares. The description of the API has it. */
export interface CallHeader {
  readonly name: `x-weir-${string}`;
  /** What clients may send with a request for generation, and its effect. */
  readonly request?: {
    readonly description: string;
    /** Absent: any text. */
    readonly values?: readonly string[];
    /** The operations whose requests may have it. Default: `generate` alone. */
    readonly with?: readonly ("generate" | "compact" | "embeddings" | "kinds")[];
  };
  /** Its meaning in the answer to a call. */
  readonly answer?: string;
}
