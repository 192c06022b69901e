/** The events of a stream in the client's framing, as texts that go on byte for byte unless something in them changes. */
import { StringDecoder } from "node:string_decoder";
import { isObject, type JsonObject, parseJson } from "../../../core/json.ts";
import type { Frame } from "../../../core/frame.ts";
import type { Holder } from "./channel.ts";
import { withTexts } from "./spans.ts";

/** The separators of lines that JSON may have within strings end no line of an event. */
const DATA = /(?:^|[\r\n])data: ?([^\r\n]*)/;
const END = /(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r)/g;
const LINE = /\r\n|\n|\r/;
const BOM = "\ufeff";

/** The text of an event's data, and where it is in the event. */
interface Data {
  readonly text: string;
  readonly at: number;
}

/** An event that is not sent yet. */
export class StreamEvent implements Holder {
  /** With the blank line behind it. */
  readonly raw: string;
  /** Read at the first use. */
  #found: { readonly data: Data | undefined } | undefined;
  open = 0;
  changes?: Map<string, string>;
  /** It has a text, or a piece of one. */
  hasText = false;
  /** Logprobs in it have gone with the text that they spell. Known once it is written. */
  lost = false;
  /** It has pieces of texts, and ends none. */
  isPiece = false;

  constructor(raw: string) {
    this.raw = onOneLine(raw);
  }

  get #data(): Data | undefined {
    this.#found ??= { data: dataOf(this.raw) };
    return this.#found.data;
  }

  /** @returns undefined for a comment, and for what is no object */
  parsed(): JsonObject | undefined {
    const value = this.#data && parseJson(this.#data.text);
    return isObject(value) ? value : undefined;
  }

  get hasData(): boolean {
    return this.raw.startsWith("data:") || this.#data !== undefined;
  }

  frame(): Frame | undefined {
    const event = /^event: ?(.*)$/m.exec(this.raw)?.[1];
    return this.#data && { data: this.#data.text, ...(event !== undefined && { event }) };
  }

  /** Its data with all changes. */
  get data(): string {
    const text = this.#data?.text ?? "";
    if (!this.changes) return text;
    return Buffer.from(withTexts(Buffer.from(text), this.changes, () => (this.lost = true))).toString();
  }

  written(): string {
    if (!this.changes || !this.#data) return this.raw;
    const { text, at } = this.#data;
    return this.raw.slice(0, at) + this.data + this.raw.slice(at + text.length);
  }
}

/** Readers join data that stands on several lines, which JSON may have between its tokens (WHATWG, server-sent events). */
function onOneLine(raw: string): string {
  const first = raw.startsWith("data:") ? 0 : nextData(raw, 0);
  if (first < 0 || nextData(raw, first + 1) < 0) return raw;
  const lines = raw.split(LINE);
  const isData = (line: string) => line.startsWith("data:");
  const data = lines.filter(isData).map((line) => line.slice("data:".length).replace(/^ /, ""));
  const others = lines.filter((line) => !isData(line) && line !== "");
  return [...others, `data: ${data.join(" ")}`, "", ""].join("\n");
}

/** @returns the end of the line in front of the next data; -1: none follows */
function nextData(raw: string, from: number): number {
  const [after, behind] = [raw.indexOf("\ndata:", from), raw.indexOf("\rdata:", from)];
  return after < 0 || behind < 0 ? Math.max(after, behind) : Math.min(after, behind);
}

function dataOf(raw: string): Data | undefined {
  const match = DATA.exec(raw);
  const text = match?.[1];
  return match && text !== undefined ? { text, at: match.index + match[0].length - text.length } : undefined;
}

/** Where an event ends that is complete behind a position; 0: none is. */
function endOf(text: string, from: number): number {
  // Of most streams all lines end in the same character, which is found much faster than one of several ends.
  if (!text.includes("\r")) {
    const at = text.indexOf("\n\n", from);
    return at < 0 ? 0 : at + 2;
  }
  END.lastIndex = from;
  return END.test(text) ? END.lastIndex : 0;
}

/** Cuts bytes into events. */
export class EventCutter {
  readonly #decoder = new StringDecoder("utf8");
  #rest = "";
  #hasBegun = false;

  push(bytes: Uint8Array): StreamEvent[] {
    const text = this.#begun(this.#rest + this.#decoder.write(bytes));
    const events: StreamEvent[] = [];
    let from = 0;
    for (let end = endOf(text, Math.max(0, this.#rest.length - 3)); end > 0; end = endOf(text, end)) {
      events.push(new StreamEvent(text.slice(from, end)));
      from = end;
    }
    this.#rest = text.slice(from);
    return events;
  }

  /** Readers skip a byte order mark at the beginning of a stream. */
  #begun(text: string): string {
    if (this.#hasBegun || text === "") return text;
    this.#hasBegun = true;
    return text.startsWith(BOM) ? text.slice(BOM.length) : text;
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
