/** Where the canonical events of an answer come from: a provider's stream, its JSON answer, or a plugin. */
import { GatewayError } from "../../core/error.ts";
import type { ChatEvent } from "../../core/events.ts";
import type { Meter } from "./meter.ts";

export type TakeEvent = (event: ChatEvent) => void;

export interface EventSource {
  /**
   * Waits for the next events and passes them on in order: one call for all that a network read brought in, so that weir
   * translates it without a promise for each event.
   * @returns whether more may follow
   * @throws what `take` throws, and a GatewayError if the source fails; events before the failure have been passed on
   */
  read(take: TakeEvent): Promise<boolean>;
  /** Ends the source; may be called more than once. */
  stop(reason?: unknown): void;
}

/** The events of a JSON answer. */
export class ListedEvents implements EventSource {
  readonly #events: readonly ChatEvent[];

  constructor(events: readonly ChatEvent[]) {
    this.#events = events;
  }

  async read(take: TakeEvent): Promise<boolean> {
    this.#events.forEach(take);
    return false;
  }

  stop(): void {}
}

/** The events of a plugin. */
export class PluginEvents implements EventSource {
  readonly #iterator: AsyncIterator<ChatEvent>;

  constructor(events: AsyncIterable<ChatEvent>) {
    this.#iterator = events[Symbol.asyncIterator]();
  }

  async read(take: TakeEvent): Promise<boolean> {
    const { done, value } = await this.#iterator.next();
    if (done) return false;
    take(value);
    return true;
  }

  stop(): void {
    this.#iterator.return?.().catch(() => {});
  }
}

/** The events of a source; `tap` gets each event first. */
export function tapped(source: EventSource, tap: TakeEvent): EventSource {
  return {
    read: (take) =>
      source.read((event) => {
        tap(event);
        take(event);
      }),
    stop: (reason) => source.stop(reason),
  };
}

/** The events as a plugin's `answer` hook takes them. */
export async function* iterate(source: EventSource): AsyncGenerator<ChatEvent> {
  const events: ChatEvent[] = [];
  const take: TakeEvent = (event) => void events.push(event);
  try {
    for (let more = true; more;) {
      let failure: { thrown: unknown } | undefined;
      try {
        more = await source.read(take);
      } catch (thrown) {
        failure = { thrown };
      }
      // The events before a failure come first.
      for (const event of events.splice(0)) yield event;
      if (failure) throw failure.thrown;
    }
  } finally {
    source.stop();
  }
}

/** Limit of an answer that weir collects into one JSON body: characters of its text, plus a fixed number for each event. */
const MAX_COLLECTED = 32 * 1024 * 1024;
const EVENT_COST = 64;

/** All events of an answer. @throws GatewayError `upstream` if the answer is not complete or too long */
export async function collect(source: EventSource, meter: Meter): Promise<ChatEvent[]> {
  const list: ChatEvent[] = [];
  let size = 0;
  const take: TakeEvent = (event) => {
    list.push(meter.pass(event));
    size += EVENT_COST + (event.type === "block-delta" ? event.delta.length : 0);
    if (size > MAX_COLLECTED)
      throw new GatewayError("upstream", `The provider's answer is longer than ${MAX_COLLECTED} bytes.`, {
        code: "upstream_too_large",
      });
  };
  try {
    while (await source.read(take));
    meter.end();
    return list;
  } finally {
    source.stop();
  }
}
