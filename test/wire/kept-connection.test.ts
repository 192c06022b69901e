/** Upstream connections that are kept between calls: whose they are, and what a call risks on them. */
import { afterEach, expect, test } from "bun:test";
import { type RunningGateway, startGateway, upstreamConfig } from "../helpers/gateway.ts";
import { startStrayUpstream, type StrayUpstream } from "../helpers/stray.ts";
import { json, startUpstream, type Upstream, until } from "../helpers/upstream.ts";

let gateway: RunningGateway | undefined;
let upstream: Upstream | undefined;
let stray: StrayUpstream | undefined;

afterEach(async () => {
  await gateway?.stop();
  upstream?.stop();
  stray?.stop();
});

const KEYS = ["first-key-0123456789abc", "second-key-0123456789ab", "third-key-0123456789abc"];

async function ask(key: string, content: string): Promise<Response> {
  return fetch(`${gateway!.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", connection: "close" },
    body: JSON.stringify({ model: "openai/m", messages: [{ role: "user", content }] }),
  });
}

const WHOLE = json({ id: "whole", object: "chat.completion", created: 1, model: "m", choices: [] });

/** The log lines of calls, once there are so many. */
async function calls(count: number): Promise<Record<string, unknown>[]> {
  const lines = () =>
    gateway!.log
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ id }) => id);
  await until(
    () => lines().length >= count,
    10_000,
    () => `${lines().length} of ${count} calls are logged`,
  );
  return lines();
}

test("gateway keys do not share connections, and one key reuses its own", async () => {
  upstream = startUpstream(WHOLE);
  gateway = await startGateway({ config: { ...upstreamConfig({ openai: upstream.url }), keys: KEYS } });
  for (const key of [...KEYS, ...KEYS]) {
    expect((await ask(key, "hi")).status).toBe(200);
    await Bun.sleep(50);
  }
  const used = upstream.requests.map(({ connection }) => connection);
  expect(new Set(used.slice(0, 3)).size).toBe(3);
  expect(used.slice(3)).toEqual(used.slice(0, 3));
});

test("a stray answer reaches no other gateway key, and the log reports it", async () => {
  stray = await startStrayUpstream();
  gateway = await startGateway({ config: { ...upstreamConfig({ openai: stray.url }), keys: KEYS } });
  let marker = 0;
  for (let round = 0; round < 5; round++) {
    stray.arm({ strays: 2, delayMs: () => round * 2 });
    for (const key of KEYS) {
      const content = `m${++marker}`;
      expect(((await (await ask(key, content)).json()) as { id: string }).id).toBe(content);
    }
  }
  await until(
    () => gateway!.log.some((line) => line.includes("bytes that answer no request")),
    10_000,
    () => "the log says nothing of the stray answers",
  );
});

test("a kept connection that closes after it has read the request: repeated once, and may cost twice", async () => {
  upstream = startUpstream((request) =>
    request.connection === 1 && upstream!.requests.length === 2
      ? { raw: [{ wait: 100 }], ending: "fin" }
      : WHOLE,
  );
  gateway = await startGateway({ config: upstreamConfig({ openai: upstream.url }) });
  expect((await ask("", "hi")).status).toBe(200);
  await Bun.sleep(50);
  expect((await ask("", "hi")).status).toBe(200);
  expect(upstream.requests.length).toBe(3);
  expect(upstream.requests[2]!.connection).toBe(2);
  const [, repeated] = await calls(2);
  expect(repeated).toMatchObject({ may_cost_twice: true });
  expect(repeated!["attempts"]).toMatchObject([{ class: "no-bytes", what: "stale" }, { class: "answered" }]);
});

test("calls whose kept connections close at the same time are all repeated, whatever the retry budget", async () => {
  const used = new Set<number>();
  upstream = startUpstream(({ connection }) => {
    if (used.has(connection)) return { raw: [{ wait: 100 }], ending: "fin" };
    used.add(connection);
    return WHOLE;
  });
  gateway = await startGateway({ config: upstreamConfig({ openai: upstream.url }) });
  const together = () => Promise.all(Array.from({ length: 12 }, async () => (await ask("", "hi")).status));
  await together();
  await Bun.sleep(50);
  expect(await together()).toEqual(Array<number>(12).fill(200));
});

test("retries.maybeSent: false repeats no call that the provider may have read", async () => {
  upstream = startUpstream((request) =>
    request.connection === 1 && upstream!.requests.length === 2
      ? { raw: [{ wait: 100 }], ending: "fin" }
      : WHOLE,
  );
  const config = { ...upstreamConfig({ openai: upstream.url }), retries: { maybeSent: false } };
  gateway = await startGateway({ config });
  expect((await ask("", "hi")).status).toBe(200);
  await Bun.sleep(50);
  expect((await ask("", "hi")).status).toBe(502);
  expect(upstream.requests.length).toBe(2);
  const [, failed] = await calls(2);
  expect(failed!["attempts"]).toMatchObject([{ class: "no-bytes", what: "stale" }]);
  expect(failed).not.toHaveProperty("may_cost_twice");
});
