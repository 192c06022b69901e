/** The measurements that need a process of their own for each run: memory, start, bursts, soak, workers. */
import { connect } from "node:net";
import type { Weir } from "./fronts.ts";
import { startWeir } from "./fronts.ts";
import type { BenchOptions } from "./measures.ts";
import { median, writeBody } from "./measures.ts";
import type { Load } from "./rig.ts";
import { countsOf, descriptorsOf, freePort, KEY, memoryOf } from "./rig.ts";

/** By the name of a weir. */
export type ByWeir<Value> = Partial<Record<Weir["name"], Value>>;

/** Measures each weir in turn, so many rounds. @returns the medians */
async function takeTurns(
  { binaries }: BenchOptions,
  rounds: number,
  measure: (weir: Weir) => Promise<number>,
): Promise<ByWeir<number>> {
  const runs: ByWeir<number[]> = {};
  for (let round = 0; round < rounds; round++)
    for (const weir of binaries) (runs[weir.name] ??= []).push(await measure(weir));
  return Object.fromEntries(Object.entries(runs).map(([name, list]) => [name, median(list)]));
}

/** Resident megabytes of a fresh weir: idle, and with so many open streams. */
export async function measureMemory(options: BenchOptions): Promise<ByWeir<Record<string, number>>> {
  const { rig, upstream, progress, binaries } = options;
  const found: ByWeir<Record<string, number>> = {};
  for (const streams of [0, 1_000, 5_000])
    for (const binary of binaries) {
      progress(`memory with ${streams} streams, ${binary.name}`);
      const weir = await startWeir(rig, upstream, binary);
      await Bun.sleep(500);
      const megabytes = (found[binary.name] ??= {});
      if (streams > 0) {
        const body = await writeBody(rig, { model: "openai/bench-1000-500000", stream: true, kilobytes: 1 });
        const held = rig.load("streams", { port: weir.port, connections: streams, seconds: 9, body });
        await Bun.sleep(7_000);
        megabytes[String(streams)] = await memoryOf(weir.program.pid);
        await held;
      } else megabytes["0"] = await memoryOf(weir.program.pid);
      await weir.program.stop();
    }
  return found;
}

/** Clients that never read, and the chunks that wait for each: about 8 MB. */
const UNREAD = { clients: 20, chunks: 40_000 };

/** Megabytes that a streaming client costs which never reads. */
export function measureUnread(options: BenchOptions): Promise<ByWeir<number>> {
  const { rig, rounds, progress } = options;
  return takeTurns(options, rounds, async (binary) => {
    progress(`memory of clients that never read, ${binary.name}`);
    const port = await freePort();
    const model = rig.startUpstream(port);
    const weir = await startWeir(rig, port, binary);
    await Bun.sleep(500);
    const idle = await memoryOf(weir.program.pid);
    const body = JSON.stringify({
      model: `openai/bench-${UNREAD.chunks}-0`,
      stream: true,
      messages: [{ role: "user", content: "Hello" }],
    });
    const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${KEY}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
    const clients = Array.from({ length: UNREAD.clients }, () => {
      const client = connect(weir.port, "127.0.0.1");
      client.on("error", () => {});
      client.pause();
      client.write(head + body);
      return client;
    });
    await Bun.sleep(4_000);
    const grown = (await memoryOf(weir.program.pid)) - idle;
    for (const client of clients) client.destroy();
    await weir.program.stop();
    await model.stop();
    return Math.max(0, grown) / UNREAD.clients;
  });
}

/** From exec to the first answer, files warm; milliseconds. */
export function measureStart(options: BenchOptions): Promise<ByWeir<number>> {
  const { rig, upstream, rounds, progress } = options;
  progress("start");
  return takeTurns(options, Math.max(5, rounds * 4), async (binary) => {
    const weir = await startWeir(rig, upstream, binary);
    await weir.program.stop();
    return weir.startMs;
  });
}

/** So many streams asked for at once: how long until all have reached the upstream. Seconds. */
export function measureBurst(options: BenchOptions, streams = 2_000): Promise<ByWeir<number>> {
  const { rig, progress } = options;
  return takeTurns(options, 1, async (binary) => {
    progress(`${streams} streams at once, ${binary.name}`);
    const upstream = await freePort();
    const model = rig.startUpstream(upstream);
    await Bun.sleep(200);
    const weir = await startWeir(rig, upstream, binary);
    const body = await writeBody(rig, { model: "openai/bench-100-100000", stream: true, kilobytes: 1 });
    const began = performance.now();
    const held = rig.load("streams", { port: weir.port, connections: streams, seconds: 6, body });
    while ((await countsOf(upstream)).peak < streams && performance.now() - began < 6_000)
      await Bun.sleep(10);
    const took = (performance.now() - began) / 1000;
    const { peak } = await countsOf(upstream);
    await held;
    await weir.program.stop();
    await model.stop();
    return peak >= streams ? took : Number.POSITIVE_INFINITY;
  });
}

export interface Soak {
  minutes: number;
  /** Megabytes a minute, behind the first third. */
  slope: number;
  descriptorsBefore: number;
  descriptorsAfter: number;
  streams: number;
  left: number;
  failed: number;
}

/** Streams, half of them aborted, for minutes: memory and sockets must come back. */
export async function measureSoak(options: BenchOptions, minutes: number): Promise<ByWeir<Soak>> {
  const found: ByWeir<Soak> = {};
  for (const binary of options.binaries) found[binary.name] = await soak(options, binary, minutes);
  return found;
}

async function soak({ rig, upstream, progress }: BenchOptions, binary: Weir, minutes: number): Promise<Soak> {
  const weir = await startWeir(rig, upstream, binary);
  const { pid } = weir.program;
  await Bun.sleep(300);
  const descriptorsBefore = descriptorsOf(pid);
  const body = await writeBody(rig, { model: "openai/bench-100-2000", stream: true, kilobytes: 1 });
  const running = rig.load("streams", {
    port: weir.port,
    connections: 64,
    seconds: minutes * 60,
    body,
    aborted: 50,
  });
  const samples: [minute: number, megabytes: number][] = [];
  const began = performance.now();
  let load: Load | undefined;
  void running.then((result) => (load = result));
  while (!load) {
    await Bun.sleep(1_000);
    const minute = (performance.now() - began) / 60_000;
    samples.push([minute, await memoryOf(pid)]);
    progress(`soak: ${minute.toFixed(1)} of ${minutes} minutes, ${samples.at(-1)![1].toFixed(0)} MB`);
  }
  await Bun.sleep(2_000);
  // What is kept for the next call is no leak: idle connections to the upstream.
  const kept = (await countsOf(upstream)).open;
  const descriptorsAfter = descriptorsOf(pid) - Math.min(kept, 64);
  await weir.program.stop();
  return {
    minutes,
    slope: slope(samples.filter(([minute]) => minute > minutes / 3)),
    descriptorsBefore,
    descriptorsAfter,
    streams: load.answered + load.left,
    left: load.left,
    failed: load.failed,
  };
}

/** Of the straight line nearest to the points. */
export function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / points.length;
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / points.length;
  const spread = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  return spread === 0 ? 0 : points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / spread;
}

/** Answers a second of two workers for each of one, on all cores. @returns undefined while there is nothing to compare */
export async function measureWorkers(options: BenchOptions): Promise<ByWeir<number> | undefined> {
  const { rig, upstream, seconds, rounds, progress } = options;
  if (navigator.hardwareConcurrency < 2) return undefined;
  const body = await writeBody(rig, { model: "openai/bench", stream: false, kilobytes: 1 });
  const perSecond = async (binary: Weir, workers: 1 | 2) => {
    progress(`${workers} worker${workers > 1 ? "s" : ""}, ${binary.name}`);
    const weir = await startWeir(rig, upstream, binary, workers);
    await Bun.sleep(500);
    const load = await rig.load("calls", { port: weir.port, connections: 64, seconds, body, core: "any" });
    await weir.program.stop();
    return load.answered / load.seconds;
  };
  return takeTurns(options, rounds, async (binary) => {
    const one = await perSecond(binary, 1);
    return (await perSecond(binary, 2)) / one;
  });
}
