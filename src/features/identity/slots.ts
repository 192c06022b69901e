/** What the part in the keeper gives to the operations of the admin API. */
import { Slot } from "../../core/slot.ts";
import type { PeopleBook } from "./people-book.ts";

export interface OfferedPart {
  /** Loads the code that changes people. */
  book(): Promise<PeopleBook>;
}

export const keeperPart = new Slot<OfferedPart>();
