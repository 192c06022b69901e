/**
 * A loss: one thing of a request that was not carried over as it was. It is said in the header `x-weir-warnings`, in the
 * log line and by `weir explain`; with `x-weir-strict: true` it becomes a 400 that names it.
 */
export interface Loss {
  code: LossCode;
  /** JSON path in the client's request (`logit_bias`, `messages[3].content[1]`). Never a value. */
  path: string;
  /** What was done instead, for `weir explain` and the log; no values of the request. */
  note?: string;
}

export type LossCode =
  | "dropped"
  | "clamped"
  | "downgraded"
  | "converted"
  | "repaired"
  | "synthesized"
  /** Another model or provider answers than the name says. */
  | "substituted";

/** At most this many losses are listed in the header. */
const LISTED = 20;

/** The value of `x-weir-warnings`: `code:path, code:path`, ASCII, at most 20 entries. */
export function writeLosses(losses: readonly Loss[]): string {
  return losses
    .slice(0, LISTED)
    .map((loss) => `${loss.code}:${loss.path.replace(/[^\x21-\x2b\x2d-\x7e]/g, "?")}`)
    .join(", ");
}
