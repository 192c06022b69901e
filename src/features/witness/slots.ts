/** What the part in the keeper gives to the operations of the admin API. */
import { Slot } from "../../core/slot.ts";
import type { LookBound } from "./messages.ts";
import type { Observation } from "./observation.ts";

export interface OfferedWitness {
  /** Models of the config; undefined without a worker. */
  models(): readonly string[] | undefined;
  /** @throws Error with a sentence */
  bound(models: readonly string[]): Promise<LookBound>;
  /** Looks once, and writes what it saw. @throws Error with a sentence */
  look(models: readonly string[]): Promise<readonly Observation[]>;
}

export const witnessPart = new Slot<OfferedWitness>();
