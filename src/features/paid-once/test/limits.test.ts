/** How long and how much weir reads for a client that left, what is not kept, and what ends when the gateway stops. */
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import {
  ask as askAt,
  cut as cutAt,
  EVENTS,
  idOf,
  lineOf,
  WHOLE,
} from "../../../../test/helpers/cut-streams.ts";
import { chatHost, type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";
import {
  cut as broken,
  endless,
  json,
  silence,
  sse,
  stalled,
  startUpstream,
  until,
  type Upstream,
} from "../../../../test/helpers/upstream.ts";

setDefaultTimeout(30_000);

let gateway: RunningGateway;
let upstream: Upstream;

const READ_ON_MS = 600;
const MAX_BYTES = 64 * 1024;

beforeAll(async () => {
  upstream = startUpstream(json({}));
  const paidOnce = { enabled: true, readOnMs: READ_ON_MS, maxBytes: MAX_BYTES };
  gateway = await startGateway({
    config: { ...chatHost(upstream.url), paidOnce, retries: { attempts: 1 }, log: { format: "json" } },
  });
});

afterEach(() => upstream.quiet());

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const RETRY = { "x-stainless-retry-count": "1" };
const ask = (prompt: string, headers?: Record<string, string>, signal?: AbortSignal) =>
  askAt(gateway.url, prompt, headers, signal);
const cut = (prompt: string, events: number, headers?: Record<string, string>) =>
  cutAt(gateway.url, prompt, events, headers);
const named = (name: string) => ({ "idempotency-key": name });

async function lineOfCall(response: Response): Promise<Record<string, unknown>> {
  const id = idOf(response);
  await until(
    () => lineOf(gateway.log, id) !== undefined,
    5000,
    () => `${id} has not ended`,
  );
  return JSON.parse(lineOf(gateway.log, id)!) as Record<string, unknown>;
}

test("an answer that no client reads is stopped after readOnMs, and charged as a cancelled one", async () => {
  upstream.answer(() => stalled(EVENTS.slice(0, 3)));
  const first = await cut("stalled", 3);
  const leftAt = performance.now();
  await Bun.sleep(READ_ON_MS / 2);
  expect(upstream.open).toBe(1);
  await upstream.quiet(5_000);
  expect(performance.now() - leftAt).toBeGreaterThan(READ_ON_MS * 0.9);
  expect(await lineOfCall(first)).toMatchObject({ outcome: "cancelled", client_left: true });
  upstream.answer(() => sse(EVENTS));
  const repeat = await ask("stalled", RETRY);
  expect(repeat.headers.get("x-weir-paid-once")).toBeNull();
  expect(await repeat.text()).toBe(WHOLE);
});

test("a call without a byte of an answer is stopped after readOnMs", async () => {
  upstream.answer(() => silence());
  const controller = new AbortController();
  const before = upstream.requests.length;
  const asked = ask("silent", {}, controller.signal).catch(() => undefined);
  await upstream.arrived(before + 1);
  controller.abort();
  await asked;
  await Bun.sleep(READ_ON_MS / 2);
  expect(upstream.open).toBe(1);
  await upstream.quiet(5_000);
});

test("an answer that no client reads is stopped when it is longer than maxBytes", async () => {
  const event = EVENTS[1]!.replace("one ", "x".repeat(1000));
  upstream.answer(() => sse(endless(event, 1)));
  const controller = new AbortController();
  const response = await ask("endless", {}, controller.signal);
  for await (const _ of response.body!) break;
  controller.abort();
  await upstream.quiet(5_000);
  expect(await lineOfCall(response)).toMatchObject({ outcome: "cancelled" });
});

test("an answer longer than maxBytes reaches its client and every repeat that follows it, but no later one", async () => {
  const long = Array.from({ length: 200 }, (_, n) => EVENTS[1]!.replace("one ", `${n} ${"x".repeat(1000)}`));
  const events = [EVENTS[0]!, ...long, ...EVENTS.slice(4)];
  const gate = Promise.withResolvers<void>();
  upstream.answer(() =>
    sse(
      (async function* () {
        yield events[0]!;
        await gate.promise;
        yield* events.slice(1);
      })(),
    ),
  );
  const before = upstream.requests.length;
  const first = await ask("long", named("long"));
  const follower = await ask("long", named("long"));
  expect(follower.headers.get("x-weir-paid-once")).toBe("running");
  gate.resolve();
  const [one, other] = await Promise.all([first.text(), follower.text()]);
  expect(one).toBe(events.join(""));
  expect(other).toBe(one);
  expect(upstream.requests.length).toBe(before + 1);
  upstream.answer(() => sse(EVENTS));
  const later = await ask("long", named("long"));
  expect(later.headers.get("x-weir-paid-once")).toBeNull();
  expect(await later.text()).toBe(WHOLE);
});

test("readOnMs begins when the last client that reads the answer leaves", async () => {
  upstream.answer(() => stalled(EVENTS.slice(0, 2)));
  await cut("followed", 2, named("followed"));
  const controller = new AbortController();
  const follower = await askAt(gateway.url, "followed", named("followed"), controller.signal);
  await Bun.sleep(READ_ON_MS * 2);
  expect(upstream.open).toBe(1);
  controller.abort();
  const leftAt = performance.now();
  await follower.text().catch(() => "");
  await upstream.quiet(5_000);
  expect(performance.now() - leftAt).toBeGreaterThan(READ_ON_MS * 0.8);
});

test("a call that failed before its first byte, after its client left, is not kept", async () => {
  const gate = Promise.withResolvers<void>();
  upstream.answer(async () => {
    await gate.promise;
    return json({ error: { message: "overloaded" } }, 503);
  });
  const controller = new AbortController();
  const before = upstream.requests.length;
  const asked = ask("refused", {}, controller.signal).catch(() => undefined);
  await upstream.arrived(before + 1);
  controller.abort();
  await asked;
  gate.resolve();
  await upstream.quiet();
  upstream.answer(() => sse(EVENTS));
  const repeat = await ask("refused", RETRY);
  expect(repeat.headers.get("x-weir-paid-once")).toBeNull();
  expect(await repeat.text()).toBe(WHOLE);
});

test("an answer that the provider broke off is not kept", async () => {
  upstream.answer(() => broken(EVENTS.slice(0, 3), "fin"));
  const first = await ask("broken off", named("broken off"));
  await first.text().catch(() => "");
  upstream.answer(() => sse(EVENTS));
  const repeat = await ask("broken off", { ...named("broken off"), ...RETRY });
  expect(repeat.headers.get("x-weir-paid-once")).toBeNull();
  expect(await repeat.text()).toBe(WHOLE);
});

test("a repeat that follows an answer which the provider breaks off gets the error event of its format", async () => {
  const gate = Promise.withResolvers<void>();
  upstream.answer(() => ({
    ...sse(
      (async function* () {
        yield* EVENTS.slice(0, 2);
        await gate.promise;
        yield { wait: 3 };
      })(),
    ),
    ending: "fin",
  }));
  const first = await cut("breaks", 2, named("breaks"));
  const follower = await ask("breaks", named("breaks"));
  expect(follower.headers.get("x-weir-paid-once")).toBe("running");
  gate.resolve();
  let text = "";
  try {
    for await (const piece of follower.body!) text += Buffer.from(piece).toString();
  } catch {
    // weir closes the connection without the end of the body.
  }
  expect(text).toStartWith(EVENTS.slice(0, 2).join(""));
  expect(text).toContain('"error"');
  expect(text).not.toContain("[DONE]");
  expect(await lineOfCall(follower)).toMatchObject({ outcome: "failed" });
  expect(await lineOfCall(first)).toMatchObject({ outcome: "failed", client_left: true });
});

test("a repeat is a new call if an equal request of the same client got an error at the same count", async () => {
  upstream.answer(() => stalled(EVENTS.slice(0, 2)));
  await cut("ambiguous", 2);
  upstream.answer(() => json({ error: { message: "slow down" } }, 429));
  expect((await ask("ambiguous")).status).toBe(429);
  upstream.answer(() => sse(EVENTS));
  const repeat = await ask("ambiguous", RETRY);
  expect(repeat.headers.get("x-weir-paid-once")).toBeNull();
  expect(await repeat.text()).toBe(WHOLE);
});

test("a JSON answer whose client left is given to the repeat, byte for byte", async () => {
  const body = {
    id: "c",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
  const post = (signal?: AbortSignal, headers: Record<string, string> = {}) =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      ...(signal && { signal }),
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ model: "host/some-model", messages: [{ role: "user", content: "JSON" }] }),
    });
  const plain = await (async () => {
    upstream.answer(() => json(body));
    return (await post()).text();
  })();
  const gate = Promise.withResolvers<void>();
  upstream.answer(async () => {
    await gate.promise;
    return json(body);
  });
  const controller = new AbortController();
  const before = upstream.requests.length;
  const asked = post(controller.signal).catch(() => undefined);
  await upstream.arrived(before + 1);
  controller.abort();
  await asked;
  const running = post(undefined, RETRY);
  await Bun.sleep(20);
  gate.resolve();
  const repeat = await running;
  expect(repeat.headers.get("x-weir-paid-once")).toBe("running");
  expect(repeat.headers.get("content-type")).toBe("application/json");
  expect(await repeat.text()).toBe(plain);
  expect(upstream.requests.length).toBe(before + 1);
});

test("a gateway that stops ends what it reads for no client", async () => {
  upstream.answer(() => stalled(EVENTS.slice(0, 2)));
  const other = await startGateway({
    config: { ...chatHost(upstream.url), paidOnce: { enabled: true }, log: { format: "json" } },
  });
  const first = await cutAt(other.url, "stops", 2);
  await Bun.sleep(50);
  expect(upstream.open).toBe(1);
  const at = performance.now();
  await other.stop();
  expect(performance.now() - at).toBeLessThan(5_000);
  await upstream.quiet();
  expect(lineOf(other.log, idOf(first))).toContain('"outcome":"cancelled"');
});

test("without the option a call stops when its client leaves", async () => {
  upstream.answer(() => stalled(EVENTS.slice(0, 2)));
  const other = await startGateway({ config: chatHost(upstream.url) });
  await cutAt(other.url, "off", 2, named("off"));
  await upstream.quiet(2_000);
  upstream.answer(() => sse(EVENTS));
  const repeat = await askAt(other.url, "off", { ...named("off"), ...RETRY });
  expect(repeat.headers.get("x-weir-paid-once")).toBeNull();
  await repeat.text();
  await other.stop();
});
