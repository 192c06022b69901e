/**
 * A part of the request that weir could not translate unchanged. weir reports it in the header `x-weir-warnings`,
 * in the log and in `weir explain`; with `x-weir-strict: true` it answers 400 and names the part.
 */
export interface Loss {
  code: LossCode;
  /** JSON path in the client's request (`logit_bias`, `messages[3].content[1]`). Never a value. */
  path: string;
  /** weir's action instead, for `weir explain` and the log. Never contains values of the request. */
  note?: string;
}

export type LossCode =
  | "dropped"
  | "clamped"
  | "downgraded"
  | "converted"
  | "repaired"
  | "synthesized"
  /** A member that weir does not know, which the provider does not get. */
  | "unknown"
  /** Another model or provider answers than the model name selects. */
  | "substituted";

/** A member of a request that a translation leaves out. */
export interface LeftOut {
  /** `unknown`: weir does not know the member; `dropped`: it knows it, and the provider has no such member. */
  loss: "unknown" | "dropped";
  /** JSON path in the client's request. */
  path: string;
}
