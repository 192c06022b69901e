/**
 * Stop sequences the upstream cannot be told: more than it takes, or any for a model that refuses the field. The gateway
 * cuts the answer itself, at the same place the model would have stopped.
 */
import type { ChatRequest } from "../../../core/chat.ts";
import type { Call } from "../../../core/call.ts";
import type { ChatEvent, FinishReason, Usage } from "../../../core/events.ts";
import { mergeUsage, NO_USAGE } from "../../../core/events.ts";
import type { Traits } from "../../../core/provider.ts";
import { type ModelFacts, modelFacts } from "../models.ts";

/** Most sequences OpenAI takes. */
const MAX_STOP = 4;

export interface StopPlan {
  sent: string[];
  /** Watched for by the gateway. */
  watched: string[];
}

/** Which sequences the upstream is told, and which are left to the gateway. */
export function splitStop(
  stop: readonly string[],
  { traits, facts }: { traits: Traits; facts: ModelFacts | undefined },
): StopPlan {
  const sequences = stop.filter((sequence) => sequence !== "");
  const most = facts?.stop === false ? 0 : (traits.maxStop ?? MAX_STOP);
  return { sent: sequences.slice(0, most), watched: sequences.slice(most) };
}

/** The sequences the answer of a call has to be watched for. */
export function watchedStops(call: Call, request: ChatRequest | undefined): string[] {
  if (!request || request.stop.length === 0) return [];
  const traits = call.target?.provider.traits ?? {};
  return splitStop(request.stop, { traits, facts: modelFacts(call.target?.model ?? request.model) }).watched;
}

/**
 * Passes events on until a watched sequence stands in the text, wherever it was cut. Text that may be its beginning is
 * held back; what comes behind it is not read.
 */
export class StopWatcher {
  readonly #sequences: readonly string[];
  readonly #longest: number;
  #held = "";
  #open: number | undefined;
  #ended = false;
  #usage: Usage = NO_USAGE;

  constructor(sequences: readonly string[]) {
    this.#sequences = sequences;
    this.#longest = Math.max(...sequences.map((sequence) => sequence.length));
  }

  /** A sequence was found: the answer is over. */
  get ended(): boolean {
    return this.#ended;
  }

  watch(event: ChatEvent): ChatEvent[] {
    if (event.type === "usage") this.#usage = mergeUsage(this.#usage, event.usage);
    if (event.type === "block-start" && event.block.type === "text") this.#open = event.index;
    if (event.type === "block-delta" && event.index === this.#open)
      return this.#read(event.index, event.delta);
    if (event.type !== "block-end" || event.index !== this.#open) return [event];
    this.#open = undefined;
    return [...this.#release(event.index, this.#held.length), event];
  }

  #read(index: number, delta: string): ChatEvent[] {
    this.#held += delta;
    const found = this.#find();
    if (!found) return this.#release(index, this.#held.length - this.#begun());
    const released = this.#release(index, found.at);
    this.#ended = true;
    return [...released, { type: "block-end", index }, this.#stopped(found.sequence)];
  }

  #find(): { at: number; sequence: string } | undefined {
    let first: { at: number; sequence: string } | undefined;
    for (const sequence of this.#sequences) {
      const at = this.#held.indexOf(sequence);
      if (at >= 0 && (!first || at < first.at)) first = { at, sequence };
    }
    return first;
  }

  /** How many of the last characters may be the beginning of a sequence. */
  #begun(): number {
    for (let length = Math.min(this.#longest - 1, this.#held.length); length > 0; length--) {
      const tail = this.#held.slice(-length);
      if (this.#sequences.some((sequence) => sequence.startsWith(tail))) return length;
    }
    return 0;
  }

  #release(index: number, length: number): ChatEvent[] {
    const delta = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    return delta === "" ? [] : [{ type: "block-delta", index, delta }];
  }

  /** The upstream is left before it can say what it counted: what it said so far stands. */
  #stopped(sequence: string): ChatEvent {
    const reason: FinishReason = { kind: "stop-sequence", raw: "stop", stopSequence: sequence };
    return { type: "message-end", reason, usage: this.#usage };
  }
}
