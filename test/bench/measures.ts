/** The measurements. Each front takes its turn in every round, so that what drifts on the machine drifts for all. */
import { join } from "node:path";
import { agentBody } from "./bodies.ts";
import type { Front, WeirFront } from "./fronts.ts";
import { startWeir, takesWorkers } from "./fronts.ts";
import type { Load, Rig } from "./rig.ts";
import { countsOf, cpuOf, descriptorsOf, freePort, memoryOf } from "./rig.ts";

export interface BenchOptions {
  rig: Rig;
  upstream: number;
  fronts: readonly Front[];
  weir: WeirFront;
  rounds: number;
  seconds: number;
  progress(text: string): void;
}

/** Short calls through one front. */
export interface Calls {
  perSecond: number;
  /** Microseconds. */
  p50: number;
  p99: number;
  /** Microseconds of CPU for each; 0 without a front. */
  cpu: number;
  failed: number;
}

export interface CallsCase {
  connections: number;
  kilobytes: number;
  /** By the front's name. */
  fronts: Record<string, Calls>;
}

export const CONNECTIONS = [1, 64, 256];
export const KILOBYTES = [1, 20, 200];

export async function measureCalls(options: BenchOptions): Promise<CallsCase[]> {
  const cases: CallsCase[] = [];
  for (const kilobytes of KILOBYTES) cases.push(...(await measureSize(options, kilobytes)));
  return cases;
}

/** In each round all fronts at each number of connections: what is compared is measured side by side. */
async function measureSize(options: BenchOptions, kilobytes: number): Promise<CallsCase[]> {
  const { fronts, rounds, progress } = options;
  const runs = CONNECTIONS.map(() => new Map<string, Calls[]>(fronts.map(({ name }) => [name, []])));
  for (let round = 1; round <= rounds; round++)
    for (const [at, connections] of CONNECTIONS.entries()) {
      progress(`calls of ${kilobytes} KB over ${connections} connections, ${round} of ${rounds}`);
      for (const front of fronts)
        runs[at]!.get(front.name)!.push(await runCalls(options, front, connections, kilobytes));
    }
  return CONNECTIONS.map((connections, at) => ({
    connections,
    kilobytes,
    fronts: Object.fromEntries([...runs[at]!].map(([name, list]) => [name, medians(list)])),
  }));
}

async function runCalls(
  { rig, seconds }: BenchOptions,
  { prefix, port, program }: Front,
  connections: number,
  kilobytes: number,
): Promise<Calls> {
  const body = await writeBody(rig, { model: `${prefix}bench`, stream: false, kilobytes });
  const before = program ? await cpuOf(program.pid) : 0;
  const load = await rig.load("calls", { port, connections, seconds, body });
  const spent = program ? (await cpuOf(program.pid)) - before : 0;
  return {
    perSecond: load.answered / load.seconds,
    p50: load.p50,
    p99: load.p99,
    cpu: spent / Math.max(1, load.answered),
    failed: load.failed,
  };
}

function writeBody(
  rig: Rig,
  { model, stream, kilobytes }: { model: string; stream: boolean; kilobytes: number },
): Promise<string> {
  const text = agentBody({ model, stream, bytes: kilobytes * 1000 });
  return rig.write(`${model.replaceAll("/", "-")}-${stream ? "stream" : "call"}-${kilobytes}.json`, text);
}

/** The median of each number. */
export function medians<Row extends object>(rows: readonly Row[]): Row {
  const names = Object.keys(rows[0]!) as (keyof Row)[];
  return Object.fromEntries(names.map((name) => [name, median(rows.map((row) => Number(row[name])))])) as Row;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Streams through one front; times in microseconds. */
export interface Streams {
  chunksPerSecond: number;
  firstP50: number;
  firstP99: number;
  delayP50: number;
  delayP99: number;
  /** Of CPU for each chunk. */
  cpu: number;
  failed: number;
}

/** 200 chunks of about 200 bytes, one each 10 ms, in each of 200 streams. */
export const STREAMS = { count: 200, chunks: 200, everyMicroseconds: 10_000 };

/** Lanes by name: native for each front, translated for weir alone. */
export async function measureStreams(options: BenchOptions): Promise<Record<string, Streams>> {
  const model = `bench-${STREAMS.chunks}-${STREAMS.everyMicroseconds}`;
  const lanes = [
    ...options.fronts.map((front) => ({ name: front.name, front, model: front.prefix + model })),
    { name: "weir, translated", front: options.weir, model: `anthropic/${model}` },
  ];
  const runs = new Map<string, Streams[]>(lanes.map(({ name }) => [name, []]));
  for (let round = 0; round < options.rounds; round++)
    for (const lane of lanes) {
      options.progress(`${STREAMS.count} streams, ${lane.name}`);
      runs.get(lane.name)!.push(await runStreams(options, lane.front, lane.model));
    }
  return Object.fromEntries([...runs].map(([name, list]) => [name, medians(list)]));
}

async function runStreams({ rig, seconds }: BenchOptions, front: Front, model: string): Promise<Streams> {
  const body = await writeBody(rig, { model, stream: true, kilobytes: 1 });
  const before = front.program ? await cpuOf(front.program.pid) : 0;
  const load = await rig.load("streams", {
    port: front.port,
    connections: STREAMS.count,
    seconds: Math.max(4, seconds * 2),
    body,
  });
  const spent = front.program ? (await cpuOf(front.program.pid)) - before : 0;
  const { firstP50, firstP99, delayP50, delayP99, failed } = load;
  return {
    chunksPerSecond: load.chunks / load.seconds,
    firstP50,
    firstP99,
    delayP50,
    delayP99,
    cpu: spent / Math.max(1, load.chunks),
    failed,
  };
}

/** Resident megabytes of a fresh weir: idle, and with so many open streams. */
export async function measureMemory(options: BenchOptions): Promise<Record<string, number>> {
  const { rig, upstream, progress } = options;
  const found: Record<string, number> = {};
  for (const streams of [0, 1_000, 5_000]) {
    progress(`memory with ${streams} streams`);
    const weir = await startWeir(rig, upstream);
    await Bun.sleep(500);
    if (streams > 0) {
      const body = await writeBody(rig, { model: "openai/bench-1000-500000", stream: true, kilobytes: 1 });
      const held = rig.load("streams", { port: weir.port, connections: streams, seconds: 9, body });
      await Bun.sleep(7_000);
      found[String(streams)] = await memoryOf(weir.program.pid);
      await held;
    } else found["0"] = await memoryOf(weir.program.pid);
    await weir.program.stop();
  }
  return found;
}

/** From exec to the first answer, files warm; milliseconds. */
export async function measureStart({ rig, upstream, rounds, progress }: BenchOptions): Promise<number> {
  progress("start");
  const times: number[] = [];
  for (let round = 0; round < Math.max(3, rounds * 2); round++) {
    const weir = await startWeir(rig, upstream);
    times.push(weir.startMs);
    await weir.program.stop();
  }
  return median(times);
}

/** So many streams asked for at once: how long until all have reached the upstream. Seconds. */
export async function measureBurst({ rig, progress }: BenchOptions, streams = 2_000): Promise<number> {
  progress(`${streams} streams at once`);
  const upstream = await freePort();
  const model = rig.startUpstream(upstream);
  await Bun.sleep(200);
  const weir = await startWeir(rig, upstream);
  const body = await writeBody(rig, { model: "openai/bench-100-100000", stream: true, kilobytes: 1 });
  const began = performance.now();
  const held = rig.load("streams", { port: weir.port, connections: streams, seconds: 6, body });
  while ((await countsOf(upstream)).peak < streams && performance.now() - began < 6_000) await Bun.sleep(10);
  const took = (performance.now() - began) / 1000;
  const { peak } = await countsOf(upstream);
  await held;
  await weir.program.stop();
  await model.stop();
  return peak >= streams ? took : Number.POSITIVE_INFINITY;
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
export async function measureSoak(options: BenchOptions, minutes: number): Promise<Soak> {
  const { rig, upstream, progress } = options;
  const weir = await startWeir(rig, upstream);
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

/** Answers a second of one worker and of two, on all cores. @returns undefined while there is nothing to compare */
export async function measureWorkers(options: BenchOptions): Promise<[number, number] | undefined> {
  const { rig, upstream, seconds, rounds, progress } = options;
  if (!takesWorkers() || navigator.hardwareConcurrency < 2) return undefined;
  const runs: [number[], number[]] = [[], []];
  const body = await writeBody(rig, { model: "openai/bench", stream: false, kilobytes: 1 });
  for (let round = 0; round < rounds; round++)
    for (const workers of [1, 2] as const) {
      progress(`${workers} worker${workers > 1 ? "s" : ""}`);
      const weir = await startWeir(rig, upstream, workers);
      await Bun.sleep(500);
      const load = await rig.load("calls", { port: weir.port, connections: 64, seconds, body, core: "any" });
      runs[workers - 1]!.push(load.answered / load.seconds);
      await weir.program.stop();
    }
  return [median(runs[0]), median(runs[1])];
}

/** One way of calling an upstream, without a gateway around it. */
export interface TransportRun {
  kind: string;
  scheme: "http" | "https";
  concurrency: number;
  perSecond: number;
  /** Microseconds of CPU each. */
  cpu: number;
  failed: number;
  /** Connections made to carry them; over TLS not counted. */
  dialled?: number;
}

export async function measureTransports(options: BenchOptions): Promise<TransportRun[]> {
  const { rig, seconds, progress } = options;
  const tls = await startSecureUpstream(rig);
  const found: TransportRun[] = [];
  for (const scheme of tls ? (["http", "https"] as const) : (["http"] as const))
    for (const concurrency of [64, 256])
      for (const kind of ["fetch", "session", "node", "own"]) {
        progress(`upstream client ${kind}, ${scheme}, ${concurrency} at once`);
        const port = await freePort();
        const model = rig.startUpstream(port);
        await Bun.sleep(150);
        const url = scheme === "http" ? `http://127.0.0.1:${port}/v1/chat/completions` : tls!.url;
        const script = join(import.meta.dir, "transports.ts");
        const command = [process.execPath, script, kind, url, String(concurrency), String(seconds)];
        const env = {
          BUN_CONFIG_MAX_HTTP_REQUESTS: "65336",
          ...(tls && { NODE_EXTRA_CA_CERTS: tls.certificate }),
        };
        const run = await rig.run<Pick<TransportRun, "perSecond" | "cpu" | "failed">>(0, command, env);
        const dialled = scheme === "http" ? (await countsOf(port)).accepted : undefined;
        found.push({ kind, scheme, concurrency, ...run, dialled });
        await model.stop();
      }
  return found;
}

/** A TLS upstream with a certificate made for this run; undefined without `openssl`. */
async function startSecureUpstream(rig: Rig): Promise<{ url: string; certificate: string } | undefined> {
  const openssl = Bun.which("openssl");
  if (!openssl) return undefined;
  const [key, certificate] = [join(rig.folder, "key.pem"), join(rig.folder, "certificate.pem")];
  const made = Bun.spawnSync(
    [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"].concat(
      ["-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate],
    ),
  );
  if (made.exitCode !== 0) return undefined;
  const port = await freePort();
  rig.start(1, [
    process.execPath,
    join(import.meta.dir, "secure-upstream.ts"),
    String(port),
    key,
    certificate,
  ]);
  await Bun.sleep(500);
  return { url: `https://localhost:${port}/v1/chat/completions`, certificate };
}
