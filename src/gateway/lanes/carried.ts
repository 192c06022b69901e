/** Whether a carrier has taken an attempt: see carrier.ts, which knows more of the gateway. */
import { Slot } from "../../core/slot.ts";

/** Set on an attempt. */
export const isCarried = new Slot<true>();
