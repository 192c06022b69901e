/**
 * A streamed answer behind guards. An event waits while its text may still be a part of a value or of a token, and goes on byte
 * for byte unless something in it is replaced. What was sent is never looked at again.
 */
import { GatewayError } from "../../../core/error.ts";
import type { BrokenStream } from "../../../core/format.ts";
import type { Frame } from "../../../core/frame.ts";
import type { AnswerText, TextPlaces } from "../../../core/text-places.ts";
import { type ByteSource, Passed } from "../../../gateway/delivery/stream.ts";
import { writeFrame } from "../../../stream/sse.ts";
import { Channel } from "./channel.ts";
import { EventReader } from "./event-texts.ts";
import { decided, EventCutter, StreamEvent } from "./events.ts";
import type { Judged, Output } from "./output.ts";

const UTF8 = new TextEncoder();

/** How a stream ends for its receiver. */
type Ending = (this: void) => void;

export class GuardedSource extends Passed {
  readonly #places: TextPlaces;
  readonly #output: Output;
  readonly #cutter = new EventCutter();
  readonly #reader: EventReader;
  readonly #channels = new Map<string, Channel>();
  /** Texts that weir cannot read. */
  readonly #unread = new Set<string>();
  #waiting: StreamEvent[] = [];
  /** The verdicts when the answer began. */
  readonly #words: string;
  /** Nothing goes on before the end. */
  readonly #holds: boolean;
  /** Nothing goes on before a text: until then a block is a status. */
  #isHead: boolean;
  /** Bytes that are ready before anyone has asked for them. */
  #ready: Uint8Array | undefined;
  #ending: Ending | undefined;
  #stopped: GatewayError | undefined;
  #last: StreamEvent | undefined;
  #isAsking = false;
  #asksAgain = false;

  /** @param waits whether a block before the first text is a status: default: if the guards of this source may block */
  constructor(inner: ByteSource, places: TextPlaces, output: Output, waits = output.blocks) {
    super(inner);
    this.#places = places;
    this.#reader = new EventReader(places);
    this.#output = output;
    this.#words = output.words(true);
    this.#holds = output.holds;
    this.#isHead = waits;
  }

  /** Waits for the first bytes that may go on. @throws GatewayError of a guard that blocks before them */
  async ready(): Promise<void> {
    let failure: unknown;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const ending = (tell: Ending) => {
      this.#ending = tell;
      resolve(undefined);
    };
    this.take({
      piece: (bytes) => {
        this.#ready = bytes;
        resolve(undefined);
      },
      end: () => ending(() => super.end()),
      fail: (thrown) => {
        failure = thrown;
        ending(() => super.fail(thrown));
      },
    });
    await promise;
    if (this.#ready) return;
    if (this.#stopped) throw this.#stopped;
    if (isOfGuard(failure)) throw failure;
  }

  override get isWaiting(): boolean {
    return super.isWaiting || this.#holds;
  }

  protected override takeInto(): void {
    const ready = this.#ready;
    this.#ready = undefined;
    if (ready) super.piece(ready);
    else if (this.#ending) this.#ending();
    else this.#ask();
  }

  /** Asks the inner source until something may go on: in a loop, because it may answer at once. */
  #ask(): void {
    this.#asksAgain = true;
    if (this.#isAsking) return;
    this.#isAsking = true;
    while (this.#asksAgain) {
      this.#asksAgain = false;
      super.takeInto(this);
    }
    this.#isAsking = false;
  }

  override piece(bytes: Uint8Array): void {
    if (this.#stopped) return;
    for (const event of this.#cutter.push(bytes)) {
      const judged = this.#read(event);
      // What the pieces in front of it say may go on.
      if (judged) return this.#block(this.#settle(false) ?? judged);
    }
    const judged = this.#settle(false);
    if (judged) this.#block(judged);
    else if (!this.#send(false)) this.#ask();
  }

  override end(): void {
    this.#finish(() => super.end());
  }

  override fail(thrown: unknown): void {
    const ending = () => super.fail(thrown);
    if (!this.#isHead || !isOfGuard(thrown)) return this.#finish(ending);
    // A guard further inwards blocks, and nothing has gone on.
    this.#ending = ending;
    ending();
  }

  /** This source gives whole events. */
  override beforeError(): string {
    return "";
  }

  override broken(): BrokenStream {
    const last = this.#last?.frame();
    return { ...super.broken(), ...(last && { last }) };
  }

  /** The inner source may repeat in it what has not gone on. */
  override writeError(error: GatewayError): readonly Frame[] | undefined {
    if (this.#stopped) return undefined;
    const frames = super.writeError(error)?.map((frame) => this.#passed(frame));
    return frames?.every((frame) => frame !== undefined) ? frames : undefined;
  }

  /** @returns undefined: a guard blocks it */
  #passed(frame: Frame): Frame | undefined {
    const event = new StreamEvent(writeFrame(frame));
    const data = event.parsed();
    if (!data) return frame;
    for (const text of this.#places.event(data))
      if (!text.fixed && this.#whole(text, event)) return undefined;
    return { ...frame, data: event.data };
  }

  #finish(ending: Ending): void {
    if (this.#stopped) return;
    this.#ending = ending;
    for (const event of this.#cutter.rest()) {
      const blocked = this.#read(event);
      if (blocked) return this.#block(blocked);
    }
    const judged = this.#settle(true);
    if (judged) return this.#block(judged);
    const words = this.#output.words();
    // Clients skip comments. What was known at the beginning is in the header.
    if (this.#output.restores && words !== this.#words)
      this.#waiting.push(new StreamEvent(`: weir-guards ${words}\n\n`));
    if (!this.#send(true)) ending();
  }

  /** @returns the verdict if a guard blocks */
  #read(event: StreamEvent): Judged | undefined {
    this.#waiting.push(event);
    const read = this.#reader.read(event);
    if (!read) return undefined;
    for (const text of read.texts) {
      if (text.fixed || text.kind === "media") this.#skip(text);
      if (text.fixed) continue;
      const refused = this.#output.refusal(text);
      if (refused) event.open++;
      const judged = refused ?? this.#take(text, event);
      if (judged) return judged;
    }
    for (const beginning of read.closed) {
      event.isPiece = false;
      const judged = this.#close(beginning);
      if (judged) return judged;
    }
    return undefined;
  }

  /** Pieces of a text count once. */
  #skip(text: AnswerText): void {
    const name = `${text.channel ?? text.path} ${text.kind}`;
    if (text.get() === "" || this.#unread.has(name)) return;
    this.#unread.add(name);
    this.#output.unread(text);
  }

  #take(text: AnswerText, event: StreamEvent): Judged | undefined {
    if (text.channel !== undefined) {
      event.hasText ||= text.get() !== "";
      event.isPiece = true;
      this.#channel(`${text.channel} ${text.kind}`, text).add(text, event);
      return undefined;
    }
    // The answer repeats the instructions of its request before it begins.
    event.hasText ||= text.kind === "tool-arguments";
    const judged = this.#whole(text, event);
    if (judged) event.open++;
    return judged;
  }

  /** @returns the verdict if a guard blocks */
  #whole(text: AnswerText, event: StreamEvent): Judged | undefined {
    const given = text.get();
    const { judged, whole } = this.#output.whole(given, text, true);
    if (whole !== given) (event.changes ??= new Map()).set(text.path, whole);
    return judged.error && judged;
  }

  #channel(name: string, text: AnswerText): Channel {
    const known = this.#channels.get(name);
    if (known) return known;
    const channel = new Channel(text);
    this.#channels.set(name, channel);
    return channel;
  }

  /** @param beginning of the names of channels that get no more text */
  #close(beginning: string): Judged | undefined {
    if (this.#holds) return undefined;
    for (const [name, channel] of this.#channels)
      if (name.startsWith(beginning)) {
        const judged = channel.settle(this.#output, true);
        if (judged) return judged;
        this.#channels.delete(name);
      }
    return undefined;
  }

  #settle(isFinal: boolean): Judged | undefined {
    if (this.#holds && !isFinal) return undefined;
    for (const channel of this.#channels.values()) {
      const judged = channel.settle(this.#output, isFinal);
      if (judged) return judged;
    }
    return undefined;
  }

  /** @returns whether there was something to send */
  #send(isFinal: boolean): boolean {
    if (this.#holds && !isFinal) return false;
    const sent = isFinal ? this.#waiting.splice(0) : this.#decided();
    if (this.#isHead && !isFinal && !sent.some(({ hasText }) => hasText)) {
      this.#waiting.unshift(...sent);
      return false;
    }
    if (sent.length === 0) return false;
    this.#isHead = false;
    this.#write(sent);
    return true;
  }

  /** Takes the events that may go on. */
  #decided(): StreamEvent[] {
    const { sent, kept } = decided(this.#waiting, this.#places.independent ?? false);
    this.#waiting = kept;
    return sent;
  }

  #write(events: readonly StreamEvent[]): void {
    this.#last = events.findLast(({ hasData }) => hasData) ?? this.#last;
    super.piece(UTF8.encode(this.#written(events)));
  }

  #written(events: readonly StreamEvent[]): string {
    const text = events.map((event) => event.written()).join("");
    if (events.some(({ lost }) => lost)) this.#output.loseLogprobs();
    return text;
  }

  /** Ends the stream at a value: what is decided goes on, the event with the value and all behind it do not. */
  #block({ error }: Judged): void {
    this.#stopped = error!;
    this.stop(error);
    const sent = this.#decided();
    const frames = error!.as === "refusal" ? this.#places.stopped(error!.message, this.broken()) : undefined;
    const ending = frames ? () => super.end() : () => super.fail(error);
    const text = this.#written(sent) + (frames ?? []).map(writeFrame).join("");
    this.#ending = ending;
    if (text === "" || (this.#isHead && !frames)) ending();
    else super.piece(UTF8.encode(text));
  }
}

const CODES = new Set(["blocked_by_guard", "guard_unavailable"]);

function isOfGuard(thrown: unknown): boolean {
  return thrown instanceof GatewayError && thrown.code !== undefined && CODES.has(thrown.code);
}
