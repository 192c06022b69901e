/** Stop sequences that a provider does not take: weir ends the answer at them itself. */
import type { CodecContext } from "../../core/context.ts";
import { type ChatEvent, type FinishReason, mergeUsage, NO_USAGE, type Usage } from "../../core/events.ts";
import type { AnswerReader } from "../../core/format.ts";

/** The stop sequences that a provider gets, and those that weir watches for itself. */
export interface StopPlan {
  sent: string[];
  /** weir searches the answer for these. */
  watched: string[];
}

/** Splits the sequences; empty ones mean nothing. @param most the number that the provider takes */
export function splitStop(stop: readonly string[], most: number): StopPlan {
  const sequences = stop.filter((sequence) => sequence !== "");
  return { sent: sequences.slice(0, most), watched: sequences.slice(most) };
}

/** Returns a watcher for the sequences that the provider did not get; `undefined` if there are none. */
export function stopWatcherFor(
  { request }: CodecContext,
  plan: (stop: readonly string[]) => StopPlan,
): StopWatcher | undefined {
  if (!request || request.stop.length === 0) return undefined;
  const { watched } = plan(request.stop);
  return watched.length === 0 ? undefined : new StopWatcher(watched);
}

/** A reader whose answer ends at a sequence; the same reader if weir watches for none. */
export function watchedReader(reader: AnswerReader, stops: StopWatcher | undefined): AnswerReader {
  if (!stops) return reader;
  return { push: (frame) => stops.watch(reader.push(frame)), end: () => stops.watch(reader.end()) };
}

/**
 * Passes events on until the text contains a stop sequence, also across deltas. Text that may be the beginning of one is
 * buffered.
 */
export class StopWatcher {
  readonly #sequences: readonly string[];
  readonly #longest: number;
  #buffered = "";
  #open: number | undefined;
  #ended = false;
  #usage: Usage = NO_USAGE;

  constructor(sequences: readonly string[]) {
    this.#sequences = sequences;
    this.#longest = Math.max(...sequences.map((sequence) => sequence.length));
  }

  /** Returns the events up to the first sequence, then `message-end`, and from then on nothing. */
  watch(events: readonly ChatEvent[]): ChatEvent[] {
    return events.flatMap((event) => (this.#ended ? [] : this.#watch(event)));
  }

  #watch(event: ChatEvent): ChatEvent[] {
    if (event.type === "usage") this.#usage = mergeUsage(this.#usage, event.usage);
    if (event.type === "block-start" && event.block.type === "text") this.#open = event.index;
    if (event.type === "block-delta" && event.index === this.#open)
      return this.#read(event.index, event.delta);
    if (event.type !== "block-end" || event.index !== this.#open) return [event];
    this.#open = undefined;
    return [...this.#release(event.index, this.#buffered.length), event];
  }

  #read(index: number, delta: string): ChatEvent[] {
    this.#buffered += delta;
    const found = this.#find();
    if (!found) return this.#release(index, this.#buffered.length - this.#partialLength());
    const released = this.#release(index, found.at);
    this.#ended = true;
    return [...released, { type: "block-end", index }, this.#stopped(found.sequence)];
  }

  #find(): { at: number; sequence: string } | undefined {
    let first: { at: number; sequence: string } | undefined;
    for (const sequence of this.#sequences) {
      const at = this.#buffered.indexOf(sequence);
      if (at >= 0 && (!first || at < first.at)) first = { at, sequence };
    }
    return first;
  }

  /** Number of last characters that may be the beginning of a sequence. */
  #partialLength(): number {
    for (let length = Math.min(this.#longest - 1, this.#buffered.length); length > 0; length--) {
      const tail = this.#buffered.slice(-length);
      if (this.#sequences.some((sequence) => sequence.startsWith(tail))) return length;
    }
    return 0;
  }

  #release(index: number, length: number): ChatEvent[] {
    const delta = this.#buffered.slice(0, length);
    this.#buffered = this.#buffered.slice(length);
    return delta === "" ? [] : [{ type: "block-delta", index, delta }];
  }

  /** weir leaves the provider before its last token counts arrive; the counts so far are used. */
  #stopped(sequence: string): ChatEvent {
    const reason: FinishReason = { kind: "stop-sequence", raw: "stop", stopSequence: sequence };
    return { type: "message-end", reason, usage: this.#usage };
  }
}
