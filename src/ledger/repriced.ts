/** A price of the provider that follows from how an attempt reached it, and not from the counts of its answer. */
import { Slot } from "../core/slot.ts";
import type { Charge } from "./charge.ts";

/** Set on an attempt before it is settled: makes the charge from the one at the ordinary price. */
export const repriced = new Slot<(charge: Charge) => Charge>();
