/** Answers that an upstream sends without being asked never reach another caller. */
import { afterEach, describe, expect, test } from "bun:test";
import { createServer } from "node:net";
import { HttpClient } from "../../src/http/client.ts";
import { answer, portOf, startStrayUpstream, type StrayUpstream } from "../helpers/stray.ts";
import { IS_LONG } from "../helpers/effort.ts";

let upstream: StrayUpstream | undefined;
let client: HttpClient | undefined;

afterEach(() => {
  client?.close();
  upstream?.stop();
});

const stop = new AbortController().signal;

async function ask(url: string, marker: string, pool = ""): Promise<string> {
  const request = { url, headers: {}, body: [Buffer.from(marker)], stop, pool };
  const body = await (await client!.request(request)).bytes();
  return JSON.parse(Buffer.from(body).toString()).id;
}

let markers = 0;

/** One call of a pool. @returns whether its answer is another call's */
async function isWrong(pool: string): Promise<boolean> {
  const marker = `m${++markers}`;
  return (await ask(`${upstream!.url}/v1/chat/completions`, marker, pool)) !== marker;
}

/** Answers are delayed by ten lengths in turn. */
const ROUNDS = IS_LONG ? 100 : 20;

const POOLS = ["a", "b", "c"];

describe.each([1, 2, 8])("%d stray answers", (strays) => {
  test("that come before the next request reach nobody, and are reported", async () => {
    const alerts: string[] = [];
    upstream = await startStrayUpstream();
    client = new HttpClient({ distrustMs: 1, onAlert: (sentence) => alerts.push(sentence) });
    for (let round = 0; round < ROUNDS / 2; round++) {
      for (const pool of POOLS) expect(await isWrong(pool)).toBe(false);
      await Bun.sleep(5);
      upstream.arm({ strays, delayMs: () => 0 });
      expect(await isWrong("a")).toBe(false);
      for (const pool of POOLS) expect(await isWrong(pool)).toBe(false);
    }
    expect(alerts.length).toBeGreaterThanOrEqual(ROUNDS / 2);
    expect(alerts[0]).toContain(new URL(upstream.url).host);
  });

  test("at any moment never reach another pool, and are reported", async () => {
    const alerts: string[] = [];
    upstream = await startStrayUpstream();
    client = new HttpClient({ distrustMs: 1, onAlert: (sentence) => alerts.push(sentence) });
    let wrong = 0;
    for (let round = 0; round < ROUNDS; round++) {
      upstream.arm({ strays, delayMs: () => (round % 10) * 0.3, answerMs: () => round % 3 });
      if (await isWrong("a")) wrong++;
      for (let n = 0; n < 6; n++) {
        expect(await isWrong(POOLS[1 + (n % 2)]!)).toBe(false);
        if (await isWrong("a")) wrong++;
      }
    }
    expect(alerts.length).toBeGreaterThanOrEqual(wrong);
  });
});

test("a stray answer that is taken for a true one costs its connection one answer, and is reported", async () => {
  const alerts: string[] = [];
  let send: (answer: string) => void = () => {};
  const seen: string[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      const marker = /m\d+$/.exec(bytes.toString())![0];
      seen.push(marker);
      if (seen.length === 2) send = (text) => void socket.write(answer(text));
      else setTimeout(() => socket.write(answer(marker)), 500);
    });
  });
  const url = `http://127.0.0.1:${await portOf(server)}/`;
  client = new HttpClient({ onAlert: (sentence) => alerts.push(sentence) });
  expect(await ask(url, "m1")).toBe("m1");
  await Bun.sleep(50);
  const second = ask(url, "m2");
  while (seen.length < 2) await Bun.sleep(5);
  send("stray");
  expect(await second).toBe("stray");
  await Bun.sleep(50);
  const third = ask(url, "m3");
  await Bun.sleep(50);
  send("m2");
  expect(await third).toBe("m3");
  expect(alerts.length).toBe(1);
  server.close();
});

test("an origin that sent stray bytes gets a new connection for each call, until it is trusted again", async () => {
  upstream = await startStrayUpstream();
  client = new HttpClient({ distrustMs: 800 });
  await isWrong("a");
  await isWrong("b");
  await Bun.sleep(20);
  expect(client.size).toBe(2);
  upstream.arm({ strays: 1, delayMs: () => 0 });
  await isWrong("a");
  expect(client.size).toBe(0);
  const { connections } = upstream;
  for (let n = 0; n < 3; n++) {
    await isWrong("a");
    await Bun.sleep(20);
  }
  expect(upstream.connections).toBe(connections + 3);
  await Bun.sleep(900);
  const after = upstream.connections;
  for (let n = 0; n < 2; n++) {
    await isWrong("a");
    await Bun.sleep(50);
  }
  expect(upstream.connections).toBe(after + 1);
});

test("idle connections are limited in all pools together, and the oldest is closed first", async () => {
  upstream = await startStrayUpstream();
  client = new HttpClient({ maxIdle: 3 });
  for (const pool of ["a", "b", "c", "d", "e"]) {
    await isWrong(pool);
    await Bun.sleep(20);
  }
  expect(client.size).toBe(3);
  const { connections } = upstream;
  await isWrong("c");
  expect(upstream.connections).toBe(connections);
  await isWrong("a");
  expect(upstream.connections).toBe(connections + 1);
});
