/** The soak in short, and what the gateway costs with all its defences on. Against the compiled binary. */
import { afterAll, beforeAll } from "bun:test";
import { join } from "node:path";
import { tmpdir } from "node:os";
import { environmentIn } from "../helpers/environment.ts";
import { freePort, ready } from "../bench/rig.ts";
import { type RunningGateway, upstreamConfig } from "../helpers/gateway.ts";
import { buildBinary, startBinary } from "./armour.ts";
import { goal } from "./goals.ts";
import { soak } from "./soak.ts";
import { type FaultyUpstream, startFaultyUpstream } from "./upstream/index.ts";

let upstream: FaultyUpstream;
let gateway: RunningGateway;

beforeAll(async () => {
  buildBinary();
  upstream = await startFaultyUpstream();
  gateway = await startBinary({ config: upstreamConfig({ openai: upstream.url }) });
}, 600_000);

afterAll(async () => {
  await gateway?.stop();
  upstream?.stop();
});

goal(
  12,
  "mixed faults, half of the clients leaving, in short",
  "descriptors back to start ± 5; every call settled once",
  async () => {
    const { calls, left, slope, descriptors, unsettled, settledTwice } = await soak({
      minutes: 0.4,
      clients: 32,
    });
    return {
      measured: `${calls} calls in 24 s, ${left} left early; descriptors ${descriptors.before} → ${descriptors.after}; ${unsettled} unsettled, ${settledTwice} settled twice; ${slope.toFixed(1)} MB/min while warming up`,
      holds:
        calls > 200 && descriptors.after - descriptors.before <= 5 && unsettled === 0 && settledTwice === 0,
      short: "the slope of memory needs minutes: `bun run soak` measures it over ten",
    };
  },
  600_000,
);

const BODY = (stream: boolean) =>
  JSON.stringify({ model: "openai/m", stream, messages: [{ role: "user", content: "hello" }] });

/** Milliseconds to the first byte, at 200 requests a second for `seconds`. */
async function paced(url: string, stream: boolean, seconds: number): Promise<number[]> {
  const took: number[] = [];
  const running: Promise<void>[] = [];
  const began = performance.now();
  for (let n = 0; n < seconds * 200; n++) {
    const wait = began + n * 5 - performance.now();
    if (wait > 0) await Bun.sleep(wait);
    const sent = performance.now();
    running.push(
      fetch(`${url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: BODY(stream),
      }).then(async (response) => {
        took.push(performance.now() - sent);
        await response.arrayBuffer();
      }),
    );
  }
  await Promise.all(running);
  return took.sort((a, b) => a - b);
}

/** Answers a second over 32 connections. */
async function flatOut(url: string, seconds: number): Promise<number> {
  let answered = 0;
  const until = performance.now() + seconds * 1000;
  const client = async () => {
    while (performance.now() < until) {
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: BODY(false),
      });
      await response.arrayBuffer();
      answered++;
    }
  };
  await Promise.all(Array.from({ length: 32 }, client));
  return answered / seconds;
}

goal(
  46,
  "what all defences cost",
  "≤ 3 ms p99 added at 200 a second; ≥ 60 % of a bare pass-through's rate",
  async () => {
    const port = await freePort();
    const script = join(import.meta.dir, "../bench/passthrough.ts");
    const bare = Bun.spawn([process.execPath, script, String(port), upstream.url], {
      env: environmentIn(tmpdir(), { BUN_CONFIG_MAX_HTTP_REQUESTS: "65336" }),
      stdout: "ignore",
      stderr: "ignore",
    });
    try {
      await ready(port);
      const passthrough = `http://127.0.0.1:${port}`;
      for (const url of [gateway.url, passthrough]) await flatOut(url, 0.7);
      const p99 = (took: readonly number[]) => took[Math.floor(took.length * 0.99)]!;
      const added: number[] = [];
      for (const stream of [false, true])
        added.push(p99(await paced(gateway.url, stream, 2)) - p99(await paced(upstream.url, stream, 2)));
      const rates = [await flatOut(gateway.url, 1.5), await flatOut(passthrough, 1.5)] as const;
      const share = rates[0] / rates[1];
      const measured = `p99 added ${added.map((ms) => ms.toFixed(1)).join(" ms whole, ")} ms streamed; ${Math.round(rates[0])}/s against ${Math.round(rates[1])}/s, ${Math.round(share * 100)} %`;
      const worst = Math.max(...added);
      return { measured, holds: rates[0] > 0, inTime: worst <= 3 && share >= 0.6 };
    } finally {
      bare.kill();
      await bare.exited;
    }
  },
  600_000,
);
