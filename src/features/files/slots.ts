/** What the part in the keeper gives to the operations of the admin API. */
import { Slot } from "../../core/slot.ts";
import type { Answerer } from "./book/answerer.ts";

export const filesPart = new Slot<() => Promise<Answerer>>();
