/** A worker's report on providers and on its circuit breakers. Plain JSON. Times are milliseconds since 1970. */

export interface ProviderFacts {
  providers: readonly ProviderFact[];
  /** Circuit breakers that are not closed. */
  breakers: readonly BreakerFact[];
}

export interface ProviderFact {
  name: string;
  /** `built-in`, `config`, or the file of a plugin. */
  source: string;
  formats: readonly string[];
  /** The model names that it serves. */
  patterns: readonly string[];
  on: boolean;
  /** Why it is off. */
  why?: string;
  /** The variable that would have its key. */
  keyVariable?: string;
  deployments: readonly DeploymentFact[];
}

export interface DeploymentFact {
  name: string;
  /** Its origin; empty for a program. */
  url: string;
  weight: number;
  priority: number;
  maxConcurrency?: number;
  keyVariable?: string;
}

export interface BreakerFact {
  deployment: string;
  model: string;
  state: "failing" | "paused" | "half-open";
  since: number;
  until: number;
  reason?: string;
}
