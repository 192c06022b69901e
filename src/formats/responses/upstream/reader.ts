/** Parts that the readers of all items share. */
import type { CodecContext } from "../../../core/context.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { BlockOrder } from "./block-order.ts";

/** Reads one item. */
export interface ItemReader {
  /** Takes an event of the item besides its start and end. */
  take(event: JsonObject): void;
  /** Takes the complete item: passes on what no event brought, and ends. */
  settle(item: JsonObject): void;
  /** Ends an item whose end the provider did not send. */
  end(): void;
}

/** State that the items of an answer share. */
export interface AnswerState {
  context: CodecContext;
  blocks: BlockOrder;
  /** Returns a unique id for a call. */
  callId(id: string | undefined): string;
  toolCalls: number;
  hasText: boolean;
  hasRefused: boolean;
  /** The name of a call whose arguments are not JSON. */
  brokenCall?: string;
}
