/** What weir does with tools that are new or have changed. */
import type { Principal } from "../../../core/principal.ts";

/** It hides them, it shows and logs them, or it does not look. */
export const PIN_MODES = ["approve", "warn", "off"] as const;
export type PinMode = (typeof PIN_MODES)[number];

/** The mode for one caller: while calls need no key, there may be no operator to approve. @param pin option of the config */
export function pinModeFor(pin: PinMode | undefined, principal: Principal | undefined): PinMode {
  return pin ?? (principal ? "approve" : "off");
}
