/**
 * What a runner of a batch did, so that another one goes on after a crash. Each runner has a fencing number, greater than those of
 * all runners before it, and writes files of its own: `journal-F`, `out-F.jsonl`, `err-F.jsonl`. A result counts when the journal
 * has its end; nothing of an earlier runner is changed.
 */
import { open, rm } from "node:fs/promises";
import type { Nano } from "../../../ledger/money.ts";
import type { BatchUsage, Ending, State } from "../batch.ts";
import { AppendFile } from "./append-file.ts";
import type { LineTable } from "./line-table.ts";
import { encodeRecord, type End, type Goal, type JournalRecord, type SubRecord } from "./record.ts";
import { fencesIn, pathOf, recover, type Recovered } from "./recover.ts";
import type { SubTable } from "./subs.ts";
import { type ResultLine, resultsIn, type ResultsQuery } from "./results.ts";

export interface JournalOptions {
  /** Milliseconds that a record may wait for others. */
  readonly gatherMs?: number;
}

/** What is known of the end of an attempt besides. */
export interface EndFacts {
  /** Absent: `done` for a result, `failed` for an error. */
  readonly ending?: Ending;
  readonly usage?: BatchUsage;
}

/** The promise of a record is kept within 50 ms, and a disk may need most of them. */
const GATHER_MS = 10;
/** Records that wait for no others. */
const GROUP = 64;

interface Waiting {
  readonly record: JournalRecord;
  /** The result of an `end`. */
  readonly result?: Uint8Array;
  settle(error?: unknown): void;
}

type Files = Readonly<Record<"journal" | "out" | "err", AppendFile>>;

export class Journal {
  readonly #folder: string;
  readonly #fence: number;
  readonly #files: Files;
  readonly #gatherMs: number;
  /** All lines, with what earlier runners did. */
  readonly lines: LineTable;
  /** Batches of providers for the lines, those of earlier runners included. */
  readonly subs: SubTable;
  /** The state that an earlier runner wrote last. */
  readonly state: Recovered["state"];
  #waiting: Waiting[] = [];
  /** Lines of which a record is being written. */
  readonly #busy = new Set<number>();
  #timer: Timer | undefined;
  #flushing: Promise<void> | undefined;
  #isClosed = false;

  private constructor(
    folder: string,
    fence: number,
    files: Files,
    recovered: Recovered,
    options: JournalOptions,
  ) {
    this.#folder = folder;
    this.#fence = fence;
    this.#files = files;
    this.lines = recovered.lines;
    this.subs = recovered.subs;
    this.state = recovered.state;
    this.#gatherMs = options.gatherMs ?? GATHER_MS;
  }

  /**
   * Reads the journals of earlier runners and begins one. When it resolves, what earlier runners still append counts no more.
   * @param folder of the batch
   * @param fence greater than that of each runner before
   * @throws Error that the fencing number is not, that a journal is damaged, or of the disk; the same number may be used again then
   */
  static async open(folder: string, fence: number, options: JournalOptions = {}): Promise<Journal> {
    const [newest = -1] = await fencesIn(folder);
    if (newest >= fence)
      throw new Error(`The batch in ${folder} has a runner with the number ${newest}, so ${fence} is stale.`);
    const recovered = await recover(folder, fence);
    const files = await createFiles(folder, fence, recovered);
    return new Journal(folder, fence, files, recovered, options);
  }

  /**
   * Notes that an attempt may go out; the call must wait for the promise.
   * @param n the line, from 1 @param a the attempt, from 1 @param call id of the call in the ledger
   * @throws Error that the line has begun or ended; of the disk, after which the attempt must not go out
   */
  async start(n: number, a: number, call: string): Promise<void> {
    if (this.lines.stateOf(n) !== "fresh") throw new Error(`Line ${n} has ${this.lines.stateOf(n)}.`);
    await this.#writeOf(n, { t: "start", n, a, call });
  }

  /** Notes what an attempt that has begun has turned into. @param call as for `start` @throws Error of the disk */
  async turned(n: number, a: number, call: string): Promise<void> {
    if (this.lines.stateOf(n) === "begun") await this.#write({ t: "start", n, a, call });
  }

  /** Notes that an attempt that has begun holds its part of budgets. @throws Error of the disk */
  async held(n: number, a: number): Promise<void> {
    if (this.lines.stateOf(n) === "begun") await this.#write({ t: "held", n, a });
  }

  /**
   * Notes the end of an attempt, and its result unless another attempt follows. A line may also end without an attempt.
   * @param result one line of JSON, without its line break; empty for `again`
   * @param cost what the attempt cost, in nano-dollars
   * @throws Error that the line has ended; of the disk, after which the line may be ended once more
   */
  async end(
    n: number,
    a: number,
    to: Goal,
    result: Uint8Array,
    cost: Nano,
    facts: EndFacts = {},
  ): Promise<void> {
    if (this.lines.stateOf(n) === "ended") throw new Error(`Line ${n} has ended.`);
    if (!Number.isSafeInteger(cost))
      throw new Error(`A cost is a whole number of nano-dollars, not ${cost}.`);
    if (result.includes(LF)) throw new Error(`The result of line ${n} has a line break.`);
    const len = to === "again" ? 0 : result.length + 1;
    const record: End = { ...{ t: "end", n, a, to }, off: 0, len, cost: String(cost), ...shortened(facts) };
    await this.#writeOf(n, record, to === "again" ? undefined : result);
  }

  /** Notes what became of a batch of a provider. @throws Error of the disk */
  async sub(record: SubRecord): Promise<void> {
    await this.#write(record);
    this.subs.note(record);
  }

  /** Notes a state of the batch. @param at milliseconds since 1970 @throws Error of the disk */
  async moved(state: State, at: number): Promise<void> {
    await this.#write({ t: "state", s: state, at });
  }

  /** The results of all runners so far. @throws Error if a file of results has lost bytes */
  results(query: ResultsQuery): AsyncGenerator<ResultLine, void> {
    return resultsIn(this.#folder, this.lines, query);
  }

  /** Writes what waits, and closes the files. */
  async close(): Promise<void> {
    this.#isClosed = true;
    while (this.#waiting.length > 0 || this.#flushing) await this.#flush();
    for (const file of Object.values(this.#files)) await file.close();
  }

  /** Writes a record of a line, of which no other record is being written. */
  async #writeOf(line: number, record: JournalRecord, result?: Uint8Array): Promise<void> {
    if (this.#busy.has(line)) throw new Error(`Another record of line ${line} is being written.`);
    this.#busy.add(line);
    try {
      await this.#write(record, result);
    } finally {
      this.#busy.delete(line);
    }
  }

  #write(record: JournalRecord, result?: Uint8Array): Promise<void> {
    if (this.#isClosed) return Promise.reject(new Error("The journal is closed."));
    return new Promise((resolve, reject) => {
      const settle = (error?: unknown) => (error === undefined ? resolve() : reject(error));
      this.#waiting.push({ record, settle, ...(result && { result }) });
      this.#plan();
    });
  }

  /** Writes soon, or at once if enough records wait. While a group is written, the next one gathers. */
  #plan(): void {
    if (this.#flushing || this.#waiting.length === 0) return;
    if (this.#waiting.length >= GROUP) void this.#flush();
    else this.#timer ??= setTimeout(() => void this.#flush(), this.#gatherMs);
  }

  #flush(): Promise<void> {
    if (this.#flushing) return this.#flushing;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const group = this.#waiting;
    this.#waiting = [];
    this.#flushing = this.#writeGroup(group).finally(() => {
      this.#flushing = undefined;
      this.#plan();
    });
    return this.#flushing;
  }

  /** Results first: a journal must not name a result that is not on the disk. */
  async #writeGroup(group: readonly Waiting[]): Promise<void> {
    const results = { out: [] as Uint8Array[], err: [] as Uint8Array[] };
    const ends = { out: this.#files.out.size, err: this.#files.err.size };
    const records = group.map(({ record, result }) => {
      if (record.t !== "end" || record.to === "again" || !result) return record;
      results[record.to].push(result, BREAK);
      const off = ends[record.to];
      ends[record.to] += record.len;
      return { ...record, off };
    });
    try {
      // Both have ended before the next group begins, also if one has failed.
      const written = await Promise.allSettled([
        this.#files.out.append(results.out),
        this.#files.err.append(results.err),
      ]);
      for (const one of written) if (one.status === "rejected") throw one.reason;
      await this.#files.journal.append(records.map(encodeRecord));
    } catch (error) {
      for (const { settle } of group) settle(error);
      return;
    }
    for (const [at, { settle }] of group.entries()) {
      const record = records[at]!;
      if (record.t === "start") this.lines.start(record);
      else if (record.t === "held") this.lines.hold(record);
      else if (record.t === "end") this.lines.end(record, this.#fence);
      settle();
    }
  }
}

function shortened({ ending, usage }: EndFacts): Pick<End, "e" | "u"> {
  return {
    ...(ending && { e: ending }),
    ...(usage && { u: [usage.input, usage.cached, usage.output, usage.reasoning] }),
  };
}

const LF = 0x0a;
const BREAK = Uint8Array.of(LF);

/**
 * Creates the files of a runner and takes the batch over. The journal comes first: of two runners with one number, one creates it,
 * and the other touches nothing.
 */
async function createFiles(folder: string, fence: number, { journals }: Recovered): Promise<Files> {
  const paths = (["journal", "out", "err"] as const).map((what) => pathOf(folder, what, fence));
  const created: AppendFile[] = [];
  try {
    for (const path of paths) created.push(await AppendFile.create(path));
    const [journal, out, err] = created as [AppendFile, AppendFile, AppendFile];
    await journal.append([encodeRecord({ t: "took", journals })]);
    await syncFolder(folder);
    return { journal, out, err };
  } catch (error) {
    for (let at = created.length - 1; at >= 0; at--) {
      await created[at]!.close();
      await rm(paths[at]!, { force: true });
    }
    throw error;
  }
}

/** Makes the names of new files durable. */
async function syncFolder(folder: string): Promise<void> {
  const file = await open(folder);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
