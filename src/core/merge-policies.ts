/** Policies of the gateway with those of a model, and their defaults. */
import type { CircuitBreakerOptions, FailureCause, Retries } from "./failure-policy.ts";

const FAILURE_CAUSES: readonly FailureCause[] = [
  "connection",
  "timeout",
  "rateLimited",
  "overloaded",
  "serverError",
  "invalidAnswer",
  "authentication",
];

export const DEFAULT_CIRCUIT_BREAKER: CircuitBreakerOptions = {
  enabled: true,
  failures: 3,
  cooldownMs: 5_000,
  longestCooldownMs: 300_000,
};

/** Retries of a model, with those of the gateway where it says nothing. */
export function mergeRetries(common: Retries, own: Partial<Retries> | undefined): Retries {
  return own ? { ...common, ...own, policy: { ...common.policy, ...own.policy } } : common;
}

/** How often weir repeats a call at most after failures of each cause. */
export function repeatsByCause({ attempts, policy = {} }: Retries): Record<FailureCause, number> {
  const entries = FAILURE_CAUSES.map((cause) => [cause, Math.min(policy[cause] ?? Infinity, attempts - 1)]);
  return Object.fromEntries(entries) as Record<FailureCause, number>;
}

/** Options of a model, with those of its deployment where it says nothing. */
export function mergeBreaker(
  common: CircuitBreakerOptions = DEFAULT_CIRCUIT_BREAKER,
  own: Partial<CircuitBreakerOptions>,
): CircuitBreakerOptions {
  return { ...common, ...own, policy: { ...common.policy, ...own.policy } };
}
