/** What the part in the keeper gives to the operations of the admin API. */
import { Slot } from "../../../core/slot.ts";
import type { Tried } from "./try.ts";
import type { Watched } from "./watch.ts";

export interface OfferedPart {
  /** The guards of the config that serves; undefined without a worker. */
  guards(): readonly Watched[] | undefined;
  /** Has a worker try a text. @returns undefined: none answers */
  tryText(text: string): Promise<Tried | undefined>;
}

export const guardsPart = new Slot<OfferedPart>();
