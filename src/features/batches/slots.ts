/** What the part in the keeper gives to the admin operations. */
import { Slot } from "../../core/slot.ts";
import type { BatchBook } from "./book.ts";

export const batchesPart = new Slot<BatchBook>();
/** Tells the runner of a batch on this node at once that the batch was cancelled. Without it the runner learns it when it reports. */
export const runnerStop = new Slot<(id: string) => void>();
