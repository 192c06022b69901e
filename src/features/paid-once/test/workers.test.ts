/** Repeats that arrive at another worker process than their first request: the keeper connects the two. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import {
  ask as askAt,
  cut,
  EVENTS,
  type GatedUpstream,
  gatedUpstream,
  idOf,
  lineOf,
  noticed,
  WHOLE,
} from "../../../../test/helpers/cut-streams.ts";
import { chatHost, type RunningGateway, startGateway, TARGET } from "../../../../test/helpers/gateway.ts";
import { until } from "../../../../test/helpers/upstream.ts";

setDefaultTimeout(60_000);

let gateway: RunningGateway;
let upstream: GatedUpstream;

beforeAll(async () => {
  upstream = gatedUpstream();
  gateway = await startGateway({
    config: { ...chatHost(upstream.url), paidOnce: { enabled: true }, log: { format: "json" } },
    env: { WEIR_WORKERS: "2" },
    target: TARGET === "source" ? "process" : TARGET,
  });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const RETRY = { "x-stainless-retry-count": "1" };
const ask = (prompt: string, headers?: Record<string, string>) => askAt(gateway.url, prompt, headers);

async function workerOf(response: Response): Promise<unknown> {
  const id = idOf(response);
  await until(
    () => lineOf(gateway.log, id) !== undefined,
    5000,
    () => `${id} has not ended`,
  );
  return (JSON.parse(lineOf(gateway.log, id)!) as { worker: unknown }).worker;
}

/** Repeats until enough pairs were at two workers: the system chooses a worker for each connection. */
async function pairs(
  name: string,
  headersOf: (prompt: string) => Record<string, string>,
  releaseFirst: boolean,
  retry: Record<string, string> = {},
): Promise<void> {
  let apart = 0;
  for (let turn = 0; turn < 60 && apart < 6; turn++) {
    const events = 1 + (turn % (EVENTS.length - 1));
    const prompt = `${name} ${turn}, at ${events}`;
    const first = await cut(gateway.url, prompt, events, headersOf(prompt));
    if (releaseFirst) {
      await noticed();
      upstream.release(prompt);
      await workerOf(first);
    }
    const repeat = await ask(prompt, { ...headersOf(prompt), ...retry });
    upstream.release(prompt);
    expect(await repeat.text()).toBe(WHOLE);
    expect(repeat.headers.get("x-weir-paid-once")).toBe(releaseFirst ? "finished" : "running");
    expect(repeat.headers.get("x-weir-first-request-id")).toBe(idOf(first));
    expect(upstream.count(prompt)).toBe(1);
    if ((await workerOf(first)) !== (await workerOf(repeat))) apart++;
  }
  expect(apart).toBe(6);
}

test("a repeat with an idempotency key gets the running answer of another worker", () =>
  pairs("named", (prompt) => ({ "idempotency-key": prompt }), false));

test("a repeat with the SDK's retry header gets the running answer of another worker", () =>
  pairs("counted", () => ({}), false, RETRY));

test("a repeat gets the finished answer of another worker", () =>
  pairs("finished", (prompt) => ({ "idempotency-key": prompt }), true));
