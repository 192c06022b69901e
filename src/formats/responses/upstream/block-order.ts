/**
 * Puts blocks that a provider sends side by side into the order of canonical events, where only tool calls overlap. Events
 * of a block wait until every earlier block has ended.
 */
import type { BlockStart, ChatEvent, Citation } from "../../../core/events.ts";

type Waiting = (index: number) => ChatEvent;

/** One block of the answer. */
export class OrderedBlock {
  readonly start: BlockStart;
  /** Its index; absent while it waits for earlier blocks. */
  index: number | undefined;
  hasEnded = false;
  readonly waiting: Waiting[] = [];
  readonly #order: BlockOrder;

  constructor(start: BlockStart, order: BlockOrder) {
    this.start = start;
    this.#order = order;
  }

  /** @param part of a reasoning summary, counted from 0 */
  delta(delta: string, part = 0): void {
    if (delta !== "")
      this.#order.push(this, (index) => ({ type: "block-delta", index, delta, ...(part > 0 && { part }) }));
  }

  cite(citation: Citation): void {
    this.#order.push(this, (index) => ({ type: "citation", index, citation }));
  }

  end(signature?: string): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.#order.push(this, (index) => ({
      type: "block-end",
      index,
      ...(signature !== undefined && { signature }),
    }));
    this.#order.advance();
  }
}

export class BlockOrder {
  /** Blocks whose end has not been passed on, in the order of their start. */
  #open: OrderedBlock[] = [];
  #count = 0;
  readonly #pass: (event: ChatEvent) => void;

  constructor(pass: (event: ChatEvent) => void) {
    this.#pass = pass;
  }

  open(start: BlockStart): OrderedBlock {
    const block = new OrderedBlock(start, this);
    this.#open.push(block);
    this.advance();
    return block;
  }

  push(block: OrderedBlock, event: Waiting): void {
    if (block.index === undefined) block.waiting.push(event);
    else this.#pass(event(block.index));
  }

  /** Passes on what no longer has to wait. */
  advance(): void {
    const open: OrderedBlock[] = [];
    let onlyCalls = true;
    for (const block of this.#open) {
      const isCall = block.start.type === "tool-call";
      if (block.index === undefined && (open.length === 0 || (onlyCalls && isCall))) this.#begin(block);
      if (block.index !== undefined && block.hasEnded) continue;
      open.push(block);
      onlyCalls &&= isCall;
    }
    this.#open = open;
  }

  #begin(block: OrderedBlock): void {
    const index = this.#count++;
    block.index = index;
    this.#pass({ type: "block-start", index, block: block.start });
    for (const event of block.waiting.splice(0)) this.#pass(event(index));
  }
}
