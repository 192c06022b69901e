/** What the part in the keeper gives to the operations of the admin API. */
import { Slot } from "../../core/slot.ts";
import type { Delivery } from "./rows.ts";
import type { AlertTarget } from "./section.ts";

/** A test, and what became of it at each receiver. */
export interface SentTest {
  /** Of the alert. */
  readonly id: string;
  readonly sent: readonly {
    readonly webhook: string;
    readonly delivered: boolean;
    readonly reason?: string;
  }[];
}

export interface OfferedPart {
  /** The receivers of the config; undefined without a worker. */
  receivers(): readonly AlertTarget[] | undefined;
  /** Deliveries that the store does not have yet. */
  unsaved(): readonly Delivery[];
  /** Sends a test to these receivers; undefined if the config has none. */
  test(targets: readonly AlertTarget[]): Promise<SentTest | undefined>;
}

export const alertsPart = new Slot<OfferedPart>();
