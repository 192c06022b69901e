/** What the part in the keeper gives to the operations of the admin API. */
import { Slot } from "../../core/slot.ts";
import type { Rewrapped } from "../../keeper/seams.ts";
import type { SecretRow } from "./rows.ts";

/** Wraps what is sealed in the store with the key of now. */
export const rewrap = new Slot<() => Promise<Rewrapped>>();
export const secretRows = new Slot<() => readonly SecretRow[]>();
