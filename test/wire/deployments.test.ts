/** Several places of one provider over real sockets: conversations that stay, deadlines, credentials, and who waits. */
import { expect, test } from "bun:test";
import type { GatewayOptions, RunningGateway } from "../helpers/gateway.ts";
import { answering, ask, chunk, failing, inOrder, keyOf, makeStage, places } from "../helpers/places.ts";
import {
  type Handler,
  json,
  silence,
  stalled,
  startUpstream,
  until,
  type Upstream,
} from "../helpers/upstream.ts";

const stage = makeStage();
const { upstream } = stage;

interface Setting extends Omit<GatewayOptions, "config"> {
  config?: Record<string, unknown>;
  /** What each deployment has besides its name, credential and address. */
  place?: (index: number) => object;
}

function gateway(upstreams: readonly Upstream[], setting: Setting = {}): Promise<RunningGateway> {
  const { config = {}, place, ...more } = setting;
  const urls = upstreams.map(({ url }) => url);
  return stage.gateway({ providers: places(urls, place), ...config }, more);
}

const preferred = { place: inOrder };

const counts = (upstreams: readonly Upstream[]) => upstreams.map(({ requests }) => requests.length);

test("a conversation stays at one place, turn after turn, and many of them spread", async () => {
  const upstreams = [upstream(answering), upstream(answering)];
  const running = await gateway(upstreams);
  const first = { role: "user", content: "tell me of the sea" };
  for (let turn = 0; turn < 6; turn++) {
    const said = Array.from({ length: turn }, (_, index) => ({
      role: "assistant",
      content: `wave ${index}`,
    }));
    await ask(running, { body: { messages: [first, ...said, { role: "user", content: "more" }] } });
  }
  expect(counts(upstreams)).toContain(6);
  for (let call = 0; call < 40; call++) await ask(running, { body: { prompt_cache_key: `session ${call}` } });
  expect(Math.min(...counts(upstreams))).toBeGreaterThan(5);
});

test("it moves when its place fails, and only it", async () => {
  const upstreams = [upstream(answering), upstream(answering)];
  const running = await gateway(upstreams);
  const session = async (name: string) =>
    (await ask(running, { headers: { "x-session-id": name } })).headers.get("x-weir-deployment");
  const names = Array.from({ length: 12 }, (_, index) => `session ${index}`);
  const before = await Promise.all(names.map(session));
  expect(new Set(before).size).toBe(2);
  upstreams[0]!.answer(() => failing(500));
  for (const [index, name] of names.entries())
    expect([before[index], await session(name)]).toEqual([before[index], "openai/d1"]);
});

test("weights are shares", async () => {
  const upstreams = [upstream(answering), upstream(answering)];
  const running = await gateway(upstreams, { place: (index) => ({ weight: index === 0 ? 9 : 1 }) });
  for (let call = 0; call < 200; call++) await ask(running, { headers: { "x-session-id": `s${call}` } });
  const [most, least] = counts(upstreams) as [number, number];
  expect(most).toBeGreaterThan(least * 3);
  expect(least).toBeGreaterThan(3);
});

test("no place's credential is seen by a client, in the log, or by another place", async () => {
  const telling: Handler = (request) =>
    json({ error: { message: `key ${request.headers.get("authorization")} is wrong` } }, 500);
  const upstreams = [upstream(telling), upstream(telling)];
  const running = await gateway(upstreams, preferred);
  const { text, headers } = await ask(running);
  await Bun.sleep(80);
  const seen = text + JSON.stringify([...headers]) + running.log.join("\n");
  for (const index of [0, 1]) {
    expect(seen).not.toContain(keyOf(index));
    expect(upstreams[index]!.requests[0]!.headers.get("authorization")).toBe(`Bearer ${keyOf(index)}`);
  }
});

test("a refused credential is an error in the log, once", async () => {
  const upstreams = [upstream(() => failing(401)), upstream(answering)];
  const running = await gateway(upstreams, preferred);
  for (let call = 0; call < 5; call++) expect((await ask(running)).status).toBe(200);
  await Bun.sleep(80);
  const alerts = running.log.filter((line) => line.includes("refuses weir's credential"));
  expect(alerts.length).toBe(1);
  expect(JSON.parse(alerts[0]!)).toMatchObject({ level: "error" });
  expect(counts(upstreams)).toEqual([1, 5]);
});

test("alone and refused, it is asked all the same, and the alarm stays one", async () => {
  const only = upstream(() => failing(401));
  const running = await gateway([only]);
  for (let call = 0; call < 3; call++) expect((await ask(running)).status).toBe(502);
  await Bun.sleep(80);
  expect(running.log.filter((line) => line.includes("refuses weir's credential")).length).toBe(1);
  expect(only.requests.length).toBe(3);
});

test("a client that leaves while the gateway waits is not asked for", async () => {
  const only = upstream(() => failing(429, { "retry-after": "1" }));
  const running = await gateway([only]);
  const client = new AbortController();
  const left = ask(running, { signal: client.signal }).catch((error: Error) => error.name);
  while (only.requests.length === 0) await Bun.sleep(5);
  await Bun.sleep(200);
  client.abort();
  expect(await left).toBe("AbortError");
  await Bun.sleep(1_500);
  expect(only.requests.length).toBe(1);
  await until(
    () => running.log.some((line) => line.includes('"outcome":"cancelled"')),
    2_000,
    () => "the call was not cancelled",
  );
});

test("a place that has as many calls as it is given is passed over, and all of them is a 503", async () => {
  const places = [upstream(silence), upstream(silence)];
  const running = await gateway(places, { place: (index) => ({ priority: index, concurrency: 1 }) });
  const leave = new AbortController();
  const waiting = [0, 1].map(() =>
    ask(running, { signal: leave.signal }).catch((cause: Error) => cause.name),
  );
  await until(
    () => counts(places).every((count) => count === 1),
    2_000,
    () => `the calls did not spread: ${counts(places)}`,
  );
  for (const path of ["/v1/chat/completions", "/v1/messages"]) {
    const { status, headers, text } = await ask(running, { path });
    expect([status, headers.get("retry-after")]).toEqual([path.endsWith("messages") ? 529 : 503, "1"]);
    expect(text).toContain("openai/d0 has reached its concurrency limit (1)");
  }
  leave.abort();
  expect(await Promise.all(waiting)).toEqual(["AbortError", "AbortError"]);
  for (const place of places) place.answer(answering);
  await until(
    () => running.log.filter((line) => line.includes('"outcome":"cancelled"')).length === 2,
    2_000,
    () => "the calls were not cancelled",
  );
  expect((await ask(running)).headers.get("x-weir-deployment")).toBe("openai/d0");
});

test("a client that leaves a stream that has not begun gives its place back once", async () => {
  const place = upstream(silence);
  const running = await gateway([place], {
    place: () => ({ concurrency: 2 }),
    config: { timeouts: { holdMs: 100, heartbeatMs: 100 } },
  });
  const stays = new AbortController();
  const leaves = new AbortController();
  const open = (controller: AbortController) =>
    ask(running, { body: { stream: true }, signal: controller.signal }).catch((cause: Error) => cause.name);
  const waiting = [open(stays), open(leaves)];
  await until(
    () => place.requests.length === 2,
    2_000,
    () => "the calls did not arrive",
  );
  // Their heads go out while their upstream is still waited for.
  await Bun.sleep(800);
  leaves.abort();
  await waiting[1];
  await until(
    () => running.log.some((line) => line.includes('"outcome":"cancelled"')),
    2_000,
    () => "the call was not cancelled",
  );
  waiting.push(open(stays));
  await until(
    () => place.requests.length === 3,
    2_000,
    () => "no room was made",
  );
  expect((await ask(running)).status).toBe(503);
  stays.abort();
  await Promise.all(waiting);
});

test("the client's own deadline ends the call, whatever is being tried", async () => {
  const running = await gateway([upstream(silence), upstream(silence)], {
    ...preferred,
    config: { timeouts: { firstByteMs: 700 } },
  });
  const begun = performance.now();
  const { status, text, headers } = await ask(running, { headers: { "x-request-timeout": "1.2" } });
  expect(performance.now() - begun).toBeLessThan(3_000);
  expect([status, text]).toEqual([504, expect.stringContaining("1.2 s")]);
  expect(headers.get("x-weir-tried")).toMatch(/^openai\/d0:timeout:\d+ms/);
});

test("no wait goes beyond what the SDK says of its patience", async () => {
  const only = upstream(() => failing(429, { "retry-after": "20" }));
  const running = await gateway([only]);
  const { status, headers } = await ask(running, { headers: { "x-stainless-timeout": "5" } });
  expect([status, headers.get("retry-after"), only.requests.length]).toEqual([429, "20", 1]);
});

test("a first byte that does not come is waited for elsewhere, and the first place is let go", async () => {
  const upstreams = [upstream(silence), upstream(answering)];
  const running = await gateway(upstreams, {
    place: (priority) => ({ priority, timeouts: { firstByteMs: 400 } }),
  });
  const { status, headers } = await ask(running);
  expect([status, headers.get("x-weir-deployment")]).toEqual([200, "openai/d1"]);
  await upstreams[0]!.quiet();
});

test("a silence in mid-answer is as long as the provider's own limit lets it be", async () => {
  const piece = chunk({ content: "x" });
  const running = await gateway([upstream(() => stalled([piece]))], {
    place: () => ({ timeouts: { gapMs: 500 } }),
  });
  const begun = performance.now();
  const { status, text } = await ask(running, { body: { stream: true } });
  expect(performance.now() - begun).toBeLessThan(5_000);
  expect([status, text]).toEqual([200, expect.stringContaining('"code":"timeout"')]);
});

test("a hook sees each attempt as if it were the only one", async () => {
  const upstreams = [upstream(() => failing(503)), upstream(answering)];
  const running = await gateway(upstreams, {
    ...preferred,
    plugins: {
      "mark.ts": `import { definePlugin } from "weir";
        export default definePlugin({ name: "mark", hooks: { request(request, call) {
          request.turns.push({ role: "user", blocks: [{ type: "text", text: "at " + call.target.deployment.name }] });
        } } });`,
    },
  });
  expect((await ask(running)).status).toBe(200);
  const last = upstreams.map(({ requests }) => {
    const { messages } = JSON.parse(requests[0]!.body.toString()) as { messages: { content: unknown }[] };
    return JSON.stringify(messages.slice(1));
  });
  expect(last).toEqual([expect.stringContaining("at openai/d0"), expect.stringContaining("at openai/d1")]);
  expect(last[1]).not.toContain("d0");
});
