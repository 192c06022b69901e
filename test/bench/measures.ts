/** The measurements. Each front takes its turn in every round, so that what drifts on the machine drifts for all. */
import { join } from "node:path";
import { agentBody } from "./bodies.ts";
import type { Front, Weir, WeirFront } from "./fronts.ts";
import type { Rig } from "./rig.ts";
import { countsOf, cpuOf, freePort } from "./rig.ts";

export interface BenchOptions {
  rig: Rig;
  upstream: number;
  fronts: readonly Front[];
  /** Those of the fronts that are weir. */
  weirs: readonly WeirFront[];
  /** The binaries of weir, for what is measured with a fresh process. */
  binaries: readonly Weir[];
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
  /** Calls that the upstream answered, for each call that the client got an answer to. */
  upstream: number;
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
  { rig, seconds, upstream }: BenchOptions,
  { prefix, port, program, path }: Front,
  connections: number,
  kilobytes: number,
): Promise<Calls> {
  const body = await writeBody(rig, { model: `${prefix}bench`, stream: false, kilobytes });
  const before = program ? await cpuOf(program.pid) : 0;
  const counted = (await countsOf(upstream)).calls;
  const load = await rig.load("calls", { port, connections, seconds, body, path });
  const reached = (await countsOf(upstream)).calls - counted;
  const spent = program ? (await cpuOf(program.pid)) - before : 0;
  return {
    perSecond: load.answered / load.seconds,
    p50: load.p50,
    p99: load.p99,
    cpu: spent / Math.max(1, load.answered),
    failed: load.failed,
    upstream: reached / Math.max(1, load.answered),
  };
}

export function writeBody(
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

/** Providers of other formats than the client's, by what the table calls their lane. */
export const TRANSLATED: Readonly<Record<string, string>> = {
  translated: "anthropic",
  "from Gemini": "gemini",
  "from Converse": "bedrock",
};

/** Lanes by name: native for each front, translated for weir. */
export async function measureStreams(options: BenchOptions): Promise<Record<string, Streams>> {
  const model = `bench-${STREAMS.chunks}-${STREAMS.everyMicroseconds}`;
  const lanes = [
    ...options.fronts.map((front) => ({ name: front.name, front, model: front.prefix + model })),
    ...options.weirs.flatMap((front) =>
      Object.entries(TRANSLATED)
        // A binary of before may not know the others.
        .filter(([what]) => front.name === "weir" || what === "translated")
        .map(([what, provider]) => ({
          name: `${front.name}, ${what}`,
          front,
          model: `${provider}/${model}`,
        })),
    ),
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
    path: front.path,
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
