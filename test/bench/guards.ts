/** What guards cost: calls and chunks of streams that one second of processor time serves, with guards and without. */
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import type { Weir, WeirFront } from "./fronts.ts";
import { startWeir } from "./fronts.ts";
import type { BenchOptions } from "./measures.ts";
import { writeBody } from "./measures.ts";
import { type Ratio, ratioOf } from "./ratios.ts";
import { cpuOf } from "./rig.ts";

export interface GuardsCost {
  rounds: number;
  /** With guards, to those without. */
  calls: Ratio;
  streams: Ratio;
  /** Calls without guards, to those of the binary before. Absent without one. */
  off?: Ratio;
}

const ROUNDS = 12;
const QUICK_ROUNDS = 3;
const WARM_SECONDS = 2;

/** Two guards: what is personal, and credentials. */
const GUARDS = {
  pii: { find: ["email", "phone", "card", "iban", "ip"], do: "replace" },
  secrets: { find: ["secrets"], do: "block" },
};

type Variant = "before" | "off" | "on";

export async function measureGuards(options: BenchOptions): Promise<GuardsCost> {
  const { rig, upstream, binaries, progress } = options;
  const bodies = {
    calls: await writeBody(rig, { model: "openai/bench", stream: false, kilobytes: 1 }),
    streams: await writeBody(rig, { model: "openai/bench-100-1000", stream: true, kilobytes: 1 }),
  };
  const config = await rig.write("guards.yaml", JSON.stringify({ guards: GUARDS }));
  const start = (binary: Weir, env: Record<string, string> = {}) =>
    startWeir(rig, upstream, binary, 1, { WEIR_STATE: mkdtempSync(join(rig.folder, "state-")), ...env });
  const newest = binaries.at(-1)!;
  const before = binaries.find(({ name }) => name === "weir before");
  const fronts: Partial<Record<Variant, WeirFront>> = {
    ...(before && { before: await start(before) }),
    off: await start(newest),
    on: await start(newest, { WEIR_CONFIG: config }),
  };
  const variants = Object.keys(fronts) as Variant[];
  const rates = { calls: {} as Record<Variant, number[]>, streams: {} as Record<Variant, number[]> };
  const rounds = options.rounds === 1 ? QUICK_ROUNDS : ROUNDS;
  for (const variant of variants)
    for (const kind of ["calls", "streams"] as const)
      await rateOf(options, kind, fronts[variant]!, bodies[kind], WARM_SECONDS);
  for (let round = 0; round < rounds; round++) {
    progress(`guards, ${round + 1} of ${rounds}`);
    for (const variant of round % 2 === 0 ? variants : variants.toReversed())
      for (const kind of ["calls", "streams"] as const)
        (rates[kind][variant] ??= []).push(
          await rateOf(options, kind, fronts[variant]!, bodies[kind], options.seconds / 2),
        );
  }
  for (const variant of variants) await fronts[variant]!.program.stop();
  return {
    rounds,
    calls: ratioOf(rates.calls.on, rates.calls.off),
    streams: ratioOf(rates.streams.on, rates.streams.off),
    ...(before && { off: ratioOf(rates.calls.off, rates.calls.before) }),
  };
}

/** Calls or chunks that a microsecond of processor time serves. */
async function rateOf(
  { rig }: BenchOptions,
  kind: "calls" | "streams",
  { port, program }: WeirFront,
  body: string,
  seconds: number,
): Promise<number> {
  const before = await cpuOf(program.pid);
  const load = await rig.load(kind, { port, connections: 64, seconds, body });
  const cpu = (await cpuOf(program.pid)) - before;
  if (load.failed > 0) throw new Error(`${load.failed} calls failed.`);
  return (kind === "calls" ? load.answered : load.chunks) / cpu;
}
