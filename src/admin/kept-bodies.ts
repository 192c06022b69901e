/** Bodies of calls that a feature keeps, for the operations of other features. */
import { Slot } from "../core/slot.ts";
import type { Talk } from "../operator/talk.ts";

export interface KeptBodies {
  has(id: string): boolean;
  /** The conversation of a call. The reader notes the look. @throws AdminError 503 if the bodies cannot be used */
  talk(id: string): Promise<Talk | undefined>;
}

/** Absent where nothing keeps bodies. */
export const keptBodies = new Slot<KeptBodies>();
