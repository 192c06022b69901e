/** What the books cost: CPU of a call with and without budgets and limits, and CPU of the keeper. */
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Weir, WeirFront } from "./fronts.ts";
import { startWeir } from "./fronts.ts";
import type { BenchOptions } from "./measures.ts";
import { median, writeBody } from "./measures.ts";
import { KEY } from "./rig.ts";

/** A median with the interval that holds the true one in 95 of 100 runs. */
export interface Interval {
  median: number;
  low: number;
  high: number;
}

/** Microseconds of CPU for each call. */
export interface BooksCost {
  rounds: number;
  /** Of the loop that serves, with three budgets and two limits, more than with a key that has nothing. */
  limits: Interval;
  /** The same of a key that has nothing, more than the binary before. Absent without one. */
  nothing?: Interval;
  /** The same of a key with three budgets and two limits. */
  before?: Interval;
  /** Of all other threads: keeper, collector, compiler. */
  others: number;
}

const ROUNDS = 20;
const QUICK_ROUNDS = 3;
const SECONDS = 0.7;
const WARM_SECONDS = 2;

/** A key with a budget, two hard budgets above it, and two limits. */
export const BUDGETS = {
  keys: [{ name: "bench", key: KEY, path: "/eng/search", budget: "100000/month", rpm: 1e9, tpm: 1e12 }],
  budgets: {
    eng: { on: "/eng", every: "day", limit: 100_000, mode: "hard" },
    everything: { on: "all", every: "month", limit: 100_000, mode: "hard" },
  },
};

type Variant = "before" | "nothing" | "limits";

export async function measureBooks(options: BenchOptions): Promise<BooksCost> {
  const { rig, upstream, binaries, progress } = options;
  const body = await writeBody(rig, { model: "openai/bench", stream: false, kilobytes: 1 });
  const prices = { "openai/bench": { input: 1, output: 2 } };
  const plain = await rig.write("plain.yaml", JSON.stringify({ prices }));
  const config = await rig.write("books.yaml", JSON.stringify({ ...BUDGETS, prices }));
  const folder = () => ({ WEIR_STATE: mkdtempSync(join(rig.folder, "state-")) });
  const newest = binaries.at(-1)!;
  const before = binaries.find(({ name }) => name === "weir before");
  const start = (binary: Weir, env: Record<string, string | undefined>) =>
    startWeir(rig, upstream, binary, 1, env);
  const fronts: Partial<Record<Variant, WeirFront>> = {
    ...(before && { before: await start(before, { WEIR_STATE: "none" }) }),
    nothing: await start(newest, { WEIR_CONFIG: plain, ...folder() }),
    limits: await start(newest, { WEIR_CONFIG: config, WEIR_API_KEYS: undefined, ...folder() }),
  };
  const variants = Object.keys(fronts) as Variant[];
  for (const variant of variants) await costOf(options, fronts[variant]!, body, WARM_SECONDS);
  const rounds = options.rounds === 1 ? QUICK_ROUNDS : ROUNDS;
  const loops: Partial<Record<Variant, number[]>> = {};
  const others: number[] = [];
  for (let round = 0; round < rounds; round++) {
    progress(`books, ${round + 1} of ${rounds}`);
    // Every second round goes backwards, so that no variant always follows the same other one.
    for (const variant of round % 2 === 0 ? variants : variants.toReversed()) {
      const cost = await costOf(options, fronts[variant]!, body, SECONDS);
      (loops[variant] ??= []).push(cost.loop);
      if (variant === "limits") others.push(cost.others);
    }
  }
  for (const variant of variants) await fronts[variant]!.program.stop();
  const more = (one: Variant, other: Variant) => pairedMedian(loops[one]!, loops[other]!);
  return {
    rounds,
    limits: more("limits", "nothing"),
    ...(before && { nothing: more("nothing", "before"), before: more("limits", "before") }),
    others: median(others),
  };
}

async function costOf(
  { rig }: BenchOptions,
  { port, program }: WeirFront,
  body: string,
  seconds: number,
): Promise<{ loop: number; others: number }> {
  const before = threadTimes(program.pid);
  const load = await rig.load("calls", { port, connections: 64, seconds, body });
  const after = threadTimes(program.pid);
  if (load.failed > 0 || load.answered === 0) throw new Error(`${load.failed} calls failed.`);
  return {
    loop: (after.loop - before.loop) / load.answered,
    others: (after.others - before.others) / load.answered,
  };
}

/** CPU time of the first thread, which runs the event loop, and of all others. Microseconds. */
export function threadTimes(pid: number): { loop: number; others: number } {
  const times = { loop: 0, others: 0 };
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const text = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8");
    times[Number(thread) === pid ? "loop" : "others"] += Number(text.split(" ")[0]) / 1_000;
  }
  return times;
}

/** The median of the differences of pairs, and its 95 % interval by the order of the differences. */
export function pairedMedian(one: readonly number[], other: readonly number[]): Interval {
  const differences = one.map((value, at) => value - other[at]!).sort((a, b) => a - b);
  const count = differences.length;
  const rank = Math.max(0, Math.floor(count / 2 - 0.98 * Math.sqrt(count)));
  return { median: median(differences), low: differences[rank]!, high: differences[count - 1 - rank]! };
}
