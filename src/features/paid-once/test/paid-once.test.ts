/** Clients whose connection breaks and which repeat their request: they get the first answer, and the provider is asked once. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  ask as askAt,
  cut as cutAt,
  EVENTS,
  type GatedUpstream,
  gatedUpstream,
  idOf,
  lineOf,
  noticed,
  WHOLE,
} from "../../../../test/helpers/cut-streams.ts";
import { chatHost, type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";
import { until } from "../../../../test/helpers/upstream.ts";

let gateway: RunningGateway;
let upstream: GatedUpstream;

beforeAll(async () => {
  upstream = gatedUpstream();
  gateway = await startGateway({ config: { ...chatHost(upstream.url), paidOnce: { enabled: true } } });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

type Headers = Record<string, string>;
const RETRY = { "x-stainless-retry-count": "1" };
const ask = (prompt: string, headers?: Headers) => askAt(gateway.url, prompt, headers);
const cut = (prompt: string, events: number, headers?: Headers) =>
  cutAt(gateway.url, prompt, events, headers);
const named = (name: string) => ({ "idempotency-key": name });

async function ended(response: Response): Promise<Record<string, unknown>> {
  const id = idOf(response);
  await until(
    () => lineOf(gateway.log, id) !== undefined,
    5000,
    () => `${id} has not ended`,
  );
  return JSON.parse(lineOf(gateway.log, id)!) as Record<string, unknown>;
}

test("a stream that was cut behind any event is repeated with its idempotency key from its beginning", async () => {
  for (let events = 1; events < EVENTS.length; events++) {
    const prompt = `named, at ${events}`;
    const first = await cut(prompt, events, named(prompt));
    const repeat = await ask(prompt, named(prompt));
    upstream.release(prompt);
    expect(await repeat.text()).toBe(WHOLE);
    expect(repeat.status).toBe(first.status);
    expect(repeat.headers.get("content-type")).toBe(first.headers.get("content-type"));
    expect(repeat.headers.get("x-weir-provider")).toBe("host");
    expect(repeat.headers.get("x-weir-paid-once")).toBe("running");
    expect(repeat.headers.get("x-weir-first-request-id")).toBe(idOf(first));
    expect(idOf(repeat)).not.toBe(idOf(first));
    expect(upstream.count(prompt)).toBe(1);
  }
});

test("a stream that was cut behind any event is repeated with the SDK's retry header", async () => {
  for (let events = 1; events < EVENTS.length; events++) {
    const prompt = `counted, at ${events}`;
    await cut(prompt, events);
    const repeat = await ask(prompt, RETRY);
    upstream.release(prompt);
    expect(await repeat.text()).toBe(WHOLE);
    expect(upstream.count(prompt)).toBe(1);
  }
});

test("an answer whose client left is read to its end, and both log lines say so", async () => {
  const prompt = "late, at 2";
  const first = await cut(prompt, 2);
  await noticed();
  upstream.release(prompt);
  const line = await ended(first);
  expect(line).toMatchObject({ outcome: "complete", client_left: true });
  expect(line["tokens"]).toMatchObject({ input: 10, output: 20 });
  const repeat = await ask(prompt, RETRY);
  expect(repeat.headers.get("x-weir-paid-once")).toBe("finished");
  expect(await repeat.text()).toBe(WHOLE);
  expect(await ended(repeat)).toMatchObject({
    outcome: "complete",
    status: 200,
    paid_once: { answer: "finished", first: idOf(first), cost: 0 },
  });
  expect(upstream.count(prompt)).toBe(1);
});

test("several repeats with one idempotency key follow one answer, and one that leaves stops no other", async () => {
  const prompt = "followed, at 3";
  await cut(prompt, 3, named(prompt));
  const followers = [ask(prompt, named(prompt)), ask(prompt, named(prompt))];
  await cut(prompt, 3, named(prompt));
  upstream.release(prompt);
  for (const follower of followers) expect(await (await follower).text()).toBe(WHOLE);
  expect(upstream.count(prompt)).toBe(1);
});

test("a repeat with an idempotency key follows an answer whose client still seems to be connected", async () => {
  const prompt = "half open, at 2";
  const first = await ask(prompt, named(prompt));
  const repeat = await ask(prompt, named(prompt));
  upstream.release(prompt);
  expect(await repeat.text()).toBe(WHOLE);
  expect(await first.text()).toBe(WHOLE);
  expect(repeat.headers.get("x-weir-first-request-id")).toBe(idOf(first));
  expect(upstream.count(prompt)).toBe(1);
});

test("an answer that was delivered answers only the same idempotency key again", async () => {
  for (const [prompt, headers, calls] of [
    ["whole without a name", {}, 2],
    ["whole with a name", named("whole"), 1],
  ] as const) {
    expect(await (await ask(prompt, headers)).text()).toBe(WHOLE);
    expect(await (await ask(prompt, { ...headers, ...RETRY })).text()).toBe(WHOLE);
    expect(upstream.count(prompt)).toBe(calls);
  }
});

test("a retry that breaks waits for the next retry in the count, and each answer goes to one client", async () => {
  const prompt = "again and again, at 2";
  await cut(prompt, 2);
  await cut(prompt, 2, RETRY);
  expect(upstream.count(prompt)).toBe(1);
  const other = await ask(prompt, RETRY);
  await until(
    () => upstream.count(prompt) === 2,
    2000,
    () => "the retry of another client shared the answer",
  );
  const repeat = await ask(prompt, { "x-stainless-retry-count": "2" });
  upstream.release(prompt);
  expect(await repeat.text()).toBe(WHOLE);
  expect(await other.text()).toBe(WHOLE);
  expect(upstream.count(prompt)).toBe(2);
});

test("without a retry header or an idempotency key every request is a call of its own", async () => {
  const prompt = "plain, at 2";
  await cut(prompt, 2);
  const repeat = await ask(prompt);
  upstream.release(prompt);
  expect(repeat.headers.get("x-weir-paid-once")).toBeNull();
  expect(await repeat.text()).toBe(WHOLE);
  expect(upstream.count(prompt)).toBe(2);
});
