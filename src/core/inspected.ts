/** Whether a part inspects what a caller sends, for parts whose traffic it cannot read. */
import type { Principal } from "./principal.ts";
import { Slot } from "./slot.ts";

/** On `offers` of a worker's host. Absent where no part inspects anything. */
export const inspectsCaller = new Slot<(principal: Principal | undefined) => boolean>();
