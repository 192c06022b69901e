/** One batch of a provider, from its creation to its results. Its lines wait for it with their tickets. */
import { GatewayError } from "../../../core/error.ts";
import type { Target } from "../../../core/provider.ts";
import { askBeside } from "../../../gateway/lanes/carrier.ts";
import type { Journal } from "../journal/journal.ts";
import type { KnownSub } from "../journal/subs.ts";
import {
  type BatchHost,
  type HostCall,
  type HostLine,
  type HostLook,
  HostRefusal,
  isOfHost,
  isPassing,
  numberOf,
} from "./host.ts";
import { Pace } from "./pace.ts";
import { isIn } from "./ranges.ts";
import type { Outcome, Ticket } from "./ticket.ts";

/** Creations of one batch, with those whose answer was lost. */
const TRIES = 5;
/** Waits behind a creation without an answer; the host's list may be late. Milliseconds. */
const LOST_MS = [300, 1_000, 3_000] as const;
/** Waits between two readings of results whose lines have not all come. Milliseconds. */
const AGAIN_MS = 500;

export interface SubOptions {
  readonly journal: Journal;
  readonly host: BatchHost;
  readonly pace: Pace;
  /** Lines run by weir if the provider has nothing of them. */
  readonly mayRun: boolean;
  /** Ids of all batches of providers that are known here. */
  readonly known: Set<string>;
  /** The line has its answer. Resolves when there is room for another one. */
  answered(ticket: Ticket): Promise<void>;
  /** @returns whether a line whose answer is an error that may pass goes into a further batch */
  mayRetry(line: number): boolean;
  leased(): Promise<void>;
  durably(write: () => Promise<void>): Promise<void>;
  /** The provider has the batch. */
  made(): void;
  /** The provider does not have it: its lines belong to it no more. */
  gone(sub: SubBatch): void;
}

/** The way of the requests of its lines. */
export interface Way {
  readonly target: Target;
  /** Behind the base URL. */
  readonly path: string;
  /** Those that change what a body means, such as `anthropic-beta`. */
  readonly headers: Readonly<Record<string, string>>;
}

export class SubBatch {
  readonly sub: KnownSub;
  readonly #options: SubOptions;
  readonly #waiting = new Map<number, Ticket>();
  #call: HostCall | undefined;
  #id: string | undefined;
  #ended: HostLook | undefined;
  #isRunning = false;
  /** Why lines come back that come later. */
  #outcome: Outcome | undefined;
  #isCancelled = false;
  /** Lines that go into another batch. */
  readonly #refused = new Set<number>();
  /** Lines of a new batch, until it is created. */
  #lines: readonly HostLine[] | undefined;

  /** @param lines absent for one that an earlier runner has begun */
  constructor(sub: KnownSub, options: SubOptions, lines?: readonly HostLine[]) {
    this.sub = sub;
    this.#options = options;
    this.#lines = lines;
    this.#id = sub.id;
    if (sub.id !== undefined) options.known.add(sub.id);
  }

  has(line: number): boolean {
    return this.began(line) && !this.#refused.has(line);
  }

  /** It has, or had the line. */
  began(line: number): boolean {
    return isIn(this.sub.lines, line);
  }

  /** The line waits here. */
  take(ticket: Ticket, way: Way): void {
    this.#call ??= callOf(way, this.#options.pace);
    if (this.#outcome !== undefined) return ticket.giveUp(this.#outcome);
    this.#waiting.set(ticket.line, ticket);
    ticket.isSent = true;
    if (this.#isRunning) return;
    this.#isRunning = true;
    void this.#live(this.#call);
  }

  /** The client has cancelled the batch, or its time is over: the provider is told so, and what it has is kept. */
  cancel(): void {
    this.#isCancelled = true;
    this.#options.pace.hurry();
  }

  /** All lines that wait come back. */
  giveUp(outcome: Outcome): void {
    this.#outcome ??= outcome;
    for (const ticket of this.#waiting.values()) ticket.giveUp(outcome);
    this.#waiting.clear();
    this.#options.pace.end();
  }

  async #live(call: HostCall): Promise<void> {
    try {
      while (this.#waiting.size > 0) {
        this.#id ??= await this.#create(call);
        if (this.#id === undefined || this.#waiting.size === 0) continue;
        this.#ended ??= await this.#watch(this.#id, call);
        if (this.#ended) await this.#read(this.#id, call, this.#ended);
      }
    } catch (fault) {
      this.giveUp({ fault });
    } finally {
      this.#isRunning = false;
    }
  }

  /** @returns the id; undefined: its lines have come back */
  async #create(call: HostCall): Promise<string | undefined> {
    const { journal, host, durably, leased, pace } = this.#options;
    const lines = this.#lines;
    await leased();
    if (lines) await durably(() => journal.sub(this.sub));
    let refusal: unknown;
    // What an earlier runner has begun may exist.
    let mayExist = !lines;
    for (let tries = 0; !pace.isOver; tries++) {
      const found = mayExist ? await this.#find(call) : undefined;
      if (found) return this.#noted(found.id);
      if (pace.isOver || !lines || tries === TRIES) break;
      try {
        return await this.#noted((await host.create(lines, this.sub.mark, call)).id);
      } catch (thrown) {
        if (!isOfHost(thrown)) throw thrown;
        refusal = thrown;
        mayExist = !(thrown instanceof HostRefusal) || thrown.mayHaveDone;
        if (thrown instanceof HostRefusal && !thrown.mayPass) break;
        await pace.wait(LOST_MS[Math.min(tries, LOST_MS.length - 1)]!);
      }
    }
    if (!pace.isOver) await this.#gone(refusal);
    return undefined;
  }

  async #noted(id: string): Promise<string> {
    const { journal, durably, leased, known, made } = this.#options;
    known.add(id);
    this.#lines = undefined;
    await leased();
    await durably(() => journal.sub({ t: "sub-id", k: this.sub.k, id }));
    made();
    return id;
  }

  /**
   * Looks for the batch until the host says whether it has it: what it may have is not run anywhere else. If the host lists no
   * batches, the lines come back as lost.
   */
  async #find(call: HostCall): Promise<{ readonly id: string } | undefined> {
    const { host, known, pace } = this.#options;
    const { mark, lines, at } = this.sub;
    const count = lines.reduce((sum, [from, to]) => sum + to - from + 1, 0);
    for (let refusals = 0; !pace.isOver;) {
      try {
        const found = await host.find({ mark, lines: count, since: at, known }, call);
        if (found !== "later") return found;
      } catch (thrown) {
        if (!isOfHost(thrown)) throw thrown;
        if (thrown instanceof HostRefusal && !thrown.mayPass) refusals++;
      }
      if (refusals === TRIES) this.giveUp("lost");
      else await pace.next();
    }
    return undefined;
  }

  /** The provider does not have the batch. @param refusal why; undefined: it was never created, or has failed as a whole */
  async #gone(refusal: unknown): Promise<void> {
    const { journal, durably, mayRun } = this.#options;
    await durably(() => journal.sub({ t: "sub-gone", k: this.sub.k }));
    this.#options.gone(this);
    // An earlier runner ended before it was created.
    if (refusal === undefined && !this.#ended) return this.giveUp("again");
    if (mayRun) return this.giveUp("run");
    this.#answerAll(
      refusal instanceof HostRefusal ? refusal.status : 502,
      `The provider did not take the batch: ${(refusal as Error).message}`,
    );
  }

  #answerAll(status: number, message: string): void {
    for (const ticket of this.#waiting.values())
      ticket.answer({
        status,
        body: JSON.stringify({ type: "error", error: { type: "api_error", message } }),
      });
    this.#waiting.clear();
  }

  /** @returns how it ended; undefined: it is not watched any more */
  async #watch(id: string, call: HostCall): Promise<HostLook | undefined> {
    const { host, pace } = this.#options;
    let isTold = false;
    while (!pace.isOver && this.#waiting.size > 0) {
      try {
        if (this.#isCancelled && !isTold) {
          await host.cancel(id, call);
          isTold = true;
          pace.hurry();
        }
        const look = await host.look(id, call);
        if (look.state !== "working") return look;
        await pace.next(look.retryAfter);
      } catch (thrown) {
        if (thrown instanceof HostRefusal && thrown.status === 404) {
          this.giveUp("lost");
          return undefined;
        }
        if (!isOfHost(thrown)) throw thrown;
        await pace.next();
      }
    }
    return undefined;
  }

  /** Hands the results to the lines that are here; others may come until the next reading. */
  async #read(id: string, call: HostCall, { state, why }: HostLook): Promise<void> {
    const { host, pace, mayRun, mayRetry, answered } = this.#options;
    const here = [...this.#waiting.values()];
    let answers = 0;
    try {
      for await (const result of host.results(id, call)) {
        const number = numberOf(result.key);
        if (number === undefined) continue;
        answers++;
        const ticket = this.#waiting.get(number);
        if (!ticket) continue;
        this.#waiting.delete(number);
        if ("without" in result) ticket.giveUp(result.without);
        else if (state === "done" && isPassing(result.status) && mayRetry(number)) {
          this.#refused.add(number);
          ticket.giveUp("again");
        } else {
          ticket.answer(result);
          await answered(ticket);
        }
      }
    } catch (thrown) {
      if (!isOfHost(thrown)) throw thrown;
      if (thrown instanceof HostRefusal && !thrown.mayPass && state !== "done") answers = 0;
      else return pace.next();
    }
    const left = here.filter(({ line }) => this.#waiting.has(line));
    if (state === "failed" && answers === 0) {
      if (mayRun) return this.#gone(undefined);
      return this.#answerAll(400, why ?? "The provider could not run the batch.");
    }
    for (const ticket of left) {
      this.#waiting.delete(ticket.line);
      ticket.giveUp(state === "expired" || state === "cancelled" ? state : "lost");
    }
    if (this.#waiting.size > 0) await pace.wait(AGAIN_MS);
  }
}

function callOf({ target, path, headers }: Way, pace: Pace): HostCall {
  return {
    model: target.model,
    path,
    async pause(ms) {
      await pace.wait(ms);
      if (pace.isOver) throw new GatewayError("internal", "The batch is over.");
    },
    ask: (method, asked, body) =>
      askBeside(target, {
        ...{ method, path: asked },
        headers: { ...headers, ...(body && { "content-type": body.type }) },
        ...(body && { body: body.bytes }),
      }),
  };
}
