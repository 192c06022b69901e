/** What outlines for `weir rehearse` cost: calls that one second of processor time serves, with outlines and without. */
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pairedMedian, threadTimes } from "./books.ts";
import type { WeirFront } from "./fronts.ts";
import { startWeir } from "./fronts.ts";
import type { BenchOptions } from "./measures.ts";
import { writeBody } from "./measures.ts";
import type { Ratio } from "./ratios.ts";

/** Sizes of requests in kilobytes. */
export const OUTLINED = [1, 20] as const;

export interface OutlinesCost {
  rounds: number;
  sizes: {
    kilobytes: number;
    /** Calls with outlines, to those without: for the same processor time. */
    cpu: Ratio;
    /** The same for calls in a second. */
    rate: Ratio;
    /** Part of the calls that have an outline: those for which `rehearse.share` left time. */
    outlined: number;
  }[];
}

/** Many short rounds: what else the machine does meets both sides alike. */
const ROUNDS = 60;
const QUICK_ROUNDS = 20;
const SECONDS = 0.5;
const WARM_SECONDS = 2;
/** A front that had no calls has saved up time for outlines: it is used up before a round counts. */
const LEAD_SECONDS = 0.4;

const VARIANTS = ["off", "on"] as const;
type Variant = (typeof VARIANTS)[number];

interface Outlining extends WeirFront {
  state: string;
}

export async function measureOutlines(options: BenchOptions): Promise<OutlinesCost> {
  const { rig, progress } = options;
  const fronts = { off: await start(options, "off"), on: await start(options, "on") };
  const rounds = options.rounds === 1 ? QUICK_ROUNDS : ROUNDS;
  const sizes: OutlinesCost["sizes"] = [];
  for (const kilobytes of OUTLINED) {
    const body = await writeBody(rig, { model: "openai/bench", stream: false, kilobytes });
    for (const variant of VARIANTS) await measure(options, fronts[variant], body, WARM_SECONDS);
    const found: Record<Variant, Measured[]> = { off: [], on: [] };
    for (let round = 0; round < rounds; round++) {
      progress(`outlines, ${kilobytes} KB, ${round + 1} of ${rounds}`);
      const pair: Partial<Record<Variant, Measured>> = {};
      for (const variant of round % 2 === 0 ? VARIANTS : VARIANTS.toReversed())
        pair[variant] = await measure(options, fronts[variant], body, SECONDS);
      // On a busy machine a front may not have had a turn.
      if (VARIANTS.some((variant) => pair[variant]!.answered === 0)) continue;
      for (const variant of VARIANTS) found[variant].push(pair[variant]!);
    }
    const ratio = (of: "perCpu" | "perSecond") =>
      medianRatioOf(
        found.on.map((one) => one[of]),
        found.off.map((one) => one[of]),
      );
    const sum = (of: "answered" | "outlines") => found.on.reduce((total, one) => total + one[of], 0);
    sizes.push({
      ...{ kilobytes, cpu: ratio("perCpu"), rate: ratio("perSecond") },
      outlined: sum("outlines") / sum("answered"),
    });
  }
  for (const { program } of Object.values(fronts)) await program.stop();
  return { rounds, sizes };
}

async function start({ rig, upstream, binaries }: BenchOptions, outlines: Variant): Promise<Outlining> {
  const state = mkdtempSync(join(rig.folder, "state-"));
  const config = await rig.write(`outlines-${outlines}.yaml`, JSON.stringify({ rehearse: { outlines } }));
  const settings = { WEIR_STATE: state, WEIR_CONFIG: config };
  return { ...(await startWeir(rig, upstream, binaries.at(-1)!, 1, settings)), state };
}

interface Measured {
  answered: number;
  outlines: number;
  /** Calls of a microsecond of processor time. */
  perCpu: number;
  perSecond: number;
}

async function measure(
  { rig }: BenchOptions,
  { port, program, state }: Outlining,
  body: string,
  seconds: number,
): Promise<Measured> {
  await rig.load("calls", { port, connections: 64, seconds: LEAD_SECONDS, body });
  const [before, kept] = [timeOf(program.pid), linesIn(state)];
  const load = await rig.load("calls", { port, connections: 64, seconds, body });
  const cpu = timeOf(program.pid) - before;
  const { answered } = load;
  if (load.failed > 0) throw new Error(`${load.failed} calls failed.`);
  return {
    ...{ answered, outlines: linesIn(state) - kept },
    perCpu: answered / cpu,
    perSecond: answered / load.seconds,
  };
}

/** Of all threads, those of the keeper too. Microseconds. */
function timeOf(pid: number): number {
  const { loop, others } = threadTimes(pid);
  return loop + others;
}

/** The median ratio of pairs, which a few rounds on a busy machine do not move. */
function medianRatioOf(values: readonly number[], others: readonly number[]): Ratio {
  const logs = (all: readonly number[]) => all.map((value) => Math.log(value));
  const { median, low, high } = pairedMedian(logs(values), logs(others));
  return { ratio: Math.exp(median), low: Math.exp(low), high: Math.exp(high) };
}

/** Outlines that are on the disk. */
function linesIn(state: string): number {
  const folder = join(state, "outlines");
  try {
    const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), "latin1"));
    return texts.reduce((sum, text) => sum + text.split("\n").length - 1, 0);
  } catch {
    return 0;
  }
}
