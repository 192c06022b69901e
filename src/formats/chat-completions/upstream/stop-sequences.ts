/**
 * Stop sequences that weir cannot send: more than the provider takes, or any for a model that refuses the field. weir ends
 * the answer itself at the place where the model would have stopped.
 */
import type { CodecContext } from "../../../core/context.ts";
import type { ChatEvent, FinishReason, Usage } from "../../../core/events.ts";
import { mergeUsage, NO_USAGE } from "../../../core/events.ts";
import type { Traits } from "../../../core/provider.ts";
import { type ModelFacts, modelFacts } from "../models.ts";

/** OpenAI's limit. */
const MAX_STOP = 4;

export interface StopPlan {
  sent: string[];
  /** weir searches the answer for these. */
  watched: string[];
}

/** Splits the sequences into those that the provider gets and those that weir watches for. */
export function splitStop(
  stop: readonly string[],
  { traits, facts }: { traits: Traits; facts: ModelFacts | undefined },
): StopPlan {
  const sequences = stop.filter((sequence) => sequence !== "");
  const most = facts?.stop === false ? 0 : (traits.maxStop ?? MAX_STOP);
  return { sent: sequences.slice(0, most), watched: sequences.slice(most) };
}

/** Returns a watcher for the sequences that the provider did not get; `undefined` if there are none. */
export function createStopWatcher({ request, target }: CodecContext): StopWatcher | undefined {
  if (!request || request.stop.length === 0) return undefined;
  const { traits, model } = target;
  const { watched } = splitStop(request.stop, { traits, facts: modelFacts(model) });
  return watched.length === 0 ? undefined : new StopWatcher(watched);
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
