/** Holds a call to some models, whatever plugins, fallbacks and budgets choose: nothing of it reaches another one. */
import type { Target } from "./provider.ts";

export interface Confinement {
  /** The model that serves the call, in place of the one that the client asked for. */
  readonly model: string;
  /** Who holds it, for the reason of its targets: `guard private`. */
  readonly by: string;
  /** Whether a target may get the request. */
  allows(target: Target): boolean;
}
