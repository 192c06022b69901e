/** What the part in the keeper gives to the operations of the admin API. */
import { Slot } from "../../core/slot.ts";
import type { PeopleBook } from "./people-book.ts";

export const peopleBook = new Slot<PeopleBook>();
