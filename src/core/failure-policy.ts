/** Policies by the cause of a failure: how often weir repeats a call, and when it skips a deployment. */

/**
 * Why an attempt failed. `connection`: no connection, or it broke before the answer. `timeout`: no connection or no answer in
 * time, 408, 504. `rateLimited`: 429. `overloaded`: 425, 503, 529. `serverError`: other errors of the provider, 409.
 * `invalidAnswer`: an answer that cannot be read. `authentication`: a refused credential, an account without funds.
 */
export type FailureCause =
  | "connection"
  | "timeout"
  | "rateLimited"
  | "overloaded"
  | "serverError"
  | "invalidAnswer"
  | "authentication";

/** A number for some causes. */
export type ByCause = Readonly<Partial<Record<FailureCause, number>>>;

/** The section `retries` of the config. */
export interface Retries {
  /** Maximum number of attempts of a call, the first one included. */
  attempts: number;
  /** Whether weir retries a request that a provider may have read. */
  maybeSent: boolean;
  /** How often weir repeats a call at the targets of its model after failures of a cause. Absent: as often as `attempts` allows. */
  policy?: ByCause;
}

/** The section `circuitBreaker` of the config. */
export interface CircuitBreakerOptions {
  /** `false`: weir skips no deployment. */
  enabled: boolean;
  /** Failures in a row after which weir skips a deployment. */
  failures: number;
  /** How long weir skips it at first, and at most. Each failed probe doubles the time. Milliseconds. */
  cooldownMs: number;
  longestCooldownMs: number;
  /** The same as `failures` for one cause, which then counts by itself. */
  policy?: ByCause;
}
