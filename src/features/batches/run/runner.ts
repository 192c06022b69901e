/** Runs one batch: checks its input, runs its lines, and writes the files of its results. */
import type { KeptFiles } from "../../../core/kept-files.ts";
import type { Principal } from "../../../core/principal.ts";
import type { WorkerHost } from "../../../gateway/seams.ts";
import { type Batch, type BatchUsage, type Ending, isEnd, phase, type State } from "../batch.ts";
import { Journal } from "../journal/journal.ts";
import type { BatchAnswer, Progress, Run } from "../messages.ts";
import { callerOf } from "../owner.ts";
import { inputOfUsage, isBusy, isQuota, mayPass, messageOf, retryAfterOf } from "./answer.ts";
import { checkedInput, inputOf, type InputLine } from "./input.ts";
import { askLine, type LineAnswer } from "./line-call.ts";
import { answeredLine, type Unanswered, unansweredLine } from "./result.ts";
import { countsOf, writeResults } from "./results.ts";
import { LineSeal } from "./seal.ts";
import { sleep } from "./sleep.ts";
import type { Slots } from "./slots.ts";

/** How often the numbers of a batch are told. Milliseconds. */
const TELL_MS = 1_000;
/** Waits between two tries of a line; the last one counts for all further ones. Milliseconds. */
const BACKOFF_MS = [500, 2_000, 8_000, 30_000] as const;
/** How long a running line may go on behind the deadline. Milliseconds. */
const GRACE_MS = 60_000;

export interface RunnerOptions {
  readonly run: Run;
  readonly host: Pick<WorkerHost, "call" | "callerOfKey" | "isOpen" | "principal" | "fault">;
  readonly files: KeptFiles;
  readonly slots: Slots;
  readonly settings: RunnerSettings;
  /** Tells the keeper. */
  tell(progress: Progress & { id: string; fence: number }): Promise<BatchAnswer>;
  /** Until when no other runner has the batch. Milliseconds since 1970. */
  leasedUntil(): number;
}

export interface RunnerSettings {
  readonly retries: number;
  readonly again: boolean;
  readonly lines: number;
}

/** Why a runner stops before the end of its batch. */
class Left extends Error {}

export class Runner {
  readonly #options: RunnerOptions;
  readonly #seal: LineSeal;
  /** Ends waits and running lines. */
  readonly #stop = new AbortController();
  /** No further line begins: the batch was cancelled, its time is over, or weir stops. */
  readonly #enough = new AbortController();
  #batch: Batch;
  #isLeaving = false;
  /** Calls that run. */
  #calls = 0;
  /** Lines that wait for a call to end, and so for a part of their budget. */
  readonly #short: (() => void)[] = [];
  /** What this runner knows: answers of the keeper may be older. */
  #counts: Counts;
  #told = 0;

  constructor(options: RunnerOptions) {
    this.#options = options;
    const { batch, key } = options.run;
    this.#batch = batch;
    this.#counts = countsIn(batch);
    this.#seal = new LineSeal(key, batch.id);
  }

  get id(): string {
    return this.#batch.id;
  }

  get fence(): number {
    return this.#options.run.fence;
  }

  get batch(): Batch {
    return this.#batch;
  }

  /** Tells why the batch does not go on for now. */
  async pause(reason: string): Promise<void> {
    await this.#tell({ to: "paused", facts: { reason } });
  }

  /** A client cancelled the batch. */
  cancel(): void {
    this.#enough.abort("cancelled");
  }

  /** Another runner has the batch, or weir stops: nothing more is written. */
  leave(): void {
    this.#isLeaving = true;
    this.#enough.abort("left");
    this.#stop.abort("left");
  }

  /** Resolves when the batch has ended, or another runner goes on. @throws Error with a sentence for a batch that cannot go on now */
  async run(): Promise<void> {
    const deadline = this.#batch.deadline - Date.now();
    const timer = setTimeout(() => this.#enough.abort("late"), Math.min(2 ** 31 - 1, Math.max(0, deadline)));
    try {
      await this.#steps();
    } catch (thrown) {
      if (!(thrown instanceof Left) && !this.#isLeaving) throw thrown;
    } finally {
      clearTimeout(timer);
    }
  }

  async #steps(): Promise<void> {
    const { run } = this.#options;
    if (isEnd(this.#batch.state)) return;
    if (phase(this.#batch) === "stopping") this.#enough.abort("cancelled");
    if (phase(this.#batch) === "checking" && !(await this.#check())) return;
    const journal = await Journal.open(run.folder, run.fence);
    try {
      this.#recover(journal);
      if (phase(this.#batch) !== "closing") await this.#lines(journal);
      await this.#finish(journal);
    } finally {
      await journal.close();
    }
  }

  /** @returns whether lines follow */
  async #check(): Promise<boolean> {
    const { files, settings } = this.#options;
    // Lines of Gemini have keys that need not differ, and may be absent.
    const sharedIds = this.#batch.endpoint.startsWith("/v1beta/");
    const { lines, faults, models } = await checkedInput(this.#batch, files, settings.lines, sharedIds);
    if (faults.length > 0) {
      await this.#tell({ to: "refused", facts: { faults, lines: 0, reason: faults[0]!.message } });
      await files.release(this.#batch.inputFile, this.id);
      return false;
    }
    const [model] = models.size === 1 ? models.keys() : [];
    await this.#tell({ to: "waiting", facts: { lines, ...(model !== undefined && { model }) } });
    return true;
  }

  /** The journal knows more than the numbers that an earlier runner told last. */
  #recover(journal: Journal): void {
    const { out, err } = countsOf(journal);
    const { cancelled, late } = this.#counts;
    const { cost } = journal.lines;
    this.#counts = { ...this.#counts, done: out, failed: Math.max(0, err - cancelled - late), cost };
  }

  async #lines(journal: Journal): Promise<void> {
    const { files, slots, settings } = this.#options;
    const { path } = this.#batch;
    const pending = new Set<Promise<void>>();
    let fault: unknown;
    const begin = (work: Promise<void>) => {
      const one = work
        .catch((thrown: unknown) => {
          fault ??= thrown;
          this.#enough.abort("fault");
        })
        .finally(() => pending.delete(one));
      pending.add(one);
    };
    for await (const line of inputOf(this.#batch, files)) {
      if (fault !== undefined || this.#isLeaving) break;
      const state = journal.lines.stateOf(line.number);
      if (state === "ended") continue;
      const attempts = journal.lines.attemptsOf(line.number);
      if (state === "begun") {
        if (!settings.again) {
          await this.#unanswered(journal, line, "upstream_lost", attempts);
          continue;
        }
        await journal.end(line.number, attempts, "again", NOTHING, 0);
      }
      const isTaken = !this.#enough.signal.aborted && (await slots.take(path, this.#enough.signal));
      if (this.#isLeaving) {
        if (isTaken) slots.give(path, false);
        break;
      }
      if (!isTaken) {
        if (fault !== undefined) break;
        await this.#unanswered(
          journal,
          line,
          this.#reason() === "late" ? "batch_expired" : "batch_cancelled",
        );
        continue;
      }
      if (this.#batch.state === "waiting" || this.#batch.state === "paused")
        await this.#tell({ to: "running" });
      begin(this.#line(journal, line, attempts + 1));
    }
    await this.#ended(pending);
    if (fault !== undefined) throw fault;
    if (this.#isLeaving) throw new Left();
  }

  #reason(): unknown {
    return this.#enough.signal.reason;
  }

  /** Running lines may end; behind the deadline for some time. */
  async #ended(pending: ReadonlySet<Promise<void>>): Promise<void> {
    const isLate = this.#reason() === "late";
    const timer = isLate ? setTimeout(() => this.#stop.abort("late"), GRACE_MS) : undefined;
    while (pending.size > 0) await Promise.race(pending);
    clearTimeout(timer);
  }

  /** Has a place, and gives it back. */
  async #line(journal: Journal, line: InputLine, tried: number): Promise<void> {
    const { host, run, slots, settings } = this.#options;
    const { path } = this.#batch;
    let attempt = tried;
    let hasPlace = true;
    const giveBack = (answer?: LineAnswer) => {
      if (hasPlace) slots.give(path, isBusy(answer), retryAfterOf(answer));
      hasPlace = false;
    };
    try {
      for (;;) {
        // The key may have been revoked since the line before.
        const principal = callerOf(run.owner, host);
        if (principal === "gone") return await this.#unanswered(journal, line, "key_gone", attempt);
        const answer = await this.#try(journal, line, principal, attempt);
        const wait = this.#waitBehind(answer, attempt - tried, settings.retries);
        giveBack(answer);
        if (wait === undefined) return await this.#answered(journal, line, answer, attempt);
        await journal.end(line.number, attempt, "again", NOTHING, answer.cost);
        this.#add(answer);
        attempt++;
        if (wait === "a call") await this.#callEnds();
        else await sleep(wait, this.#enough.signal);
        if (this.#isLeaving) throw new Left();
        if (!this.#enough.signal.aborted) hasPlace = await slots.take(path, this.#enough.signal);
        if (!hasPlace) {
          const why = this.#reason() === "late" ? "batch_expired" : "batch_cancelled";
          return await this.#unanswered(journal, line, why, attempt);
        }
      }
    } finally {
      giveBack();
      this.#short.shift()?.();
    }
  }

  async #try(
    journal: Journal,
    line: InputLine,
    principal: Principal | undefined,
    attempt: number,
  ): Promise<LineAnswer> {
    const { host, run, leasedUntil } = this.#options;
    if (Date.now() >= leasedUntil()) throw new Left();
    await journal.start(line.number, attempt, `weir-${this.id}-${line.number}`);
    if (Date.now() >= leasedUntil()) throw new Left();
    this.#calls++;
    try {
      return await askLine(host, {
        ...{ url: line.url, body: line.body, principal, address: run.owner.address },
        ...{ batch: this.id, line: { number: line.number, attempt: attempt - 1 } },
        signal: this.#stop.signal,
      });
    } finally {
      this.#calls--;
    }
  }

  /** Resolves when the call of another line has ended, for one line after the other. */
  #callEnds(): Promise<void> {
    return new Promise((resolve) => this.#short.push(resolve));
  }

  /** Milliseconds until the next try, or that it waits for what the calls of others give back; undefined: the answer is the last one. */
  #waitBehind(answer: LineAnswer, tries: number, most: number): number | "a call" | undefined {
    if (isQuota(answer)) return this.#calls > 0 ? "a call" : undefined;
    if (!mayPass(answer) || tries >= most) return undefined;
    const backoff = BACKOFF_MS[Math.min(tries, BACKOFF_MS.length - 1)]!;
    return Math.max(retryAfterOf(answer), backoff * (0.5 + Math.random()));
  }

  async #answered(journal: Journal, line: InputLine, answer: LineAnswer, attempt: number): Promise<void> {
    this.#add(answer);
    if (isQuota(answer)) return this.#unanswered(journal, line, "insufficient_quota", attempt, answer);
    const isDone = answer.status >= 200 && answer.status < 300;
    const written = this.#seal.seal(answeredLine(line.customId, answer), line.number);
    await journal.end(line.number, attempt, isDone ? "out" : "err", written, answer.cost);
    await this.#count(isDone ? "done" : "failed");
  }

  async #unanswered(
    journal: Journal,
    line: InputLine,
    code: Unanswered,
    attempt = 1,
    answer?: LineAnswer,
  ): Promise<void> {
    const message = answer && messageOf(answer);
    const written = this.#seal.seal(unansweredLine(line.customId, code, message), line.number);
    await journal.end(line.number, attempt, "err", written, answer?.cost ?? 0);
    await this.#count(
      code === "batch_expired" ? "late" : code === "batch_cancelled" ? "cancelled" : "failed",
    );
  }

  #add({ usage, cost }: LineAnswer): void {
    const { input, cached, output, reasoning } = this.#counts.usage;
    const sum: BatchUsage = {
      input: input + inputOfUsage(usage),
      cached: cached + usage.cacheRead,
      output: output + usage.output,
      reasoning: reasoning + usage.reasoning,
    };
    this.#counts = { ...this.#counts, usage: sum, cost: this.#counts.cost + cost };
  }

  async #count(ending: Ending): Promise<void> {
    this.#counts = { ...this.#counts, [ending]: this.#counts[ending] + 1 };
    const now = Date.now();
    if (now - this.#told < TELL_MS) return;
    this.#told = now;
    await this.#tell({});
  }

  /** What the journal has counts: numbers in memory may be those of another runner. */
  async #finish(journal: Journal): Promise<void> {
    const end: State =
      this.#batch.stoppingAt !== undefined ? "stopped" : this.#counts.late > 0 ? "late" : "done";
    if (end !== "stopped") await this.#tell({ to: "closing" });
    const { files, run } = this.#options;
    const written = await writeResults(journal, this.#seal, files, { batch: this.#batch, owner: run.owner });
    await this.#tell({ to: end, facts: { ...written, held: 0 } });
    await files.release(this.#batch.inputFile, this.id);
  }

  /** @throws Left if another runner has the batch */
  async #tell({ to, facts }: Progress): Promise<void> {
    const { id, fence } = this;
    const known = { ...this.#counts, ...facts };
    const answer = await this.#options.tell({ id, fence, ...(to && { to }), facts: known });
    if (!("batch" in answer) || !answer.batch) throw new Left();
    this.#batch = answer.batch;
    if (phase(this.#batch) === "stopping") this.#enough.abort("cancelled");
  }
}

type Counts = Pick<Batch, Ending | "cost" | "usage">;

function countsIn({ done, failed, cancelled, late, cost, usage }: Batch): Counts {
  return { done, failed, cancelled, late, cost, usage };
}

const NOTHING = new Uint8Array();
