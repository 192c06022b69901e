/** A watched call as server-sent events for one reader, who reads at its own pace: nothing is made while it does not read. */
import type { LiveView, LiveViews } from "./live-views.ts";
import type { LiveFacts } from "./messages.ts";

/** Longest silence: proxies and browsers see that the stream lives. Milliseconds. */
const PULSE_MS = 1_000;
/** Text of one event. Characters. */
const MOST_TEXT = 65_536;

const encoder = new TextEncoder();

interface LiveSource {
  views: LiveViews;
  view: LiveView;
  /** Whether the reader may go on reading. */
  isAllowed(): boolean;
}

export function liveStream(source: LiveSource): ReadableStream<Uint8Array> {
  const reader = new LiveReader(source);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const text = await reader.next();
        if (text === undefined) controller.close();
        else controller.enqueue(encoder.encode(text));
      },
      cancel: () => reader.leave(),
    },
    { highWaterMark: 0 },
  );
}

class LiveReader {
  readonly #source: LiveSource;
  readonly #at = { entry: 0, bytes: 0 };
  #facts: LiveFacts | undefined;
  #hasEnded = false;
  #isGone = false;

  constructor(source: LiveSource) {
    this.#source = source;
  }

  /** @returns undefined at the end */
  async next(): Promise<string | undefined> {
    const { view, isAllowed } = this.#source;
    for (let isPulse = false; !this.#hasEnded && !this.#isGone; isPulse = true) {
      if (!isAllowed()) break;
      const due = this.#due();
      if (due !== undefined) return due;
      if (isPulse) return ":\n\n";
      await view.changed(PULSE_MS);
    }
    this.leave();
    return undefined;
  }

  leave(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    const { views, view } = this.#source;
    views.leave(view);
  }

  #due(): string | undefined {
    const { view } = this.#source;
    if (view.facts !== this.#facts) {
      this.#facts = view.facts;
      return eventText("call", view.facts);
    }
    if (!view.hasAll(this.#at)) {
      const { parts, lost } = view.since(this.#at, MOST_TEXT);
      if (parts.length > 0 || lost > 0) return eventText("parts", { parts, ...(lost > 0 && { lost }) });
    }
    if (!view.isOver) return undefined;
    this.#hasEnded = true;
    return eventText("end", view.isLost ? { lost: true } : {});
  }
}

const eventText = (name: string, data: unknown) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
