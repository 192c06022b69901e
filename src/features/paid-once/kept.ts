/**
 * One answer that weir keeps for the case that its client's connection breaks. Then weir reads it on without a client, and a
 * repeat of the request reads it from its beginning.
 */
import type { Call } from "../../core/call.ts";
import type { KeptHead, SoughtRequest } from "./messages.ts";
import type { Stoppable } from "../../core/stop.ts";
import type { Clock, Watcher } from "../../gateway/delivery/clock.ts";
import { timeoutsOf } from "../../gateway/delivery/deadline.ts";
import { toClientError } from "../../gateway/delivery/redact.ts";
import { constantHeaders, withCallHeaders } from "../../gateway/delivery/response-headers.ts";
import { clientLeft, idleTimeout, type StreamEnding } from "../../gateway/delivery/stream.ts";
import type { Opened, OpenedJson, OpenedStream } from "../../gateway/lanes/lane.ts";
import { blame } from "../../gateway/plugins/late-hooks.ts";
import type { Timeouts } from "../../gateway/types.ts";
import { leftByClient } from "./columns.ts";
import { FanOut } from "./fan-out.ts";
import { type Memory, Recording } from "./memory.ts";
import { FirstReader, RepeatReader } from "./readers.ts";
import { unlessStopped } from "./unless-stopped.ts";

/** An answer as a repeat gets it. */
export interface Followed {
  head: KeptHead;
  /** The answer had ended when the repeat came. */
  isWhole: boolean;
  opened: Opened;
}

/** Where kept answers are found, and what bounds them. */
export interface Shelf {
  readonly clock: Clock;
  readonly timeouts: Timeouts;
  readonly memory: Memory;
  /** How long an answer is read on without a client. Milliseconds. */
  readonly readOnMs: number;
  /** The longest answer. Bytes. */
  readonly maxBytes: number;
  /** The gateway stops: no answer is read on. */
  readonly isClosing: boolean;
  /** No repeat finds the answer any more. @param isDelivered a client has all of it */
  remove(kept: Kept, isDelivered: boolean): void;
  /** The answer is whole. @param ms how long it is kept; default: as long as repeats may come */
  expire(kept: Kept, ms?: number): void;
}

/** The end of a larger answer may wait in the memory of the server after weir has written it. Bytes. */
const SENT_AT_ONCE = 64 * 1024;

export class Kept implements Watcher {
  place: number | undefined = undefined;
  readonly first: Call;
  readonly identity: SoughtRequest;
  readonly #shelf: Shelf;
  readonly #recording: Recording;
  readonly #begun = Promise.withResolvers<KeptHead | undefined>();
  #fan: FanOut | undefined;
  /** Settles the first call, whose client left its stream. */
  #ending: StreamEnding | undefined;
  /** How often the client that asked last had asked before. */
  #count: number;
  /** That client is gone without the whole answer. */
  #isBroken = false;
  /** Called when that client is gone. */
  #onBroken: (() => void)[] = [];
  /** Clients that wait for the answer or read it. */
  #clients = 1;
  /** When the last of them left; monotonic milliseconds. */
  #aloneSince = 0;
  #hasFirstLeft = false;
  /** weir has written the whole answer to the first client. */
  #isFirstDone = false;
  #isWhole = false;
  #isRemoved = false;
  #isStopped = false;

  constructor(first: Call, identity: SoughtRequest, shelf: Shelf) {
    this.first = first;
    this.identity = identity;
    this.#shelf = shelf;
    this.#count = identity.count;
    this.#recording = new Recording(shelf.memory, shelf.maxBytes);
  }

  /** The answer has come to its regular end. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** No client waits for it or reads it. */
  get isIdle(): boolean {
    return this.#clients === 0;
  }

  /** Whether this is the answer to a repeat. */
  answers(repeat: SoughtRequest): boolean {
    if (this.#isRemoved) return false;
    return repeat.isNamed || (this.#isBroken && this.#count === repeat.count - 1);
  }

  /** @returns when the client of the answer is gone, if the repeat may be its own; undefined if it cannot be */
  broken(repeat: SoughtRequest): Promise<void> | undefined {
    if (this.#isRemoved || this.#isBroken || this.#count !== repeat.count - 1) return undefined;
    return new Promise((resolve) => this.#onBroken.push(resolve));
  }

  /** The call has begun to answer. @returns what its client gets */
  begin(opened: Opened): Opened {
    const { kind, status, headers } = opened;
    const constant = constantHeaders(kind, this.first.attempt?.target);
    const head = {
      first: this.first.id,
      kind,
      status,
      headers: { ...constant, ...withCallHeaders(headers, this.first) },
    };
    const own = opened.kind === "stream" ? this.#keepStream(opened) : this.#keepJson(opened);
    this.#begun.resolve(head);
    return own;
  }

  /** The call has failed before it began to answer. */
  fail(): void {
    this.#isStopped = true;
    this.#shelf.clock.remove(this);
    this.#remove(false);
  }

  /** The connection of the first client is closed. @returns false if the call cannot go on without it */
  clientLeft(): boolean {
    if (this.#hasFirstLeft) return true;
    if (this.#isRemoved || this.#shelf.isClosing) {
      this.#remove(false);
      return false;
    }
    this.#hasFirstLeft = true;
    if (this.#isFirstDone) {
      this.#clients++;
      this.#shelf.expire(this);
    } else {
      leftByClient.set(this.first, true);
      if (!this.#isWhole) this.#shelf.clock.add(this);
    }
    this.#leave();
    return true;
  }

  /** The server has closed the stream of the first client. @returns whether the answer is read on, and settles the call itself */
  readOn(ending: StreamEnding): boolean {
    const fan = this.#fan!;
    if (!this.clientLeft() && fan.readers <= 1) return false;
    this.#ending = ending;
    if (fan.isEnded) this.#settle();
    else fan.drain();
    return true;
  }

  /**
   * The repeat of a request waits for the answer. @param stop ends the wait
   * @returns undefined if there is none: the repeat is a new call
   */
  async follow(repeat: SoughtRequest, stop: Stoppable): Promise<Followed | undefined> {
    const isWhole = this.#isWhole;
    this.#clients++;
    this.#isBroken = false;
    this.#count = repeat.count;
    const head = await unlessStopped(this.#begun.promise, stop);
    if (!head || this.#isRemoved) {
      this.#leave();
      return undefined;
    }
    const { status, headers } = head;
    if (head.kind === "json") {
      const body = this.#recording.all();
      this.#delivered();
      return { head, isWhole, opened: { kind: "json", status, headers, body } };
    }
    const source = new RepeatReader(this.#fan!, {
      delivered: () => this.#delivered(),
      left: () => this.#leave(),
    });
    return { head, isWhole, opened: { kind: "stream", status, headers, source } };
  }

  /** The first client has got the end of the answer. */
  delivered(): void {
    this.#isFirstDone = true;
    this.#delivered();
  }

  /** The stream of the first client ended without the whole answer. */
  left(reason: unknown): void {
    this.#remove(false);
    this.#stop(reason);
    this.#leave();
  }

  /** No repeat gets the answer any more. A call that is read on for no client is stopped. */
  drop(): void {
    this.#remove(false);
    if (this.#clients === 0) this.#stop(clientLeft());
    this.#freeIfUnused();
  }

  tick(now: number): void {
    if (this.#clients === 0 && now - this.#aloneSince >= this.#shelf.readOnMs) return this.drop();
    const fan = this.#fan;
    const { gapMs } = timeoutsOf(this.first, this.#shelf.timeouts);
    const heardAt = Math.max(fan?.receivedAt ?? 0, this.first.attempt?.heardAt ?? 0);
    if (fan && this.#ending && !fan.source.isWaiting && now - heardAt > gapMs)
      fan.fail(blame(idleTimeout(gapMs), this.first));
  }

  #keepJson(opened: OpenedJson): OpenedJson {
    const { body, error } = opened;
    const bytes = typeof body === "string" ? Buffer.from(body) : body;
    if (error || !this.#recording.add(bytes)) this.#remove(false);
    else this.#completed();
    if (!this.#hasFirstLeft) this.delivered();
    return opened;
  }

  #keepStream(opened: OpenedStream): OpenedStream {
    this.#fan = new FanOut(opened.source, this.#recording, {
      overflowed: () => this.drop(),
      ended: () => this.#ended(),
      failed: () => this.#ended(),
    });
    return { ...opened, source: new FirstReader(this.#fan, this) };
  }

  /** The source of the stream has given all, or has failed. */
  #ended(): void {
    const { failure, source } = this.#fan!;
    this.#shelf.clock.remove(this);
    this.#isStopped = true;
    if (failure || source.error) this.#remove(false);
    else this.#completed();
    if (this.#ending) this.#settle();
  }

  #completed(): void {
    this.#isWhole = true;
    this.#shelf.clock.remove(this);
    if (!this.#isRemoved) this.#shelf.expire(this);
  }

  #delivered(): void {
    this.#clients--;
    const isSent = this.#recording.length <= SENT_AT_ONCE;
    if (!this.identity.isNamed && isSent) this.#remove(true);
    else if (!this.identity.isNamed) this.#shelf.expire(this, this.#shelf.readOnMs);
    this.#freeIfUnused();
  }

  /** Settles the first call, whose client left its stream. */
  #settle(): void {
    const ending = this.#ending!;
    this.#ending = undefined;
    const { failure, source } = this.#fan!;
    if (!failure && !source.error) return ending.complete();
    const error = source.error ?? toClientError(failure?.thrown, this.first);
    ending.failed(error);
    source.stop(error);
    this.first.abort(error);
  }

  /** A client is gone. */
  #leave(): void {
    this.#clients--;
    this.#isBroken = true;
    for (const resolve of this.#onBroken.splice(0)) resolve();
    this.#aloneSince = performance.now();
    if (this.#clients === 0 && this.#isRemoved) this.#stop(clientLeft());
    this.#freeIfUnused();
  }

  /** Stops the first call, unless it has ended. */
  #stop(reason: unknown): void {
    if (this.#isStopped || this.#isWhole) return;
    this.#isStopped = true;
    this.#shelf.clock.remove(this);
    const ending = this.#ending;
    this.#ending = undefined;
    if (this.#hasFirstLeft) this.first.abort(clientLeft());
    this.#fan?.source.stop(reason);
    ending?.cancelled();
  }

  #remove(isDelivered: boolean): void {
    if (this.#isRemoved) return;
    this.#isRemoved = true;
    this.#shelf.remove(this, isDelivered);
    this.#begun.resolve(undefined);
  }

  #freeIfUnused(): void {
    if (this.#isRemoved && this.#clients === 0) this.#recording.free();
  }
}
