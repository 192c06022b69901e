/** What the part in the keeper gives to the operations of the admin API. */
import { Slot } from "../../core/slot.ts";
import type { SecretRow } from "./rows.ts";

export const secretRows = new Slot<() => readonly SecretRow[]>();
