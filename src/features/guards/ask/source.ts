/**
 * A streamed answer behind a guard that asks. `hold`: nothing goes on before the verdict on the whole answer; `window`: text goes
 * on as far as the verdicts on its pieces allow; `after`: it goes on at once, and its end waits for the last verdict.
 */
import type { GatewayError } from "../../../core/error.ts";
import type { BrokenStream } from "../../../core/format.ts";
import type { Frame } from "../../../core/frame.ts";
import type { AnswerText, TextPlaces } from "../../../core/text-places.ts";
import { type ByteSource, Passed } from "../../../gateway/delivery/stream.ts";
import { writeFrame } from "../../../stream/sse.ts";
import { Channel } from "../pass/channel.ts";
import { decided, EventCutter, StreamEvent } from "../pass/events.ts";
import { edited } from "../replace/edits.ts";
import { BlockedError } from "../verdicts.ts";
import type { Answering } from "./answer.ts";
import { Said } from "./said.ts";

/** A whole text of an event, which repeats what was said, or is a text of its own. */
interface Whole {
  readonly event: StreamEvent;
  readonly path: string;
  readonly text: string;
  readonly said: Said;
}

export class AskedSource extends Passed {
  readonly #places: TextPlaces;
  readonly #answering: Answering;
  readonly #cutter = new EventCutter();
  readonly #channels = new Map<string, { readonly said: Said; readonly channel: Channel; offset: number }>();
  /** All texts of the answer. */
  readonly #texts: Said[] = [];
  /** Texts that weir cannot read. */
  readonly #unread = new Set<string>();
  #wholes: Whole[] = [];
  #waiting: StreamEvent[] = [];
  #last: Frame | undefined;
  #hasSent = false;
  /** Its receiver waits for bytes. */
  #isWanted = false;
  /** The inner source was asked for bytes. */
  #isTaking = false;
  #isPumping = false;
  #pumpsAgain = false;
  /** A verdict is awaited. */
  #isAsking = false;
  /** The inner source has ended. */
  #hasEnded = false;
  /** How the stream ends, once nothing waits. */
  #ending: ((this: void) => void) | undefined;
  /** Text that is ready to be sent. */
  #rest = "";
  /** Units of text that came behind the last question. */
  #unasked = 0;

  constructor(inner: ByteSource, places: TextPlaces, answering: Answering) {
    super(inner);
    this.#places = places;
    this.#answering = answering;
  }

  override get isWaiting(): boolean {
    return super.isWaiting || (this.#mode === "hold" && !this.#hasSent);
  }

  get #mode(): "hold" | "window" | "after" {
    return this.#answering.guard.mode;
  }

  protected override takeInto(): void {
    this.#isWanted = true;
    this.#pump();
  }

  /** In a loop, because the inner source and the receiver may answer at once. */
  #pump(): void {
    this.#pumpsAgain = true;
    if (this.#isPumping) return;
    this.#isPumping = true;
    while (this.#pumpsAgain) {
      this.#pumpsAgain = false;
      this.#step();
    }
    this.#isPumping = false;
  }

  #step(): void {
    if (!this.#isWanted) return;
    const text = this.#sendable();
    if (text !== "") {
      this.#isWanted = false;
      this.#hasSent = true;
      return super.piece(Buffer.from(text));
    }
    if (this.#ending) {
      this.#isWanted = false;
      return this.#ending();
    }
    if (this.#isTaking || this.#hasEnded) return;
    this.#isTaking = true;
    super.takeInto(this);
  }

  override piece(bytes: Uint8Array): void {
    this.#isTaking = false;
    if (this.#ending) return;
    this.#read(this.#cutter.push(bytes));
    this.#settle();
    this.#ask();
    this.#pump();
  }

  override end(): void {
    this.#isTaking = false;
    if (this.#ending) return;
    this.#hasEnded = true;
    this.#read(this.#cutter.rest());
    for (const said of this.#texts) said.isClosed = true;
    this.#ask();
    this.#pump();
  }

  /** What has no verdict does not go on. */
  override fail(thrown: unknown): void {
    this.#isTaking = false;
    if (this.#ending) return;
    this.#hasEnded = true;
    this.#answering.stop();
    this.#waiting = [];
    this.#ending = () => super.fail(thrown);
    this.#pump();
  }

  override stop(reason: unknown): void {
    this.#answering.stop();
    super.stop(reason);
  }

  /** This source gives whole events. */
  override beforeError(): string {
    return "";
  }

  override broken(): BrokenStream {
    return { ...super.broken(), ...(this.#last && { last: this.#last }) };
  }

  /** The inner source may repeat in it what has no verdict. */
  override writeError(): undefined {}

  #read(events: readonly StreamEvent[]): void {
    for (const event of events) {
      this.#waiting.push(event);
      const data = event.parsed();
      if (!data) continue;
      for (const text of this.#places.event(data))
        if (this.#answering.reads(text)) this.#take(text, event);
        else if (text.fixed || text.kind === "media") this.#skip(text);
      for (const beginning of this.#places.closed?.(data) ?? []) {
        event.isPiece = false;
        this.#close(beginning);
      }
    }
  }

  /** Pieces of a text count once. */
  #skip(text: AnswerText): void {
    const name = `${text.channel ?? text.path} ${text.kind}`;
    if (text.get() === "" || this.#unread.has(name)) return;
    this.#unread.add(name);
    this.#answering.unread(text);
  }

  #take(text: AnswerText, event: StreamEvent): void {
    const given = text.get();
    if (text.channel === undefined) return this.#takeWhole(text, given, event);
    event.hasText ||= given !== "";
    this.#unasked += given.length;
    event.isPiece = true;
    const name = `${text.channel} ${text.kind}`;
    let known = this.#channels.get(name);
    if (!known) {
      known = { said: new Said(text), channel: new Channel(text), offset: 0 };
      this.#channels.set(name, known);
      this.#texts.push(known.said);
    }
    known.said.text += given;
    known.channel.add(text, event);
  }

  /** The last events of some formats repeat all that was said: nothing is asked twice. */
  #takeWhole(text: AnswerText, given: string, event: StreamEvent): void {
    if (given === "") return;
    let said = this.#texts.find((one) => one.text === given);
    if (!said) {
      event.hasText = true;
      this.#unasked += given.length;
      said = new Said(text, given);
      said.isClosed = true;
      this.#texts.push(said);
    }
    this.#wholes.push({ event, path: text.path, text: given, said });
    event.open++;
  }

  /** @param beginning of the names of channels that get no more text */
  #close(beginning: string): void {
    for (const [name, { said }] of this.#channels)
      if (name.startsWith(beginning)) {
        said.isClosed = true;
        // A later text of the same name is another one.
        if (said.free === said.text.length) this.#channels.delete(name);
      }
  }

  #ask(): void {
    if (this.#isAsking || this.#ending) return;
    const isFinal = this.#hasEnded;
    if (!isFinal && !this.#isDue) return;
    this.#isAsking = true;
    this.#unasked = 0;
    this.#answering.ask(this.#texts, isFinal).then(
      (error) => this.#judged(error, isFinal),
      (thrown: unknown) => this.fail(thrown),
    );
  }

  get #isDue(): boolean {
    if (this.#mode === "hold") return false;
    if (this.#mode === "after") return this.#unasked >= this.#answering.guard.every;
    return this.#texts.some(({ isNews }) => isNews);
  }

  #judged(error: GatewayError | undefined, isFinal: boolean): void {
    this.#isAsking = false;
    if (this.#ending) return;
    this.#settle();
    if (error) this.#block(error);
    else if (isFinal) this.#ending = () => super.end();
    else this.#ask();
    this.#pump();
  }

  /** Hands the verdicts on to the events. */
  #settle(): void {
    const flows = this.#mode === "after";
    for (const [name, known] of this.#channels) {
      const { said, channel } = known;
      const free = flows ? said.text.length : said.free;
      const { offset } = known;
      const edits = said
        .edits(offset, free)
        .map(({ start, end, text }) => ({ start: start - offset, end: end - offset, text }));
      channel.settle({ judge: () => ({ edits, edge: free - offset, read: "" }) }, false);
      known.offset = free;
      if (said.isClosed && free === said.text.length) this.#channels.delete(name);
    }
    if (flows) for (const { event } of this.#wholes.splice(0)) event.open--;
    this.#wholes = this.#wholes.filter((whole) => !settleWhole(whole));
  }

  /** What may be sent now. */
  #sendable(): string {
    const isDone = this.#ending !== undefined;
    const rest = this.#rest;
    this.#rest = "";
    if (rest !== "" || (this.#mode === "hold" && !isDone)) return rest;
    const { sent, kept } = decided(this.#waiting, this.#places.independent ?? false);
    const end = this.#mode === "after" && !isDone ? sent.findLastIndex(({ hasText }) => hasText) : -1;
    // What the client takes for the end of the answer stands behind its last text.
    this.#waiting = [...(end < 0 ? [] : sent.splice(end)), ...kept];
    return this.#written(sent);
  }

  #written(events: readonly StreamEvent[]): string {
    this.#last = events.findLast(({ hasData }) => hasData)?.frame() ?? this.#last;
    const text = events.map((event) => event.written()).join("");
    if (events.some(({ lost }) => lost)) this.#answering.loseLogprobs();
    return text;
  }

  /** Ends the stream: what has a verdict goes on, and nothing else. */
  #block(error: GatewayError): void {
    this.stop(error);
    const refuses = error instanceof BlockedError && error.as === "refusal";
    const free = this.#mode === "after" ? [] : decided(this.#waiting, this.#places.independent ?? false).sent;
    this.#waiting = [];
    // Before the first byte a block is a status.
    const text = refuses || this.#hasSent ? this.#written(free) : "";
    const frames = refuses ? this.#places.stopped(error.message, this.broken()) : [];
    this.#rest = text + frames.map(writeFrame).join("");
    this.#ending = refuses ? () => super.end() : () => super.fail(error);
  }
}

/** @returns whether the text may go on whole */
function settleWhole({ event, path, text, said }: Whole): boolean {
  if (said.free < text.length) return false;
  const edits = said.edits(0, text.length);
  if (edits.length > 0) (event.changes ??= new Map()).set(path, edited(text, edits));
  event.open--;
  return true;
}
