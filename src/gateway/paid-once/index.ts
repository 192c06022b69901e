/**
 * Paid once: a client whose connection broke and which repeats its request gets the first answer from its beginning, and the
 * provider is asked once. README.md of the gateway says which requests count as repeats.
 */
import type { Call } from "../../core/call.ts";
import type { Ledger } from "../../core/ledger.ts";
import type { KeptHead } from "../../core/paid-once.ts";
import { assertModel } from "../access.ts";
import type { Clock } from "../delivery/clock.ts";
import type { Opened } from "../lanes/lane.ts";
import type { Timeouts } from "../types.ts";
import { type Identity, type IdentifiedRequest, identityOf, isRepeat } from "./identity.ts";
import { Kept, type Shelf } from "./kept.ts";
import { Memory } from "./memory.ts";
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
}

/** How long a repeat waits for weir to notice that the connection of its first request is broken. Milliseconds. */
const NOTICE_MS = 500;
/** Interval in which answers are dropped whose time is over. Milliseconds. */
const SWEEP_MS = 250;

export class PaidOnce {
  readonly #context: PaidOnceContext;
  readonly #shelf: Shelf;
  readonly #salt = crypto.getRandomValues(new Uint8Array(32));
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
   */
  async take(call: Call, request: IdentifiedRequest, open: () => Promise<Opened>): Promise<Opened> {
    const identity = identityOf(request, this.#salt);
    const found = isRepeat(identity) ? await this.#find(call, identity) : undefined;
    if (found) return found;
    if (call.abortReason) throw call.abortReason;
    const kept = new Kept(call, identity, this.#shelf);
    const known = this.#byDigest.get(identity.digest);
    if (known) known.add(kept);
    else this.#byDigest.set(identity.digest, new Set([kept]));
    call.onLeave = () => kept.clientLeft();
    try {
      return kept.begin(await open());
    } catch (thrown) {
      kept.fail();
      throw thrown;
    }
  }

  /** weir has refused a request before it read its body. */
  refused(request: IdentifiedRequest): void {
    const { isNamed, client, count } = identityOf(request, this.#salt);
    if (!isNamed) this.#refusals.note(client, count, performance.now() + this.#options.keepMs);
  }

  /** The gateway stops: ends the calls that are read on without a client. */
  close(): void {
    this.#isClosing = true;
    for (const set of [...this.#byDigest.values()]) for (const kept of [...set]) if (kept.isIdle) kept.drop();
    clearInterval(this.#sweep);
  }

  async #find(call: Call, repeat: Identity): Promise<Opened | undefined> {
    assertModel(call.access, call.model);
    const kept = await this.#look(repeat);
    if (!kept || call.abortReason) return undefined;
    const isWhole = kept.isWhole;
    const followed = await kept.follow(repeat);
    return followed && this.#answer(call, followed.head, followed.opened, isWhole);
  }

  #answer(call: Call, { first, headers }: KeptHead, opened: Opened, isWhole: boolean): Opened {
    const answer = isWhole ? "finished" : "running";
    call.paidOnce = { answer, first };
    this.#context.ledger.count?.(call);
    return {
      ...opened,
      headers: { ...headers, "x-weir-paid-once": answer, "x-weir-first-request-id": first },
    };
  }

  async #look(repeat: Identity): Promise<Kept | undefined> {
    const { digest, client, count, isNamed } = repeat;
    const kept = [...(this.#byDigest.get(digest) ?? [])];
    const mayBreak = isNamed ? [] : kept.flatMap((each) => each.broken(repeat) ?? []);
    if (mayBreak.length > 0 && !kept.some((each) => each.answers(repeat)))
      await Promise.race([...mayBreak, Bun.sleep(NOTICE_MS)]);
    const found = kept.find((each) => each.answers(repeat));
    if (isNamed) return found;
    const now = performance.now();
    const refused = [digest, client].filter((each) => this.#refusals.has(each, count - 1, now));
    if (found && refused.length === 0) return found;
    if (!found && refused[0] !== undefined) this.#refusals.take(refused[0], count - 1);
    return undefined;
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
