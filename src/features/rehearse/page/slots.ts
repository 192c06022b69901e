/** What the part in the keeper gives to the operations of the admin API. */
import { Slot } from "../../../core/slot.ts";

export interface Rehearsals {
  /** The state folder with the outlines; absent if everything stays in memory. */
  readonly folder: string | undefined;
  /** One rehearsal runs at a time. */
  isRunning: boolean;
  /** Lines of files of outlines by name, as long as they have this size. */
  readonly counted: Map<string, { readonly bytes: number; readonly lines: number }>;
}

export const rehearsals = new Slot<Rehearsals>();
