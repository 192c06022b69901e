/** Traces of calls over real sockets: what a collector gets, and what a provider does not. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import {
  chatHost,
  type RunningGateway,
  startGateway,
  UPSTREAM_KEYS,
  upstreamConfig,
} from "../../../../test/helpers/gateway.ts";
import type { ReadSpan } from "../../../../test/helpers/otlp.ts";
import { startReceiver } from "../../../../test/helpers/telemetry.ts";
import { json, startUpstream, type Upstream } from "../../../../test/helpers/upstream.ts";
import { completion, USAGE } from "../../../../test/books/stress.ts";

setDefaultTimeout(60_000);

const CANARY = "canary-9d1f";
const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

function collector(status?: () => number) {
  const receiver = startReceiver(status);
  cleanups.push(() => receiver.stop());
  return receiver;
}

function upstream(handler: Parameters<typeof startUpstream>[0]): Upstream {
  const started = startUpstream(handler);
  cleanups.push(() => started.stop());
  return started;
}

/** The log of the gateway is part of what must not contain a prompt. */
async function gateway(config: Record<string, unknown>): Promise<RunningGateway> {
  const started = await startGateway({ config: { state: "none", workers: 1, ...config } });
  cleanups.push(() => started.stop());
  await started.opened();
  return started;
}

function chat({ url }: RunningGateway, model: string, headers: Record<string, string> = {}) {
  return fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ model, messages: [{ role: "user", content: `Hello ${CANARY}` }] }),
  });
}

function message({ url }: RunningGateway, model: string, headers: Record<string, string> = {}) {
  return fetch(`${url}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ model, max_tokens: 77, messages: [{ role: "user", content: `Hello ${CANARY}` }] }),
  });
}

const PARENT = { traceparent: `00-${TRACE}-${SPAN}-01`, tracestate: "vendor=1", baggage: "user=7" };
const byStart = (spans: ReadSpan[]) => spans.toSorted((a, b) => Number(a.start - b.start));

test("a call and its attempts are one trace below the client's span, and the trace headers never reach a provider", async () => {
  const failing = upstream(() => json({ error: { message: "busy" } }, 503));
  const answering = upstream(() => json(completion()));
  const { url, ...receiver } = collector();
  const running = await gateway({
    traces: { to: url, headers: { "x-token": "abc" }, service: "gateway-1" },
    providers: { ...upstreamConfig({ openai: failing.url }).providers, ...chatHost(answering.url).providers },
    fallbacks: { "openai/*": ["host/some-model"] },
    retries: { attempts: 3 },
  });
  // Both lanes: the host speaks chat-completions, the second client does not.
  expect((await chat(running, "openai/gpt-5.4", PARENT)).status).toBe(200);
  expect((await message(running, "host/some-model", PARENT)).status).toBe(200);
  await running.stop();

  const spans = byStart(receiver.spans());
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
  const own = spans.filter(({ kind }) => kind === 2);
  expect(own.map(({ name }) => name)).toEqual(["POST /v1/chat/completions", "POST /v1/messages"]);
  expect(own.map(({ parentSpanId, traceState }) => [parentSpanId, traceState])).toEqual([
    [SPAN, "vendor=1"],
    [SPAN, "vendor=1"],
  ]);
  const made = (span: ReadSpan) => spans.filter(({ parentSpanId }) => parentSpanId === span.spanId);
  const first = made(own[0]!);
  expect(first.length).toBeGreaterThanOrEqual(2);
  expect(first[0]).toMatchObject({ status: { code: 2 }, attributes: { "http.response.status_code": 503 } });
  expect(first.at(-1)!.attributes).toMatchObject({
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "some-model",
    "gen_ai.usage.input_tokens": USAGE.prompt_tokens,
    "server.address": "127.0.0.1",
    "server.port": answering.port,
    "http.response.status_code": 200,
    "weir.class": "answered",
  });
  expect(first.reduce((sum, { start, end }) => sum + end - start, 0n)).toBeLessThanOrEqual(
    own[0]!.end - own[0]!.start,
  );
  expect(made(own[1]!)[0]!.attributes).toMatchObject({
    "gen_ai.request.max_tokens": 77,
    "weir.lane": "translated",
  });

  for (const request of [...failing.requests, ...answering.requests]) {
    const names = [...request.headers.keys()];
    for (const name of ["traceparent", "tracestate", "baggage"]) expect(names).not.toContain(name);
  }
  const [request] = receiver.received;
  expect(request!.path).toBe("/v1/traces");
  expect(request!.headers).toMatchObject({ "x-token": "abc", "content-type": "application/json" });
  // Neither prompts nor credentials leave in a trace or a log line.
  const sent = receiver.received.map(({ body }) => body).join() + running.log.join();
  for (const secret of [CANARY, UPSTREAM_KEYS.openai]) expect(sent).not.toContain(secret);
});

test("an invalid traceparent begins a new trace, and the call succeeds", async () => {
  const receiver = collector();
  const running = await gateway({ traces: { to: `${receiver.url}/v1/traces` } });
  for (const traceparent of ["nonsense", `00-${"0".repeat(32)}-${SPAN}-01`])
    expect((await chat(running, "mock/chat", { traceparent })).status).toBe(200);
  expect((await chat(running, "mock/chat")).status).toBe(200);
  await running.stop();
  const spans = receiver.spans();
  expect(spans).toHaveLength(6);
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(3);
});

test("a client that does not record its trace, and a share of zero, leave no span", async () => {
  const receiver = collector();
  const running = await gateway({ traces: { to: receiver.url, share: 0 } });
  await chat(running, "mock/chat", { traceparent: `00-${TRACE}-${SPAN}-00` });
  await chat(running, "mock/chat");
  await chat(running, "mock/chat", { traceparent: `00-${TRACE}-${SPAN}-01` });
  await running.stop();
  expect(receiver.spans().map(({ traceId }) => traceId)).toEqual([TRACE, TRACE]);
});

test("embeddings are an operation of their own", async () => {
  const receiver = collector();
  const running = await gateway({ traces: { to: receiver.url } });
  const response = await fetch(`${running.url}/v1/embeddings`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "mock/embed", input: `text ${CANARY}` }),
  });
  expect(response.status).toBe(200);
  await response.text();
  await running.stop();
  const spans = receiver.spans();
  expect(spans.map(({ name }) => name)).toContain("POST /v1/embeddings");
  const made = spans.find(({ kind }) => kind === 3);
  expect(made!.attributes["gen_ai.operation.name"]).toBe("embeddings");
});

test("a collector that is away or hangs delays no call, and weir ends in time", async () => {
  const hanging = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  cleanups.push(() => hanging.stop(true));
  for (const to of ["http://127.0.0.1:1", `http://127.0.0.1:${hanging.port}`]) {
    const running = await gateway({ traces: { to } });
    const began = performance.now();
    const responses = await Promise.all(Array.from({ length: 300 }, () => chat(running, "mock/chat")));
    expect(responses.every(({ status }) => status === 200)).toBe(true);
    expect(performance.now() - began).toBeLessThan(20_000);
    const stopping = performance.now();
    await running.stop();
    expect(performance.now() - stopping).toBeLessThan(15_000);
  }
});

test("without traces a record has nothing of them, and nothing is sent", async () => {
  const receiver = collector();
  const running = await gateway({});
  await chat(running, "mock/chat", PARENT);
  await running.stop();
  expect(receiver.received).toEqual([]);
});
