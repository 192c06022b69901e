/** A price of the provider that follows from how a call reached it, and not from the counts of its answer. */
import { Slot } from "../core/slot.ts";
import type { Charge } from "./charge.ts";

/** Set on a call before its attempt is settled: makes the charge from the one at the ordinary price. */
export const repriced = new Slot<(charge: Charge) => Charge>();
