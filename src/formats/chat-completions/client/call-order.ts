/**
 * One call at a time. Calls may overlap in the canonical events, but the SDK takes the first fragment of the next call for
 * the end of the one before, and parses its arguments then (`openai` 7.55, strict tools).
 */
import type { ChatEvent } from "../../../core/events.ts";

export class CallOrder {
  /** The call that is being written. */
  #current: number | undefined;
  /** What came for other calls meanwhile, in the order of their start. */
  readonly #waiting = new Map<number, ChatEvent[]>();

  /** The events that may be written now. */
  push(event: ChatEvent): ChatEvent[] {
    const index = "index" in event ? event.index : undefined;
    if (index === undefined) return [event];
    if (this.#current === undefined) return this.#pass(event, index);
    if (this.#current === index) return event.type === "block-end" ? this.#next(event) : [event];
    const waiting = this.#waiting.get(index);
    if (waiting) waiting.push(event);
    else this.#waiting.set(index, [event]);
    return [];
  }

  #pass(event: ChatEvent, index: number): ChatEvent[] {
    if (event.type === "block-start" && event.block.type === "tool-call") this.#current = index;
    return [event];
  }

  /** The current call has ended: what waited for it follows, up to a call that has not ended yet. */
  #next(end: ChatEvent): ChatEvent[] {
    const events = [end];
    this.#current = undefined;
    for (const [index, waiting] of this.#waiting) {
      this.#waiting.delete(index);
      events.push(...waiting);
      if (waiting.at(-1)?.type === "block-end") continue;
      this.#current = index;
      break;
    }
    return events;
  }
}
