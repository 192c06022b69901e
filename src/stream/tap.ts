/**
 * The tap of the native lane. It passes bytes through unchanged in complete events, and extracts what the gateway needs (usage,
 * end, error). Only events that contain one of the format's marks are parsed.
 */
import type { Frame, StreamSummary, UsageRequest, StreamObserver } from "../core/format.ts";
import { incompleteStream } from "../core/incomplete.ts";
import { MostTokens } from "../core/tokens/most-tokens.ts";
import { DeltaCounter, EqualEvents } from "./delta-bytes.ts";
import { eventsIn, lastEventEnd, parseFrames } from "./sse.ts";

/** A longer event is passed on in parts, which limits the memory. Bytes. */
const MAX_HELD = 8 * 1024 * 1024;

export class Tap {
  readonly seen: StreamSummary = { terminated: false, complete: false };
  /** Part of an event has been passed on: an error event must first end it with a blank line. */
  midEvent = false;
  /** At least one event other than comments has passed. */
  started = false;
  /** The first event was an error, so the client has no part of an answer. Does not depend on the chunking. */
  failedFirst = false;
  readonly watch: StreamObserver;
  /** Text, reasoning and tool arguments that have passed. Bytes. */
  output = 0;
  readonly #most: MostTokens | undefined;
  readonly #deltas: DeltaCounter | undefined;
  readonly #equal: EqualEvents | undefined;
  readonly #marks: RegExp;
  /** The same marks, to find each of them. */
  readonly #everyMark: RegExp;
  readonly #unasked: UsageRequest | undefined;
  #held: Uint8Array[] = [];
  #heldBytes = 0;

  /**
   * @param unasked set if weir requested token counts for a client that did not: their event is read and removed
   * @param counts whether the most tokens of the output are counted
   */
  constructor(watch: StreamObserver, unasked?: UsageRequest, counts = false) {
    this.watch = watch;
    this.#unasked = unasked;
    this.#marks = marksOf(watch);
    this.#everyMark = everyMarkOf(watch);
    this.#most = counts ? new MostTokens() : undefined;
    this.#deltas = watch.deltas && new DeltaCounter(watch.deltas, this.#most);
    this.#equal = this.#deltas && new EqualEvents(this.#deltas);
  }

  /** The most tokens that the output can be; 0 if they are not counted. */
  get outputTokens(): number {
    return this.#most?.total ?? 0;
  }

  /** Processes the next bytes and returns those to pass on now: complete events, in order, unchanged. */
  push(chunk: Uint8Array): Uint8Array | undefined {
    if (chunk.length === 0) return undefined;
    const end = this.#heldBytes === 0 ? lastEventEnd(chunk) : this.#eventEndAfterHeld(chunk);
    if (end === 0) return this.#hold(chunk);
    const passed = this.#take(end === chunk.length ? chunk : chunk.subarray(0, end));
    if (end < chunk.length) this.#hold(chunk.subarray(end));
    const isMarked = this.#read(this.midEvent ? behindFirstEvent(passed) : passed);
    this.midEvent = false;
    return isMarked ? this.#wanted(passed) : passed;
  }

  /** Complete events without the one that the client did not request; undefined if no other is left. */
  #wanted(bytes: Uint8Array): Uint8Array | undefined {
    const unasked = this.#unasked;
    if (!unasked) return bytes;
    const kept: Uint8Array[] = [];
    let from = 0;
    for (const event of markedEvents(bytes, latin(bytes), this.#everyMark)) {
      if (!parseFrames(event).some(unasked.isAnswer)) continue;
      const start = event.byteOffset - bytes.byteOffset;
      kept.push(bytes.subarray(from, start));
      from = start + event.length;
    }
    if (from === 0) return bytes;
    kept.push(bytes.subarray(from));
    const rest = Buffer.concat(kept);
    return rest.length === 0 ? undefined : rest;
  }

  /**
   * The held bytes when the provider's stream ends. They are returned only after a complete answer. After an incomplete one
   * they are dropped, so that weir's error event does not follow half an event.
   */
  rest(): Uint8Array | undefined {
    if (this.#heldBytes === 0) return undefined;
    const rest = this.#take(new Uint8Array(0));
    const event = Buffer.concat([rest, BLANK_LINE]);
    return !this.#read(event) || this.#wanted(event) === event ? rest : undefined;
  }

  #hold(chunk: Uint8Array): Uint8Array | undefined {
    this.#held.push(chunk);
    this.#heldBytes += chunk.length;
    if (this.#heldBytes <= MAX_HELD) return undefined;
    this.midEvent = true;
    return this.#take(new Uint8Array(0));
  }

  #take(last: Uint8Array): Uint8Array {
    if (this.#heldBytes === 0) return last;
    const all = Buffer.concat([...this.#held, last]);
    this.#held = [];
    this.#heldBytes = 0;
    return all;
  }

  /** Like `lastEventEnd` of the chunk, but also finds a blank line that began in the held bytes. */
  #eventEndAfterHeld(chunk: Uint8Array): number {
    const end = lastEventEnd(chunk);
    if (end > 0) return end;
    const tail = this.#heldTail();
    const seam = new Uint8Array(tail.length + Math.min(2, chunk.length));
    seam.set(tail);
    seam.set(chunk.subarray(0, 2), tail.length);
    const seamEnd = lastEventEnd(seam);
    return seamEnd > tail.length ? seamEnd - tail.length : 0;
  }

  #heldTail(): Uint8Array {
    const last = this.#held[this.#held.length - 1]!;
    if (last.length >= 2 || this.#held.length === 1) return last.subarray(-2);
    const before = this.#held[this.#held.length - 2]!;
    return Uint8Array.of(before[before.length - 1]!, last[0]!);
  }

  /** @returns whether an event may have a mark */
  #read(bytes: Uint8Array): boolean {
    const all = latin(bytes);
    const equal = this.#equal;
    const from = equal && this.started ? equal.pass(all) : 0;
    if (from > 0) this.output += equal!.bytes;
    if (from === all.length) return false;
    const text = from === 0 ? all : all.slice(from);
    if (this.#deltas) this.output += this.#deltas.count(text);
    const isMarked = this.#marks.test(text);
    if (!this.started) this.#readFirst(bytes);
    else if (isMarked) this.#readMarked(from === 0 ? bytes : bytes.subarray(from), text);
    else equal?.learn(text);
    return isMarked;
  }

  #readMarked(bytes: Uint8Array, text: string): void {
    for (const event of markedEvents(bytes, text, this.#everyMark))
      for (const frame of parseFrames(event)) this.watch.frame(frame, this.seen);
  }

  /** The first event is parsed whatever it says, and may be behind comments. */
  #readFirst(bytes: Uint8Array): void {
    for (const frame of parseFrames(bytes)) {
      this.watch.frame(frame, this.seen);
      if (!this.started) {
        if (this.#isTerminator(frame)) this.seen.error ??= incompleteStream();
        this.failedFirst = this.seen.error !== undefined;
      }
      this.started = true;
    }
  }

  /** The first event may be the terminator: llama-cpp-python ends a stream like that when another request arrives. */
  #isTerminator({ data }: Frame): boolean {
    const { terminator } = this.watch;
    if (!this.seen.terminated || terminator === undefined) return false;
    return parseFrames(Buffer.from(terminator)).some((end) => end.data === data.trim());
  }
}

/** What passes events on and reads them. */
export type StreamTap = Pick<
  Tap,
  "seen" | "midEvent" | "started" | "failedFirst" | "watch" | "output" | "outputTokens" | "push" | "rest"
>;

const BLANK_LINE = Buffer.from("\n\n");

/** The bytes after the first blank line, which ends an event whose beginning was passed on unread. */
function behindFirstEvent(bytes: Uint8Array): Uint8Array {
  const blank = /\r\n\r\n|\n\n|\r\r/.exec(latin(bytes));
  return blank ? bytes.subarray(blank.index + blank[0].length) : new Uint8Array(0);
}

/** Decodes bytes as Latin-1. */
function latin(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

/**
 * The events that contain a mark, in order: of hundreds of events in one read, a few are worth to be parsed.
 * @param bytes complete events @param text the same as Latin-1 @param everyMark a global expression
 */
function* markedEvents(bytes: Uint8Array, text: string, everyMark: RegExp): Generator<Uint8Array> {
  if (text.includes("\r")) {
    for (const event of eventsIn(bytes)) {
      everyMark.lastIndex = 0;
      if (everyMark.test(latin(event))) yield event;
    }
    return;
  }
  for (let from = 0; from < text.length;) {
    everyMark.lastIndex = from;
    const mark = everyMark.exec(text);
    if (!mark) return;
    const before = text.lastIndexOf("\n\n", mark.index);
    const end = text.indexOf("\n\n", mark.index);
    const start = before < 0 ? from : Math.max(from, before + 2);
    from = end < 0 ? text.length : end + 2;
    yield bytes.subarray(start, from);
  }
}

const marks = new WeakMap<StreamObserver, RegExp>();
const everyMarks = new WeakMap<StreamObserver, RegExp>();

function everyMarkOf(watch: StreamObserver): RegExp {
  let found = everyMarks.get(watch);
  if (!found) everyMarks.set(watch, (found = new RegExp(marksOf(watch), "g")));
  return found;
}

/** All marks of a format in one pattern, so that the bytes are searched once. */
export function marksOf(watch: StreamObserver): RegExp {
  let found = marks.get(watch);
  if (!found) marks.set(watch, (found = new RegExp(watch.marks.map(RegExp.escape).join("|"))));
  return found;
}
