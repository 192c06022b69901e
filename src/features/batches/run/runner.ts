/** Runs one batch: checks its input, runs its lines, and writes the files of its results. */
import { mkdir, rm } from "node:fs/promises";
import { needsOf, sayExcess } from "../admission.ts";
import { type Batch, isEnd, type LineFault, phase } from "../batch.ts";
import type { Booked } from "../booked.ts";
import { Journal } from "../journal/journal.ts";
import type { Progress } from "../messages.ts";
import { NativeRun } from "../native/native-run.ts";
import { bookedTo, callerOf } from "../owner.ts";
import type { Need } from "../waiting.ts";
import { atDiscount } from "./discount.ts";
import { Ends, Left } from "./ends.ts";
import { checkedInput, inputOf } from "./input.ts";
import { LineRun, NATIVE } from "./line-run.ts";
import { ownFile } from "./own-file.ts";
import { writeResults } from "./results.ts";
import { retryInput } from "./retry-input.ts";
import { Pending } from "./pending.ts";
import { Places } from "./places.ts";
import { LineSeal } from "./seal.ts";
import { sleep } from "./sleep.ts";
import type { RunnerOptions } from "./runner-options.ts";

/** How often the numbers of a batch are told. Milliseconds. */
const TELL_MS = 1_000;
/** Wait for a keeper or a store that is away, and for a disk that is full. Milliseconds. */
const AWAY_MS = 500;
/** How often a runner without a lease looks whether it has one again. Milliseconds. */
const LOOK_MS = 50;
/** A lease ends earlier for the runner, because clocks of nodes differ. Milliseconds. */
const MARGIN_MS = 1_000;

export class Runner {
  readonly #options: RunnerOptions;
  readonly #ends: Ends;
  #batch: Batch;
  #journal: Journal | undefined;
  /** Milliseconds since 1970. */
  #leasedUntil: number;
  #told = 0;
  #beginning: Promise<void> | undefined;

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#ends = options.ends ?? new Ends();
    this.#batch = options.run.batch;
    this.#leasedUntil = options.run.until;
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

  /** weir stops, or another runner has the batch. */
  get left(): AbortSignal {
    return this.#ends.left;
  }

  /** No other runner has the batch until then. @param until milliseconds since 1970 */
  hold(until: number): void {
    this.#leasedUntil = until;
  }

  /** A client cancelled the batch. */
  cancel(): void {
    this.#ends.cancel();
  }

  /** weir stops: lines that run may end. */
  leave(): void {
    this.#ends.leave();
  }

  /** Another runner has the batch: nothing more is written. */
  lose(): void {
    this.#ends.lose();
  }

  /** Tells why the batch does not go on for now, if the keeper is there. */
  async pause(reason: string): Promise<void> {
    await this.#tellOnce({ to: "paused", facts: { reason } }).catch(() => {});
  }

  /** Resolves when the batch has ended, or another runner goes on. @throws Error with a sentence for a batch that cannot go on now */
  async run(): Promise<void> {
    this.#ends.lateAt(this.#batch.deadline);
    try {
      await this.#steps();
    } catch (thrown) {
      if (!(thrown instanceof Left) && !this.left.aborted) throw thrown;
    } finally {
      this.#ends.close();
    }
  }

  async #steps(): Promise<void> {
    const { run } = this.#options;
    if (isEnd(this.#batch.state)) return;
    if (phase(this.#batch) === "stopping") this.#ends.cancel();
    if (phase(this.#batch) === "checking" && !(await this.#check())) return;
    await mkdir(run.folder, { recursive: true, mode: 0o700 });
    const journal = await Journal.open(run.folder, run.fence);
    this.#journal = journal;
    const seal = new LineSeal(run.key, this.id);
    try {
      if (journal.lines.ended < this.#batch.lines) await this.#lines(journal, seal);
      await this.#finish(journal, seal);
    } finally {
      await journal.close();
    }
    await rm(run.folder, { recursive: true, force: true });
  }

  /** @returns whether lines follow */
  async #check(): Promise<boolean> {
    const { files, settings } = this.#options;
    if (!(await this.#ownInput())) return !isEnd(this.#batch.state);
    // Lines of Gemini have keys that need not differ, and may be absent.
    const sharedIds = this.#batch.endpoint.startsWith("/v1beta/");
    const checked = await checkedInput(this.#batch, files, {
      ...{ lines: settings.limits.lines, sharedIds, oneModel: settings.mixed === false },
    });
    const { lines, models } = checked;
    const faults = checked.faults.length > 0 ? checked.faults : await this.#excess();
    if (faults.length > 0) {
      // A client may have cancelled it meanwhile: then it ends without lines.
      await this.#tell({ to: "refused", facts: { faults, lines: 0, reason: faults[0]!.message } });
      if (!isEnd(this.#batch.state)) return true;
      await files.release(this.#batch.inputFile, this.id);
      return false;
    }
    const [model] = models.size === 1 ? models.keys() : [];
    await this.#tell({ to: "waiting", facts: { lines, ...(model !== undefined && { model }) } });
    return true;
  }

  /** Makes the input of a batch that retries another one. @returns false: that one's files are gone */
  async #ownInput(): Promise<boolean> {
    const { files, run } = this.#options;
    const { retries, inputFile } = this.#batch;
    if (!retries || inputFile !== retries.inputFile) return true;
    const made = await retryInput(this.#batch, run.owner, files);
    if (made) await this.#tell({ facts: { inputFile: made.id } });
    else
      await this.#tell({
        to: "refused",
        facts: { lines: 0, reason: "The files of the batch before are gone." },
      });
    return made !== undefined;
  }

  /** What its owner's hard budgets say of all lines together. */
  async #excess(): Promise<readonly LineFault[]> {
    const { host, files, run, settings } = this.#options;
    const { admit, discount = 0, outputShare = 1 } = settings;
    // A small one was added up when it was made.
    if (this.#batch.reserved) return [];
    const principal = callerOf(run.owner, host);
    const { bound, ledger } = host;
    if (!admit || !bound || !ledger || principal === "gone") return [];
    const input = await ownFile(files, this.#batch.inputFile);
    const { endpoint } = this.#batch;
    const costs = { bound, ledger };
    const needs = await needsOf({ endpoint, input }, principal, files, costs, {
      admit,
      discount,
      outputShare,
    });
    if (!needs) return [];
    const excess = await this.#reserve(needs);
    return excess ? [{ code: "insufficient_quota", message: sayExcess(excess).message }] : [];
  }

  /** Waits for the keeper. @returns the budget that does not suffice @throws Left */
  async #reserve(needs: readonly Need[]): Promise<Need | undefined> {
    const { id, fence } = this;
    for (;;) {
      const answer = await this.#options.reserve({ id, fence, needs }).catch(() => undefined);
      if (answer && "excess" in answer) return answer.excess;
      if (answer && "batch" in answer) return undefined;
      if (answer) this.lose();
      if (this.left.aborted) throw new Left();
      await sleep(AWAY_MS, this.left);
    }
  }

  async #lines(journal: Journal, seal: LineSeal): Promise<void> {
    const { files, slots, run } = this.#options;
    const ends = this.#ends;
    const places = await Places.of(this.#batch, run.owner);
    const lines = this.#lineRun(journal, seal, places);
    const booked = journal.lines.begun().size > 0 ? await this.#booked() : new Map<string, Booked>();
    const pending = new Pending(() => ends.fault());
    const native = this.#native(journal);
    for await (const line of inputOf(this.#batch, files)) {
      if (ends.left.aborted || pending.hasFault) break;
      const state = journal.lines.stateOf(line.number);
      if (state === "ended") continue;
      const attempts = journal.lines.attemptsOf(line.number);
      const known = booked.get(`${line.number} ${attempts}`);
      const isHeld = state === "begun" && journal.lines.isHeld(line.number);
      const isNative =
        native?.holds(line.number) || journal.lines.begun().get(line.number)?.startsWith(NATIVE);
      if (state === "begun" && isNative) await lines.resume(line, attempts, known);
      else if (state === "begun" && (await lines.cut(line, attempts, known)) === "ended") continue;
      const ticket = await native?.ticket(line);
      if ((ticket && !ticket.isProbe) || (await slots.take(places.of(line), ends.enough))) {
        pending.add(
          lines.run(line, attempts + 1, ticket, isHeld).finally(() => ticket && native?.done(ticket)),
        );
        if (ticket?.isProbe) await ticket.decided;
      } else if (!ends.left.aborted && !pending.hasFault)
        await pending.note(lines.unanswered(line, ends.code, attempts + 1));
    }
    native?.end();
    await pending.all().finally(() => native?.close());
    if (ends.left.aborted) throw new Left();
  }

  #native(journal: Journal): NativeRun | undefined {
    const { native: settings } = this.#options.settings;
    if (!settings) return undefined;
    return new NativeRun({
      ...{ batch: this.id, journal, ends: this.#ends, settings },
      leased: () => this.#leased(),
      durably: (write) => this.#durably(write),
      made: () => void this.#tellOnce({ facts: { how: "native" } }).catch(() => {}),
    });
  }

  /** Waits for the keeper. @returns what the books have, by line and attempt */
  async #booked(): Promise<ReadonlyMap<string, Booked>> {
    for (;;) {
      const answer = await this.#options.booked(this.id).catch(() => undefined);
      if (answer && "booked" in answer)
        return new Map(answer.booked.map((one) => [`${one.line} ${one.attempt}`, one]));
      if (this.left.aborted) throw new Left();
      await sleep(AWAY_MS, this.left);
    }
  }

  #lineRun(journal: Journal, seal: LineSeal, places: Places): LineRun {
    const { host, run, slots, settings } = this.#options;
    return new LineRun({
      ...{ host: atDiscount(host, settings.discount), run, journal, seal, slots, places, ends: this.#ends },
      ...{ retries: settings.retries, again: settings.again },
      caller: () => callerOf(run.owner, host),
      bookedTo: () => bookedTo(run.owner, host),
      begins: () => this.#begins(),
      leased: () => this.#leased(),
      durably: (write) => this.#durably(write),
      ended: () => this.#ended(),
    });
  }

  async #begins(): Promise<void> {
    const { state } = this.#batch;
    if (state !== "waiting" && state !== "paused") return;
    this.#beginning ??= this.#tell({ to: "running" }).finally(() => (this.#beginning = undefined));
    await this.#beginning;
  }

  async #leased(): Promise<void> {
    while (Date.now() >= this.#leasedUntil - MARGIN_MS && !this.left.aborted) await sleep(LOOK_MS, this.left);
    if (this.left.aborted) throw new Left();
  }

  /** Results are paid: the batch keeps them while the disk does not take them. */
  async #durably(write: () => Promise<void>): Promise<void> {
    for (let faults = 0; ; faults++)
      try {
        await write();
        if (faults > 0 && this.#batch.state === "paused") await this.#tell({ to: phase(this.#batch) });
        return;
      } catch (cause) {
        if (!isOfDisk(cause)) throw cause;
        if (faults === 0) await this.pause(cause.message);
        if (this.left.aborted) throw new Left();
        await sleep(AWAY_MS, this.left);
      }
  }

  #ended(): void {
    const now = Date.now();
    if (now - this.#told < TELL_MS) return;
    this.#told = now;
    // A keeper that is away learns it later.
    void this.#tellOnce({}).catch(() => {});
  }

  async #finish(journal: Journal, seal: LineSeal): Promise<void> {
    const { files, run } = this.#options;
    // Before files are written: another runner may have the batch. A batch that a client cancels keeps its state.
    await this.#tell({ to: "closing" });
    const written = await writeResults(journal, seal, files, {
      ...{ batch: this.#batch, owner: run.owner, folder: run.folder },
    });
    // The input is needed no more, and who ends before the next step would leave it held.
    await files.release(this.#batch.inputFile, this.id);
    const { stoppingAt } = this.#batch;
    const end = stoppingAt !== undefined ? "stopped" : journal.lines.sums.late > 0 ? "late" : "done";
    await this.#tell({ to: end, facts: { ...written, held: 0 } });
  }

  /** Waits for the keeper. @throws Left if another runner has the batch, or weir stops */
  async #tell(progress: Progress): Promise<void> {
    while (!(await this.#tellOnce(progress).catch(unlessLeft))) {
      if (this.left.aborted) throw new Left();
      await sleep(AWAY_MS, this.left);
    }
  }

  /** @returns true @throws Left if another runner has the batch; GatewayError if the keeper is away */
  async #tellOnce({ to, facts }: Progress): Promise<true> {
    const { id, fence } = this;
    const known = { ...this.#journal?.lines.sums, ...facts };
    const answer = await this.#options.tell({ id, fence, ...(to && { to }), facts: known });
    if (!("batch" in answer) || !answer.batch) {
      this.lose();
      throw new Left();
    }
    this.#batch = answer.batch;
    if (phase(this.#batch) === "stopping") this.#ends.cancel();
    return true;
  }
}

function unlessLeft(thrown: unknown): false {
  if (thrown instanceof Left) throw thrown;
  return false;
}

/** Of the system, such as `ENOSPC`. */
function isOfDisk(cause: unknown): cause is Error {
  return cause instanceof Error && "syscall" in cause;
}
