/**
 * `bun run soak [--minutes N]`: the compiled binary under mixed faults for ten minutes, half of the clients leaving early.
 * At the end nothing may be left open, memory must not have grown, and every call must have been settled once.
 */
import { parseArgs } from "node:util";
import { slope } from "../bench/fresh.ts";
import { type RunningGateway, upstreamConfig } from "../helpers/gateway.ts";
import { STAGES, startHangingPeer } from "../helpers/hanging-peer.ts";
import { startStrayUpstream, type StrayUpstream } from "../helpers/stray.ts";
import { costOf, listenerOf, startBinary } from "./armour.ts";
import { type Lane, LANES } from "./lanes.ts";
import { FAULTS } from "./upstream/faults.ts";
import { type FaultyUpstream, startFaultyUpstream } from "./upstream/index.ts";

export interface SoakOptions {
  minutes: number;
  /** Calls at once. */
  clients: number;
  progress?(text: string): void;
}

export interface SoakResult {
  calls: number;
  left: number;
  /** Megabytes a minute, behind the first third. */
  slope: number;
  descriptors: { before: number; after: number };
  /** Connections the upstream still has when all clients are gone, idle ones not counted. */
  upstreamLeft: number;
  /** Calls that were answered and have no line in the log, and those with more than one. */
  unsettled: number;
  settledTwice: number;
}

interface Peers {
  faulty: FaultyUpstream;
  stray: StrayUpstream;
  /** Providers whose handshake hangs. */
  hanging: readonly string[];
}

/** Connections to an upstream that sends surplus bytes are not reused, so it has an address of its own. */
const MIXED = FAULTS.filter(({ name }) => name !== "says-more-than-asked");

/** Faults that send for ever cost the machine, not the gateway: they come as seldom as in life. */
const SELDOM = new Set(["never-ends-its-json", "never-ends-its-line", "packs-a-bomb"]);

export async function soak(options: SoakOptions): Promise<SoakResult> {
  const upstream = await startFaultyUpstream();
  const stray = await startStrayUpstream();
  const hanging = await Promise.all(STAGES.map(startHangingPeer));
  const [syn, hello, certificate] = hanging.map(({ port }) => `https://127.0.0.1:${port}`);
  const { providers } = upstreamConfig({ openai: upstream.url, anthropic: upstream.url });
  const others = { groq: stray.url, xai: syn, mistral: hello, deepseek: certificate };
  const gateway = await startBinary({
    config: {
      // Reports open and close the file of the books at times of their own, and the soak counts descriptors.
      state: "none",
      providers: {
        ...(providers as object),
        ...Object.fromEntries(
          Object.entries(others).map(([name, baseUrl]) => [name, { baseUrl, apiKey: "sk-of-the-soak" }]),
        ),
      },
      timeouts: { firstByteMs: 1_000, gapMs: 1_000, totalMs: 3_000 },
    },
  });
  try {
    return await run(options, { faulty: upstream, stray, hanging: Object.keys(others).slice(1) }, gateway);
  } finally {
    await gateway.stop();
    for (const peer of [upstream, stray, ...hanging]) peer.stop();
  }
}

async function run(
  { minutes, clients, progress }: SoakOptions,
  { faulty: upstream, stray, hanging }: Peers,
  gateway: RunningGateway,
): Promise<SoakResult> {
  const pid = listenerOf(gateway.port);
  const before = costOf(pid).fds;
  const began = performance.now();
  const until = began + minutes * 60_000;
  const settled = new Map<string, number>();
  /** Calls that had an answer; one that left early may never have arrived. */
  const answered = new Set<string>();
  const samples: [minute: number, megabytes: number][] = [];
  let calls = 0;
  let left = 0;
  const client = async (number: number) => {
    for (let turn = 0; performance.now() < until; turn++) {
      calls++;
      const leaves = (number + turn) % 2 === 0;
      if (leaves) left++;
      const lane = LANES[(number + turn) % LANES.length]!;
      if (turn % 20 === 1) stray.arm({ strays: 1 + (turn % 8), delayMs: () => Math.random() * 5 });
      const model =
        turn % 20 === 1
          ? `groq/m${calls}`
          : turn % 20 === 11
            ? `${hanging[number % hanging.length]}/m`
            : `${lane.provider}/${modelFor(turn, number)}`;
      const id = await call(gateway.url, lane, model, turn % 3 !== 0, leaves);
      if (id) answered.add(id);
      await Bun.sleep(10);
    }
  };
  const sampler = setInterval(
    () => {
      const minute = (performance.now() - began) / 60_000;
      samples.push([minute, costOf(pid).rss / 1e6]);
      count(gateway.log, settled);
      progress?.(
        `${minute.toFixed(1)} of ${minutes} minutes, ${calls} calls, ${samples.at(-1)![1].toFixed(0)} MB, ${upstream.open.size} upstream`,
      );
    },
    Math.min(5_000, (minutes * 60_000) / 20),
  );
  await Promise.all(Array.from({ length: clients }, (_, number) => client(number)));
  clearInterval(sampler);
  await quiet(pid, before);
  count(gateway.log, settled);
  const kept = costOf(pid).fds - before;
  return {
    calls,
    left,
    slope: slope(samples.filter(([minute]) => minute > minutes / 3)),
    descriptors: { before, after: before + kept - Math.min(kept, upstream.open.size) },
    upstreamLeft: Math.max(0, upstream.open.size - Math.max(0, kept)),
    unsettled: [...answered].filter((id) => !settled.has(id)).length,
    settledTwice: [...settled.values()].filter((lines) => lines > 1).length,
  };
}

function modelFor(turn: number, number: number): string {
  const fault = MIXED[(turn * 7 + number * 3) % MIXED.length]!;
  const isRare = SELDOM.has(fault.name) && turn % 20 !== 0;
  // Every second call is well: a gateway that only ever failed would prove little.
  return isRare || turn % 2 === 0 ? "fine" : fault.name;
}

/** Share of the readers that sleep before they read, and how long. */
const SLEEPERS = 0.02;
const SLEEP_MS = 2_000;

/** One call; a client that leaves does so at a moment of its own. @returns its id, when an answer began */
async function call(
  url: string,
  lane: Lane,
  model: string,
  stream: boolean,
  leaves: boolean,
): Promise<string | null> {
  let id: string | null = null;
  const controller = new AbortController();
  const timer = leaves ? setTimeout(() => controller.abort(), Math.random() * 40) : undefined;
  try {
    const response = await fetch(url + lane.path, {
      method: "POST",
      // A client's own idle connections would be counted as the gateway's.
      headers: { "content-type": "application/json", connection: "close" },
      body: JSON.stringify({
        model,
        max_tokens: 50,
        stream,
        messages: [{ role: "user", content: "x".repeat(500) }],
      }),
      signal: controller.signal,
    });
    id = response.headers.get("x-request-id");
    if (Math.random() < SLEEPERS) await Bun.sleep(SLEEP_MS);
    await response.arrayBuffer();
  } catch {
    // It left, or the stream broke: both are what the soak is made of.
  } finally {
    clearTimeout(timer);
  }
  return id;
}

/** Counts the calls of the log, and forgets the lines. */
function count(log: string[], settled: Map<string, number>): void {
  for (const line of log.splice(0)) {
    const id = /"id":"(req_[^"]+)"/.exec(line)?.[1];
    if (id) settled.set(id, (settled.get(id) ?? 0) + 1);
  }
}

/** Waits until the descriptors are down and the log is written. */
async function quiet(pid: number, before: number): Promise<void> {
  for (let tries = 0; tries < 60 && costOf(pid).fds > before; tries++) await Bun.sleep(100);
  await Bun.sleep(300);
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { minutes: { type: "string", default: "10" } } });
  const result = await soak({
    minutes: Number(values.minutes),
    clients: 64,
    progress: (text) => console.error(`${new Date().toTimeString().slice(0, 8)}  ${text}`),
  });
  console.log(JSON.stringify(result, null, 2));
  const { descriptors } = result;
  const faults = [
    result.slope > 1 && `memory grows by ${result.slope.toFixed(2)} MB a minute`,
    descriptors.after - descriptors.before > 5 &&
      `${descriptors.after - descriptors.before} descriptors are left`,
    result.upstreamLeft > 0 && `${result.upstreamLeft} connections are left at the upstream`,
    result.unsettled > 0 && `${result.unsettled} calls were never settled`,
    result.settledTwice > 0 && `${result.settledTwice} calls were settled twice`,
  ].filter(Boolean);
  for (const fault of faults) console.error(`weir soak: ${fault}`);
  process.exit(faults.length > 0 ? 1 : 0);
}
