/** What the part in the keeper gives to the admin operations. */
import { Slot } from "../../core/slot.ts";
import type { BatchBook } from "./book.ts";

export const batchesPart = new Slot<BatchBook>();
