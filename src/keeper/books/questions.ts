/** Questions of the console to the workers: what runs, how they route, what their config says. */
import type { BooksUp, GatewayAddress, Question, RunningCall } from "../../ledger/messages.ts";
import type { AnswerTo } from "../../operator/worker-answers.ts";
import type { BooksClock } from "./clock.ts";
import type { Peer } from "./peers.ts";

type Reply = Extract<BooksUp, { kind: "reply" }>;

/** Longest wait for a reply. Milliseconds. */
const WAIT_MS = 10_000;
/** Workers report their running calls for this long after each request. Milliseconds. */
const WATCH_MS = 10_000;
/** Longest wait for the first states with running calls. Milliseconds. */
const FIRST_MS = 500;

/** The calls that run in all workers. */
export interface RunningCalls {
  /** Calls that run, also those that are not listed. */
  total: number;
  calls: readonly (RunningCall & { worker: number })[];
}

export class Questions {
  readonly #clock: BooksClock;
  readonly #connected: () => readonly Peer[];
  readonly #waiting = new Map<number, (reply: Reply | undefined) => void>();
  #number = 0;
  #watchedUntil = 0;

  /** @param connected the workers that are connected */
  constructor(clock: BooksClock, connected: () => readonly Peer[]) {
    this.#clock = clock;
    this.#connected = connected;
  }

  /** Asks one worker: all have the same config. @throws Error with one sentence */
  async ask<Asked extends Question>(question: Asked): Promise<AnswerTo<Asked>> {
    const [peer] = this.#connected();
    if (!peer) throw new Error("no worker of the gateway is connected at the moment");
    return this.#ask(peer, question);
  }

  /** Asks all workers. @throws Error with one sentence if one does not answer */
  askAll<Asked extends Question>(question: Asked): Promise<AnswerTo<Asked>[]> {
    return Promise.all(this.#connected().map((peer) => this.#ask(peer, question)));
  }

  /** @param ms longest wait @returns whether all connected workers have taken over what they were sent before */
  settled(ms: number): Promise<boolean> {
    const { promise: late, resolve } = Promise.withResolvers<boolean>();
    const cancel = this.#clock.after(ms, () => resolve(false));
    const all = this.askAll({ what: "settled" }).then(
      () => true,
      () => false,
    );
    return Promise.race([all, late]).finally(cancel);
  }

  replied(reply: Reply): void {
    this.#waiting.get(reply.number)?.(reply);
  }

  /** The calls that run. The workers report them from the first request on. */
  async running(): Promise<RunningCalls> {
    await this.#told(() => this.#connected().every(({ state }) => state?.running));
    return this.runningNow();
  }

  /** As the workers said last. */
  runningNow(): RunningCalls {
    this.#watch();
    const told = this.#connected().map(({ worker, state }) => ({ worker, running: state?.running }));
    const calls = told.flatMap(({ worker, running }) =>
      (running?.calls ?? []).map((call) => ({ ...call, worker })),
    );
    return {
      total: told.reduce((sum, { running }) => sum + (running?.total ?? 0), 0),
      calls: calls.sort((a, b) => a.startedAt - b.startedAt),
    };
  }

  /** Where the workers listen for calls: they report it once a second, so the first answer may have to wait. */
  async reach(): Promise<GatewayAddress | undefined> {
    await this.#told(() => this.gateway !== undefined);
    return this.gateway;
  }

  /** Where the workers listen for calls, as far as they have reported it. */
  get gateway(): GatewayAddress | undefined {
    return this.#connected().find(({ state }) => state?.gateway)?.state?.gateway;
  }

  async #told(isTold: () => boolean): Promise<void> {
    const until = this.#clock.monotonic() + FIRST_MS;
    this.#watch();
    while (!isTold() && this.#clock.monotonic() < until) await Bun.sleep(5);
  }

  #watch(): void {
    const now = this.#clock.monotonic();
    if (now < this.#watchedUntil - WATCH_MS / 2 && this.#connected().every(({ state }) => state?.running))
      return;
    this.#watchedUntil = now + WATCH_MS;
    for (const { send } of this.#connected()) send?.({ kind: "watch", ms: WATCH_MS });
  }

  async #ask<Asked extends Question>(peer: Peer, question: Asked): Promise<AnswerTo<Asked>> {
    const number = ++this.#number;
    const { promise, resolve } = Promise.withResolvers<Reply | undefined>();
    const cancel = this.#clock.after(WAIT_MS, () => resolve(undefined));
    this.#waiting.set(number, resolve);
    peer.send?.({ kind: "question", number, question });
    const reply = await promise;
    cancel();
    this.#waiting.delete(number);
    if (reply === undefined)
      throw new Error(`worker ${peer.worker} did not answer within ${WAIT_MS / 1000} s`);
    if ("error" in reply) throw new Error(reply.error);
    return reply.value as AnswerTo<Asked>;
  }
}
