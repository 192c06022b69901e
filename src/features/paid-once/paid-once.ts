/**
 * Paid once: a client whose connection broke and which repeats its request gets the first answer from its beginning, and the
 * provider is asked once. README.md of the gateway says which requests count as repeats.
 */
import type { Call } from "../../core/call.ts";
import type { Ledger } from "../../core/ledger.ts";
import type { RepeatChannel, SoughtRequest } from "./messages.ts";
import { Slot } from "../../core/slot.ts";
import type { Stoppable } from "../../core/stop.ts";
import { assertModel, type Models } from "../../gateway/access.ts";
import type { Clock } from "../../gateway/delivery/clock.ts";
import type { Opened } from "../../gateway/lanes/lane.ts";
import type { Timeouts } from "../../gateway/types.ts";
import { paidBy } from "./columns.ts";
import { type IdentifiedRequest, identityOf, isRepeat } from "./identity.ts";
import { type Followed, Kept, type Shelf } from "./kept.ts";
import { Memory } from "./memory.ts";
import { type Looked, OtherWorkers } from "./other-workers.ts";
import { Refusals } from "./refusals.ts";

export interface PaidOnceOptions {
  /** How long a repeat may follow its first request, and an answer is kept. Milliseconds. */
  keepMs: number;
  /** How long an answer is read on without a client. Milliseconds. */
  readOnMs: number;
  /** The longest answer that is kept. Bytes. */
  maxBytes: number;
  /** Memory for all kept answers of the process. Bytes. */
  totalBytes: number;
}

export interface PaidOnceContext {
  clock: Clock;
  ledger: Ledger;
  /** The way to other workers; absent if there are none. */
  repeats?: RepeatChannel | undefined;
}

/** How long a repeat waits for weir to notice that the connection of its first request is broken. Milliseconds. */
const NOTICE_MS = 1_000;
/** Interval in which answers are dropped whose time is over. Milliseconds. */
const SWEEP_MS = 250;

/** Notes that weir looks for the answer of a call, and keeps it. */
const taken = new Slot<true>();

export class PaidOnce {
  readonly #context: PaidOnceContext;
  readonly #shelf: Shelf;
  readonly #salt = crypto.getRandomValues(new Uint8Array(32));
  readonly #others: OtherWorkers | undefined;
  readonly #byDigest = new Map<string, Set<Kept>>();
  /** Answers that have ended, with the time when they are dropped; the oldest first. */
  readonly #whole = new Map<Kept, number>();
  readonly #refusals = new Refusals();
  #options: PaidOnceOptions;
  #timeouts: Timeouts;
  #isClosing = false;
  #sweep: Timer | undefined;

  constructor(options: PaidOnceOptions, timeouts: Timeouts, context: PaidOnceContext) {
    this.#context = context;
    this.#options = options;
    this.#timeouts = timeouts;
    const memory = new Memory(
      () => this.#options.totalBytes,
      () => this.#makeRoom(),
    );
    if (context.repeats) this.#others = new OtherWorkers(context.repeats, (request) => this.#look(request));
    const whole = this;
    this.#shelf = {
      clock: context.clock,
      memory,
      get timeouts() {
        return whole.#timeouts;
      },
      get readOnMs() {
        return whole.#options.readOnMs;
      },
      get maxBytes() {
        return whole.#options.maxBytes;
      },
      get isClosing() {
        return whole.#isClosing;
      },
      remove: (kept, isDelivered) => this.#remove(kept, isDelivered),
      expire: (kept, ms = this.#options.keepMs) => this.#expire(kept, ms),
    };
  }

  /** Uses the options of a new config for later calls. */
  renew(options: PaidOnceOptions, timeouts: Timeouts): void {
    this.#options = options;
    this.#timeouts = timeouts;
  }

  /** Bytes that kept answers take. */
  get bytes(): number {
    return this.#shelf.memory.used;
  }

  /**
   * Answers a call from the answer to an earlier request of which it is the repeat, or keeps its answer for a repeat.
   * @param open finds a provider and opens its answer
   * @param registry of the gateway, whose models the key may use
   */
  async take(
    call: Call,
    request: IdentifiedRequest,
    open: () => Promise<Opened>,
    registry: Models,
  ): Promise<Opened> {
    const salt = this.#saltNow;
    if (!salt) return open();
    const identity = identityOf(request, salt);
    const found = isRepeat(identity) ? await this.#find(call, identity, registry) : undefined;
    if (found) return found;
    if (call.abortReason) throw call.abortReason;
    const kept = new Kept(call, identity, this.#shelf);
    const known = this.#byDigest.get(identity.digest);
    if (known) known.add(kept);
    else this.#byDigest.set(identity.digest, new Set([kept]));
    taken.set(call, true);
    call.stay(() => kept.clientLeft());
    try {
      return kept.begin(await open());
    } catch (thrown) {
      kept.fail();
      throw thrown;
    }
  }

  /** Whether {@link take} has looked for the answer of the call. */
  hasTaken(call: Call): boolean {
    return taken.get(call) === true;
  }

  /** weir has refused a request before it looked for an answer. */
  refused(request: IdentifiedRequest, status: number): void {
    const salt = this.#saltNow;
    if (!salt || !isRepeatedAfter(status)) return;
    const { isNamed, client, count } = identityOf(request, salt);
    if (!isNamed) this.#refusals.note(client, count, performance.now() + this.#options.keepMs);
  }

  /** The gateway stops: ends the calls that are read on without a client. */
  close(): void {
    this.#isClosing = true;
    for (const set of [...this.#byDigest.values()]) for (const kept of [...set]) if (kept.isIdle) kept.drop();
    clearInterval(this.#sweep);
  }

  /** Workers compare digests, so all of them use the salt of the keeper. */
  get #saltNow(): Uint8Array | undefined {
    return this.#others ? this.#others.salt : this.#salt;
  }

  async #find(call: Call, repeat: SoughtRequest, registry: Models): Promise<Opened | undefined> {
    assertModel(call.principal, call.model, registry);
    const followed = await this.#follow(repeat, call.stop);
    if (!followed) return undefined;
    const { head, isWhole, opened } = followed;
    const answer = isWhole ? "finished" : "running";
    paidBy.set(call, { answer, first: head.first });
    this.#context.ledger.count?.(call);
    const own = { "x-weir-paid-once": answer, "x-weir-first-request-id": head.first };
    return { ...opened, headers: { ...head.headers, ...own } };
  }

  async #follow(repeat: SoughtRequest, stop: Stoppable): Promise<Followed | undefined> {
    const { kept, isRefused } = await this.#look(repeat);
    if (!this.#others || (kept && repeat.isNamed)) return followIn(kept, repeat, stop);
    const elsewhere = await this.#others.seek(repeat);
    const { line } = elsewhere;
    const isAmbiguous = isRefused || elsewhere.isRefused;
    if (line !== undefined && !kept && !isAmbiguous) return this.#others.follow(line, stop);
    if (line !== undefined) this.#others.leave(line);
    return isAmbiguous ? undefined : followIn(kept, repeat, stop);
  }

  async #look(repeat: SoughtRequest): Promise<Looked> {
    const { digest, client, count, isNamed } = repeat;
    const kept = [...(this.#byDigest.get(digest) ?? [])];
    const mayBreak = isNamed ? [] : kept.flatMap((each) => each.broken(repeat) ?? []);
    if (mayBreak.length > 0 && !kept.some((each) => each.answers(repeat)))
      await Promise.race([...mayBreak, Bun.sleep(NOTICE_MS)]);
    const found = kept.find((each) => each.answers(repeat));
    if (isNamed) return { kept: found, isRefused: false };
    const now = performance.now();
    const refused = [digest, client].find((each) => this.#refusals.has(each, count - 1, now));
    if (refused === undefined) return { kept: found, isRefused: false };
    // Other workers may have an answer that this repeat could be about.
    if (!found && !this.#others) this.#refusals.take(refused, count - 1);
    return { isRefused: true };
  }

  #remove(kept: Kept, isDelivered: boolean): void {
    const { digest, count, isNamed } = kept.identity;
    const known = this.#byDigest.get(digest);
    known?.delete(kept);
    if (known?.size === 0) this.#byDigest.delete(digest);
    this.#whole.delete(kept);
    if (!isDelivered && !isNamed)
      this.#refusals.note(digest, count, performance.now() + this.#options.keepMs);
  }

  #expire(kept: Kept, ms: number): void {
    this.#whole.delete(kept);
    this.#whole.set(kept, performance.now() + ms);
    this.#sweep ??= setInterval(() => this.#dropOld(), SWEEP_MS).unref();
  }

  #dropOld(): void {
    const now = performance.now();
    for (const [kept, until] of this.#whole) if (now >= until) kept.drop();
    if (this.#whole.size > 0) return;
    clearInterval(this.#sweep);
    this.#sweep = undefined;
  }

  #makeRoom(): boolean {
    for (const kept of this.#whole.keys()) {
      if (!kept.isIdle) continue;
      kept.drop();
      return true;
    }
    return false;
  }
}

/** Another repeat may have got the answer since it was found. */
function followIn(
  kept: Kept | undefined,
  repeat: SoughtRequest,
  stop: Stoppable,
): Promise<Followed | undefined> | undefined {
  return kept?.answers(repeat) ? kept.follow(repeat, stop) : undefined;
}

/** Whether SDKs repeat a request after an error of this status. */
function isRepeatedAfter(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}
