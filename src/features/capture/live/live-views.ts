/** The calls that operators watch, in the keeper: what has come of each answer, for all who read it. */
import { AdminError } from "../../../operator/errors.ts";
import { Slot } from "../../../core/slot.ts";
import type { LiveDown, LiveFacts, LivePart, LiveUp } from "./messages.ts";

/** What the part in the keeper offers to the operations. */
export const liveViews = new Slot<LiveViews>();

/** Readers of all calls together. */
export const MOST_READERS = 100;
/** Text of a call that is kept for readers that come later, or are slow. Characters. */
const MOST_KEPT = 524_288;
/** Longest wait for the worker that has a call. Milliseconds. */
const FIND_MS = 2_000;

type Send = (message: LiveDown) => void;

/** What a reader gets next. `lost`: bytes before the parts that are not shown. */
export interface Next {
  parts: readonly LivePart[];
  lost: number;
}

export class LiveViews {
  /** The connected workers. */
  readonly #workers = new Set<Send>();
  readonly #views = new Map<number, LiveView>();
  #number = 0;
  #readers = 0;

  connected(send: Send): void {
    this.#workers.add(send);
  }

  gone(send: Send): void {
    this.#workers.delete(send);
    for (const view of this.#views.values()) view.workerGone(send);
  }

  receive(send: Send, message: LiveUp): void {
    const view = this.#views.get(message.watch);
    if (view) view.receive(send, message);
    else if ("facts" in message || "parts" in message) send({ unwatch: message.watch });
  }

  /**
   * Begins to watch a call, or joins those who do. The reader must leave in the end.
   * @throws AdminError 404, 429
   */
  async join(id: string): Promise<LiveView> {
    if (this.#readers >= MOST_READERS)
      throw new AdminError(
        429,
        "too_many_watchers",
        `${MOST_READERS} readers watch calls already; try again later.`,
      );
    this.#readers++;
    let view = this.#views.values().find((one) => one.id === id && !one.isOver);
    if (!view) {
      view = new LiveView(++this.#number, id, [...this.#workers]);
      this.#views.set(view.number, view);
      view.ask();
    }
    view.readers++;
    const timer = setTimeout(() => view.giveUp(), FIND_MS);
    await view.found;
    clearTimeout(timer);
    if (view.facts) return view;
    this.leave(view);
    throw new AdminError(
      404,
      "not_running",
      "No worker of this gateway runs the call, or it has just ended.",
    );
  }

  leave(view: LiveView): void {
    this.#readers--;
    if (--view.readers > 0) return;
    this.#views.delete(view.number);
    view.end();
  }
}

/** One call. Its text has positions, so that each reader goes on where it was, at its own pace. */
export class LiveView {
  readonly number: number;
  readonly id: string;
  readonly found: Promise<void>;
  readers = 0;
  facts: LiveFacts | undefined;
  /** Its client does not want its bodies to be seen. */
  isForbidden = false;
  isOver = false;
  /** The worker that ran it has ended. */
  isLost = false;
  readonly #find: () => void;
  readonly #asked: Set<Send>;
  #worker: Send | undefined;
  #kept: (LivePart & { bytes: number; lost: number })[] = [];
  #length = 0;
  /** Number of the first kept entry, and bytes of those before it. */
  #first = 0;
  #before = 0;
  readonly #wakes = new Set<() => void>();

  constructor(number: number, id: string, workers: readonly Send[]) {
    this.number = number;
    this.id = id;
    this.#asked = new Set(workers);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.found = promise;
    this.#find = resolve;
  }

  ask(): void {
    for (const send of this.#asked) send({ watch: this.number, id: this.id });
    if (this.#asked.size === 0) this.giveUp();
  }

  giveUp(): void {
    if (!this.facts) this.isOver = true;
    this.#find();
  }

  receive(send: Send, message: LiveUp): void {
    if ("none" in message) return this.#without(send);
    if ("facts" in message) {
      this.#worker = send;
      this.facts = message.facts;
      this.isForbidden ||= message.forbidden === true;
      this.#find();
    } else if ("parts" in message) {
      this.#add(message.parts, message.lost ?? 0);
      send({ taken: this.number });
    } else this.isOver = true;
    this.#wake();
  }

  workerGone(send: Send): void {
    if (this.#worker === undefined) return this.#without(send);
    if (this.#worker !== send || this.isOver) return;
    this.isOver = this.isLost = true;
    this.#wake();
  }

  /** No reader is left. */
  end(): void {
    if (!this.isOver) this.#worker?.({ unwatch: this.number });
  }

  /** Resolves when there may be more. @param ms longest wait */
  changed(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    this.#wakes.add(resolve);
    return promise.finally(() => {
      clearTimeout(timer);
      this.#wakes.delete(resolve);
    });
  }

  /** What has come since a position. @param at number of the entry and bytes that the reader has had @param most characters */
  since(at: { entry: number; bytes: number }, most: number): Next {
    let lost = Math.max(0, this.#before - at.bytes);
    const parts: LivePart[] = [];
    let length = 0;
    let index = Math.max(0, at.entry - this.#first);
    for (; index < this.#kept.length && length < most; index++) {
      const { bytes, lost: own, ...part } = this.#kept[index]!;
      // A gap in the middle of what is read ends it: the mark stands before what follows.
      if (own > 0 && parts.length > 0) break;
      lost += own;
      at.bytes += bytes + own;
      if (part.text !== "") parts.push(part);
      length += part.text.length;
    }
    at.bytes = Math.max(at.bytes, this.#before);
    at.entry = this.#first + index;
    return { parts, lost };
  }

  /** Whether a reader at this entry has had all. */
  hasAll({ entry }: { entry: number }): boolean {
    return entry >= this.#first + this.#kept.length;
  }

  #without(send: Send): void {
    this.#asked.delete(send);
    if (this.#asked.size === 0) this.giveUp();
  }

  #add(parts: readonly LivePart[], lost: number): void {
    if (lost > 0) this.#kept.push({ part: -1, kind: "text", text: "", bytes: 0, lost });
    for (const part of parts) {
      this.#kept.push({ ...part, bytes: Buffer.byteLength(part.text), lost: 0 });
      this.#length += part.text.length;
    }
    while (this.#length > MOST_KEPT && this.#kept.length > 1) {
      const { text, bytes, lost: own } = this.#kept.shift()!;
      this.#length -= text.length;
      this.#first++;
      this.#before += bytes + own;
    }
  }

  #wake(): void {
    for (const wake of this.#wakes) wake();
  }
}
