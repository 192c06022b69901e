/** Clients whose connection breaks and which repeat their request: they get the first answer, and the provider is asked once. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chatHost, type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { type Piece, sse, startUpstream, until, type Upstream } from "../helpers/upstream.ts";

let gateway: RunningGateway;
let upstream: Upstream;
/** Where each stream waits, by the prompt. */
const gates = new Map<string, PromiseWithResolvers<void>>();

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const EVENTS = [
  chunk({ role: "assistant", content: "" }),
  chunk({ content: "one " }),
  chunk({ content: "two " }),
  chunk({ content: "three" }),
  chunk({}, "stop"),
  "data: [DONE]\n\n",
];

function gateOf(prompt: string): PromiseWithResolvers<void> {
  let gate = gates.get(prompt);
  if (!gate) gates.set(prompt, (gate = Promise.withResolvers()));
  return gate;
}

/** Sends as many events as the prompt says, and the others when the gate opens. */
async function* gated(prompt: string): AsyncGenerator<Piece> {
  const at = Number(/at (\d+)/.exec(prompt)?.[1]);
  yield* EVENTS.slice(0, at);
  await gateOf(prompt).promise;
  yield* EVENTS.slice(at);
}

beforeAll(async () => {
  upstream = startUpstream(({ body }) => sse(gated(promptOf(body))));
  gateway = await startGateway({ config: { ...chatHost(upstream.url), paidOnce: { enabled: true } } });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

function promptOf(body: Uint8Array): string {
  return (JSON.parse(Buffer.from(body).toString()) as { messages: { content: string }[] }).messages[0]!
    .content;
}

const count = (prompt: string) => upstream.requests.filter(({ body }) => promptOf(body) === prompt).length;

function ask(prompt: string, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    ...(signal && { signal }),
    body: JSON.stringify({
      model: "host/some-model",
      stream: true,
      messages: [{ role: "user", content: prompt }],
    }),
  });
}

/** Reads so many events, and breaks the connection. */
async function cut(prompt: string, events: number, headers: Record<string, string> = {}): Promise<Response> {
  const controller = new AbortController();
  const response = await ask(prompt, headers, controller.signal);
  let text = "";
  for await (const piece of response.body!) {
    text += Buffer.from(piece).toString();
    if (text === EVENTS.slice(0, events).join("")) break;
  }
  controller.abort();
  return response;
}

test("a stream that was cut behind any event is repeated with its idempotency key from its beginning", async () => {
  for (let events = 1; events < EVENTS.length; events++) {
    const prompt = `named, at ${events}`;
    const first = await cut(prompt, events, { "idempotency-key": prompt });
    const repeat = ask(prompt, { "idempotency-key": prompt });
    const response = await repeat;
    gateOf(prompt).resolve();
    expect(await response.text()).toBe(EVENTS.join(""));
    expect(response.headers.get("x-weir-paid-once")).toBe("running");
    expect(response.headers.get("x-weir-first-request-id")).toBe(first.headers.get("x-request-id"));
    expect(count(prompt)).toBe(1);
  }
});

test("a stream that was cut behind any event is repeated with the SDK's retry header", async () => {
  for (let events = 1; events < EVENTS.length; events++) {
    const prompt = `counted, at ${events}`;
    await cut(prompt, events);
    const response = await ask(prompt, { "x-stainless-retry-count": "1" });
    gateOf(prompt).resolve();
    expect(await response.text()).toBe(EVENTS.join(""));
    expect(count(prompt)).toBe(1);
  }
});

test("an answer that ended after its client left is read to its end", async () => {
  const prompt = "late, at 2";
  const first = await cut(prompt, 2);
  gateOf(prompt).resolve();
  const id = first.headers.get("x-request-id")!;
  await until(
    () => gateway.log.some((line) => line.includes(id)),
    5000,
    () => "the call has not ended",
  );
  expect(gateway.log.find((line) => line.includes(id))).toContain('"outcome":"complete"');
  const response = await ask(prompt, { "x-stainless-retry-count": "1" });
  expect(response.headers.get("x-weir-paid-once")).toBe("finished");
  expect(await response.text()).toBe(EVENTS.join(""));
  expect(count(prompt)).toBe(1);
});
