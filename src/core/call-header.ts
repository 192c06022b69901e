/** A header `x-weir-…` of calls that a feature declares. The description of the API has it. */
export interface CallHeader {
  readonly name: `x-weir-${string}`;
  /** The values that clients may send with a request for generation, and their effect. */
  readonly request?: { readonly description: string; readonly values: readonly string[] };
  /** Its meaning in the answer to a call. */
  readonly answer?: string;
}
