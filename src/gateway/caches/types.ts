/** What the gateway shares of cached content, in a file of its own to avoid import circles. */
import type { Plan } from "../routing/plan.ts";

/** The cached content of a call. */
export interface CachedPrompt {
  /** Tokens of it: the request has them beside its own. */
  readonly tokens: number;
  /** The part of a plan that may serve the call. @throws GatewayError if no target of it has the content */
  narrow(plan: Plan): Plan;
}
