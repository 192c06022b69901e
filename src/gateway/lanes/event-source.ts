/** Where the canonical events of an answer come from: a provider's stream, its JSON answer, or a plugin. */
import { GatewayError } from "../../core/error.ts";
import type { ChatEvent } from "../../core/events.ts";
import type { Meter } from "./meter.ts";

export type TakeEvent = (event: ChatEvent) => void;

/** Receives the result of a read. `event` may throw, the other methods must not. */
export interface EventReceiver {
  event(event: ChatEvent): void;
  /** All events of the read have been passed on. @param more whether more may follow */
  read(more: boolean): void;
  /** The source has failed, or `event` has thrown. Events before the failure have been passed on. */
  fail(thrown: unknown): void;
}

export interface EventSource {
  /**
   * Passes the next events on in order as soon as they come: all that a network read brought in, followed by one call of `read`
   * or `fail`. weir translates without a promise for each event or read.
   */
  read(receiver: EventReceiver): void;
  /** Ends the source; may be called more than once. */
  stop(reason?: unknown): void;
}

/** Reads with a promise. @returns whether more may follow @throws what `take` throws, and what fails in the source */
function readEvents(source: EventSource, take: TakeEvent): Promise<boolean> {
  return new Promise((resolve, reject) => source.read({ event: take, read: resolve, fail: reject }));
}

/** The events of a JSON answer. */
export class ListedEvents implements EventSource {
  readonly list: readonly ChatEvent[];

  constructor(list: readonly ChatEvent[]) {
    this.list = list;
  }

  read(receiver: EventReceiver): void {
    try {
      for (const event of this.list) receiver.event(event);
    } catch (thrown) {
      return receiver.fail(thrown);
    }
    receiver.read(false);
  }

  stop(): void {}
}

/** The events of a plugin. */
export class PluginEvents implements EventSource {
  readonly #iterator: AsyncIterator<ChatEvent>;

  constructor(events: AsyncIterable<ChatEvent>) {
    this.#iterator = events[Symbol.asyncIterator]();
  }

  read(receiver: EventReceiver): void {
    this.#next(receiver).then(
      (more) => receiver.read(more),
      (thrown: unknown) => receiver.fail(thrown),
    );
  }

  async #next(receiver: EventReceiver): Promise<boolean> {
    const { done, value } = await this.#iterator.next();
    if (!done) receiver.event(value);
    return !done;
  }

  stop(): void {
    this.#iterator.return?.().catch(() => {});
  }
}

/** The events of a source; `tap` gets each event first. */
export function tapped(source: EventSource, tap: TakeEvent): EventSource {
  if (source instanceof ListedEvents) {
    for (const event of source.list) tap(event);
    return source;
  }
  let receiver: EventReceiver;
  const between: EventReceiver = {
    event: (event) => {
      tap(event);
      receiver.event(event);
    },
    read: (more) => receiver.read(more),
    fail: (thrown) => receiver.fail(thrown),
  };
  return {
    read: (given) => {
      receiver = given;
      source.read(between);
    },
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
        more = await readEvents(source, take);
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

/** All events of an answer; at once if it came whole. @throws GatewayError `upstream` if the answer is not complete or too long */
export function collect(
  source: EventSource,
  meter: Meter,
): readonly ChatEvent[] | Promise<readonly ChatEvent[]> {
  if (!(source instanceof ListedEvents)) return collectRead(source, meter);
  let size = 0;
  for (const event of source.list) size += sizeOf(event);
  if (size > MAX_COLLECTED) throw tooLong();
  return meter.passAll(source.list);
}

async function collectRead(source: EventSource, meter: Meter): Promise<ChatEvent[]> {
  const list: ChatEvent[] = [];
  let size = 0;
  const take: TakeEvent = (event) => {
    list.push(meter.pass(event));
    size += sizeOf(event);
    if (size > MAX_COLLECTED) throw tooLong();
  };
  try {
    while (await readEvents(source, take));
    meter.end();
    return list;
  } finally {
    source.stop();
  }
}

function sizeOf(event: ChatEvent): number {
  return EVENT_COST + (event.type === "block-delta" ? event.delta.length : 0);
}

function tooLong(): GatewayError {
  return new GatewayError("upstream", `The provider's answer is longer than ${MAX_COLLECTED} bytes.`, {
    code: "upstream_too_large",
  });
}
