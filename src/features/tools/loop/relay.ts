/** Numbers the blocks of several answers as those of one. */
import type { ChatEvent, HostedResult, HostedStart } from "../../../core/events.ts";

export type BlockEvent = Extract<ChatEvent, { index: number }>;

export class Relay {
  #next = 0;
  /** The index for the client, by that in the turn. */
  #places = new Map<number, number>();
  /** Open blocks by their index for the client, and whether they are tools that run. */
  readonly #open = new Map<number, boolean>();
  #hasText = false;
  /** A text of an earlier turn is in the answer. */
  #isApart = false;

  /** The next events are those of another turn. */
  turn(): void {
    this.#places = new Map();
    this.#isApart = this.#hasText;
  }

  /** An event of a block, as the client gets it. */
  pass(event: BlockEvent): ChatEvent {
    const index = event.type === "block-start" ? this.#begin(event.index) : this.#places.get(event.index)!;
    if (event.type === "block-end") this.#open.delete(index);
    if (event.type !== "block-start" || event.block.type !== "text") return { ...event, index };
    const block = this.#isApart ? { ...event.block, apart: true } : event.block;
    this.#isApart = false;
    this.#hasText = true;
    return { ...event, index, block };
  }

  /** Ends the blocks of a turn that does not come to its end. @param error of a tool that runs */
  *close(error: string): Generator<ChatEvent> {
    for (const [index, runs] of this.#open)
      yield { type: "block-end", index, ...(runs && { result: { error } }) };
    this.#open.clear();
  }

  /** A block of weir's own that is whole. */
  *block(start: HostedStart, input: string | undefined, result?: HostedResult): Generator<ChatEvent> {
    const index = this.#next++;
    yield { type: "block-start", index, block: start };
    if (input !== undefined) yield { type: "block-delta", index, delta: input };
    yield { type: "block-end", index, ...(result && { result }) };
  }

  /** A call that runs: its result comes later. */
  async *running(
    start: HostedStart,
    input: string,
    result: () => Promise<HostedResult>,
  ): AsyncGenerator<ChatEvent> {
    const index = this.#next++;
    this.#open.set(index, true);
    yield { type: "block-start", index, block: start };
    yield { type: "block-delta", index, delta: input };
    yield { type: "block-run", index };
    const came = await result();
    this.#open.delete(index);
    yield { type: "block-end", index, result: came };
  }

  #begin(place: number): number {
    const index = this.#next++;
    this.#places.set(place, index);
    this.#open.set(index, false);
    return index;
  }
}
