/** What the part in the keeper gives to the operations of the admin API. */
import { Slot } from "../../../core/slot.ts";
import type { PinsBook } from "../pins/book.ts";
import type { OperatorAnswer, OperatorAsk, ServerReport, ServerSummary } from "./facts.ts";

export interface OfferedPart {
  /** Loads the code that changes pins. */
  book(): Promise<PinsBook>;
  /** The servers of the config; undefined without a worker. */
  servers(): readonly ServerSummary[] | undefined;
  /** Path of the file of pins, if the config names one. */
  pinFile(): string | undefined;
  /** What weir learned of a server last. */
  reportOf(server: string): ServerReport | undefined;
  /** Asks a worker; undefined without one. */
  ask(ask: OperatorAsk): Promise<OperatorAnswer> | undefined;
}

export const toolsPart = new Slot<OfferedPart>();
