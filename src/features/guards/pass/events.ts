/** The events of a stream in the client's framing, as texts that go on byte for byte unless something in them changes. */
import { isObject, type JsonObject, parseJson } from "../../../core/json.ts";
import type { Frame } from "../../../core/frame.ts";
import type { Holder } from "./channel.ts";
import { withTexts } from "./spans.ts";

const DATA = /^data: ?(.*)$/m;
const END = /\r?\n\r?\n|\r\r/g;

/** An event that is not sent yet. */
export class StreamEvent implements Holder {
  readonly #raw: string;
  readonly #data: { readonly text: string; readonly at: number } | undefined;
  open = 0;
  changes?: Map<string, string>;
  /** It has a text, or a piece of one. */
  hasText = false;
  /** Logprobs in it have gone with the text that they spell. Known once it is written. */
  lost = false;
  /** It has pieces of texts, and ends none. */
  isPiece = false;

  /** @param raw with the blank line behind it */
  constructor(raw: string) {
    this.#raw = raw;
    const match = DATA.exec(raw);
    if (match) this.#data = { text: match[1]!, at: match.index + match[0].length - match[1]!.length };
  }

  /** @returns undefined for a comment, and for what is no object */
  parsed(): JsonObject | undefined {
    const value = this.#data && parseJson(this.#data.text);
    return isObject(value) ? value : undefined;
  }

  get hasData(): boolean {
    return this.#data !== undefined;
  }

  frame(): Frame | undefined {
    const event = /^event: ?(.*)$/m.exec(this.#raw)?.[1];
    return this.#data && { data: this.#data.text, ...(event !== undefined && { event }) };
  }

  /** Its data with all changes. */
  get data(): string {
    const text = this.#data?.text ?? "";
    if (!this.changes) return text;
    return Buffer.from(withTexts(Buffer.from(text), this.changes, () => (this.lost = true))).toString();
  }

  written(): string {
    if (!this.changes || !this.#data) return this.#raw;
    const { text, at } = this.#data;
    return this.#raw.slice(0, at) + this.data + this.#raw.slice(at + text.length);
  }
}

/** Cuts bytes into events. */
export class EventCutter {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #rest = "";

  push(bytes: Uint8Array): StreamEvent[] {
    const text = this.#rest + this.#decoder.decode(bytes, { stream: true });
    const events: StreamEvent[] = [];
    let from = 0;
    END.lastIndex = Math.max(0, this.#rest.length - 3);
    for (let match = END.exec(text); match; match = END.exec(text)) {
      const end = match.index + match[0].length;
      events.push(new StreamEvent(text.slice(from, end)));
      from = end;
    }
    this.#rest = text.slice(from);
    return events;
  }

  /** What is left when the stream ends: an event without its end. */
  rest(): StreamEvent[] {
    const rest = this.#rest;
    this.#rest = "";
    return rest === "" ? [] : [new StreamEvent(rest)];
  }
}

/** Splits events into those that may go on and the others. Of a format with independent texts, one does not wait for another. */
export function decided(
  waiting: readonly StreamEvent[],
  independent: boolean,
): { sent: StreamEvent[]; kept: StreamEvent[] } {
  const sent: StreamEvent[] = [];
  const kept: StreamEvent[] = [];
  let isStopped = false;
  for (const event of waiting) {
    const isFree: boolean = event.open === 0 && !isStopped && (kept.length === 0 || event.isPiece);
    (isFree ? sent : kept).push(event);
    isStopped ||= !isFree && !(independent && event.isPiece);
  }
  return { sent, kept };
}
