/** `stop.delayMs`: between SIGTERM and the closed listener weir still takes calls, and says to load balancers that it ends. */
import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../src/config/load.ts";
import { ask, serve, type Serving, type ServingOptions } from "../helpers/serving.ts";

setDefaultTimeout(120_000);

const DELAY_MS = 2_000;
const CONFIG = `stop: { delayMs: ${DELAY_MS} }\ngraceMs: 20000\n`;

let running: Serving | undefined;
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await running?.end();
  running = undefined;
});

async function start(options: Partial<ServingOptions> = {}): Promise<Serving> {
  running = await serve({ config: CONFIG, workers: 2, ...options });
  return running;
}

/** A connection that stays open between requests. */
interface Kept {
  get(path: string): Promise<string>;
  /** Resolves when the gateway closes it. */
  closed: Promise<void>;
}

async function keep(url: string): Promise<Kept> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  const closed = Promise.withResolvers<void>();
  socket.on("close", () => closed.resolve());
  socket.on("error", () => {});
  await new Promise((resolve) => socket.once("connect", resolve));
  return {
    closed: closed.promise,
    get(path) {
      const answer = new Promise<string>((resolve) => socket.once("data", (bytes) => resolve(String(bytes))));
      socket.write(`GET ${path} HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`);
      return answer;
    },
  };
}

/** The status of `/health`, and what it says; undefined once nobody listens. */
async function health(url: string): Promise<{ status: number; says: unknown } | undefined> {
  try {
    const response = await fetch(`${url}/health`, { keepalive: false });
    return { status: response.status, says: ((await response.json()) as { status: unknown }).status };
  } catch {
    return undefined;
  }
}

describe.each([1, 2])("%d workers", (workers) => {
  test("go on to take calls for the delay while /health answers 503, then refuse them", async () => {
    const weir = await start({ workers });
    const kept = await keep(weir.url);
    expect(await kept.get("/health")).toStartWith("HTTP/1.1 200");
    const stream = ask(weir.url, "mock/pace-40", true);
    await Bun.sleep(200);
    const began = performance.now();
    weir.signal("SIGTERM");
    let answered = 0;
    let lastAnswer = 0;
    let unready = 0;
    // Each call has a connection of its own.
    for (;;) {
      const state = await health(weir.url);
      if (!state) break;
      if (performance.now() - began > 300) expect(state).toEqual({ status: 503, says: "draining" });
      unready += Number(state.status === 503);
      const call = await ask(weir.url, "mock/chat").catch(() => undefined);
      if (!call) break;
      expect(call.status).toBe(200);
      answered++;
      lastAnswer = performance.now() - began;
      await Bun.sleep(20);
    }
    const refusedAfter = performance.now() - began;
    expect(unready).toBeGreaterThan(5);
    expect(answered).toBeGreaterThan(5);
    expect(lastAnswer).toBeGreaterThan(DELAY_MS - 700);
    expect(refusedAfter).toBeGreaterThan(DELAY_MS - 100);
    expect((await stream).text).toEndWith("data: [DONE]\n\n");
    expect(await weir.exited).toBe(0);
  });

  test("answer on a connection that was open, and close it after the answer", async () => {
    const weir = await start({ workers });
    const kept = await keep(weir.url);
    expect(await kept.get("/v1/models")).not.toMatch(/connection: close/i);
    weir.signal("SIGTERM");
    await Bun.sleep(400);
    const answer = await kept.get("/v1/models");
    expect(answer).toStartWith("HTTP/1.1 200");
    expect(answer).toMatch(/connection: close/i);
    const early = performance.now();
    await kept.closed;
    expect(performance.now() - early).toBeLessThan(DELAY_MS - 500);
    expect(await weir.exited).toBe(0);
  });

  test("end at once with a second signal", async () => {
    const weir = await start({ workers, config: "stop: { delayMs: 60000 }\n" });
    const began = performance.now();
    weir.signal("SIGTERM");
    await Bun.sleep(300);
    weir.signal("SIGTERM");
    expect(await weir.exited).toBe(1);
    expect(performance.now() - began).toBeLessThan(30_000);
  });

  test("in Kubernetes end within 25 s with a stream that would take longer", async () => {
    const weir = await start({ workers, config: "{}", env: { KUBERNETES_SERVICE_HOST: "10.96.0.1" } });
    const stream = ask(weir.url, "mock/pace-4000", true);
    await Bun.sleep(200);
    const began = performance.now();
    weir.signal("SIGTERM");
    await Bun.sleep(4_000);
    expect((await ask(weir.url, "mock/chat")).status).toBe(200);
    const { text } = await stream;
    expect(text).toContain("error");
    expect(text).not.toContain("[DONE]");
    expect(await weir.exited).toBe(0);
    const took = performance.now() - began;
    expect(took).toBeGreaterThan(15_000);
    expect(took).toBeLessThan(25_000);
  });
});

test("without the option weir refuses calls at once", async () => {
  const weir = await start({ config: "{}" });
  const stream = ask(weir.url, "mock/pace-40", true);
  await Bun.sleep(200);
  weir.signal("SIGTERM");
  await Bun.sleep(600);
  expect(await health(weir.url)).toBeUndefined();
  expect((await stream).text).toEndWith("data: [DONE]\n\n");
});

test("the times of a stop fit into what Kubernetes gives, unless the config says otherwise", () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-stop-"));
  const pod = { KUBERNETES_SERVICE_HOST: "10.96.0.1" };
  const times = (text: string, env: Record<string, string> = {}) => {
    writeFileSync(join(folder, "weir.yaml"), text);
    const { stop, graceMs } = loadConfig({ env, cwd: folder }).config;
    return [stop.delayMs, graceMs];
  };
  try {
    expect(times("{}")).toEqual([0, 30_000]);
    expect(times("{}", pod)).toEqual([5_000, 16_000]);
    expect(times("stop: { delayMs: 0 }", pod)).toEqual([0, 21_000]);
    expect(times("stop: { delayMs: 12000 }", pod)).toEqual([12_000, 9_000]);
    expect(times("stop: { delayMs: 60000 }", pod)).toEqual([60_000, 1]);
    expect(times("graceMs: 600000", pod)).toEqual([5_000, 600_000]);
    expect(times("stop: { delayMs: 3000 }\ngraceMs: 600000")).toEqual([3_000, 600_000]);
    expect(() => times("stop: { delayMs: -1 }")).toThrow("delayMs must be an integer between 0 and 120000");
    expect(() => times("stop: { delay: 1 }")).toThrow("unknown option delay (at stop.delay)");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
