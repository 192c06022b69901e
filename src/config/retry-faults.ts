/** Numbers of retries and of the circuit breaker that contradict each other. */
import type { ByCause } from "../core/failure-policy.ts";
import { DEFAULT_CIRCUIT_BREAKER } from "../core/merge-policies.ts";
import type { Fault, Path } from "./error.ts";
import { DEFAULT_ATTEMPTS } from "./schema-retries.ts";

/** What the file says of one scope: of all calls, or of those for a model. */
export interface WrittenPolicies {
  retries?: { attempts?: number; policy?: ByCause };
  circuitBreaker?: { cooldownMs?: number; longestCooldownMs?: number };
}

/** @param common what holds where the scope says nothing */
export function retryFaults(base: Path, own: WrittenPolicies, common: WrittenPolicies = {}): Fault[] {
  const attempts = own.retries?.attempts ?? common.retries?.attempts ?? DEFAULT_ATTEMPTS;
  const tooMany = Object.entries(own.retries?.policy ?? {}).filter(([, most]) => most > attempts - 1);
  const { cooldownMs = DEFAULT_CIRCUIT_BREAKER.cooldownMs, longestCooldownMs: longest } = {
    longestCooldownMs: DEFAULT_CIRCUIT_BREAKER.longestCooldownMs,
    ...common.circuitBreaker,
    ...own.circuitBreaker,
  };
  const isWrong = own.circuitBreaker !== undefined && cooldownMs > longest;
  const option = own.circuitBreaker?.cooldownMs === undefined ? "longestCooldownMs" : "cooldownMs";
  return [
    ...tooMany.map(([cause, most]) => ({
      path: [...base, "retries", "policy", cause],
      clause: `${cause} is ${most}, but retries.attempts: ${attempts} allows ${attempts - 1}; set attempts to ${most + 1}`,
    })),
    ...(isWrong
      ? [
          {
            path: [...base, "circuitBreaker", option],
            clause: `cooldownMs (${cooldownMs}) is longer than longestCooldownMs (${longest})`,
          },
        ]
      : []),
  ];
}
