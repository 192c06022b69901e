/**
 * `bun test/bench/paired.ts BINARY [--rounds 20] [--config FILE]`: this binary against another one in alternating rounds, and for
 * each figure the ratio of the two with its 95 % interval. A figure is worse only where the whole interval is.
 */
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { startWeir } from "./fronts.ts";
import { writeBody } from "./measures.ts";
import { isWorse, ratioOf, showRatio } from "./ratios.ts";
import { BINARY, assertBinary, cpuOf, freePort, memoryOf, Rig } from "./rig.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: "string", default: "20" }, config: { type: "string" } },
});
const [other] = positionals;
if (other === undefined) {
  console.error("Usage: bun test/bench/paired.ts BINARY [--rounds 20] [--config FILE]");
  process.exit(2);
}

/** Seconds of each load. */
const SECONDS = 2;

/** Figures of one start of a binary; more is better where the name says so. */
interface Figures {
  perSecond: number;
  p50: number;
  cpu: number;
  firstP50: number;
  startMs: number;
  memory: number;
}

const MORE_IS_BETTER: ReadonlySet<string> = new Set(["perSecond"]);

const rounds = Number(values.rounds);
const rig = new Rig();
try {
  for (const binary of [BINARY, resolve(other)]) assertBinary(binary);
  rig.build();
  const upstream = await freePort();
  rig.startUpstream(upstream);
  await Bun.sleep(200);
  const call = await writeBody(rig, { model: "openai/bench", stream: false, kilobytes: 1 });
  const stream = await writeBody(rig, { model: "openai/bench-20-1000", stream: true, kilobytes: 1 });
  const config = values.config === undefined ? {} : { WEIR_CONFIG: resolve(values.config) };
  const measure = async (binary: string): Promise<Figures> => {
    // A folder of its own: a binary does not open the books of a newer one.
    const settings = { ...config, WEIR_STATE: join(rig.folder, `state-of-${binary.replaceAll("/", "-")}`) };
    const weir = await startWeir(rig, upstream, { name: "weir", binary }, 1, settings);
    const { port, program, startMs } = weir;
    await rig.load("calls", { port, connections: 16, seconds: 0.5, body: call });
    const before = await cpuOf(program.pid);
    const many = await rig.load("calls", { port, connections: 64, seconds: SECONDS, body: call });
    const cpu = ((await cpuOf(program.pid)) - before) / Math.max(1, many.answered);
    const one = await rig.load("calls", { port, connections: 1, seconds: SECONDS, body: call });
    const streams = await rig.load("streams", { port, connections: 16, seconds: 1, body: stream });
    const memory = await memoryOf(program.pid);
    await program.stop();
    const perSecond = many.answered / many.seconds;
    return { perSecond, p50: one.p50, cpu, firstP50: streams.firstP50, startMs, memory };
  };
  const pairs = { now: [] as Figures[], before: [] as Figures[] };
  for (let round = 0; round < rounds; round++) {
    // The first of a pair alternates, so that a drift of the machine touches both.
    const order = round % 2 === 0 ? [BINARY, resolve(other)] : [resolve(other), BINARY];
    for (const binary of order) pairs[binary === BINARY ? "now" : "before"].push(await measure(binary));
    console.error(`round ${round + 1} of ${rounds}`);
  }
  for (const name of Object.keys(pairs.now[0]!) as (keyof Figures)[]) {
    const [now, before] = [pairs.now, pairs.before].map((figures) => figures.map((one) => one[name]));
    const ratio = ratioOf(now!, before!);
    console.log(
      `${name.padEnd(10)} ${showRatio(ratio)}${isWorse(ratio, MORE_IS_BETTER.has(name)) ? "  worse" : ""}`,
    );
  }
} finally {
  rig.stop();
}
