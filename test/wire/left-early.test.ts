/** Clients that leave in the middle of an answer: what has come is charged, once, in every lane. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { CHARGE_STATES } from "../../src/ledger/charge.ts";
import { DOLLAR } from "../../src/ledger/money.ts";
import { budgetAccount } from "../../src/ledger/record.ts";
import { type BookedGateway, startBooked } from "../helpers/books.ts";
import { budget } from "../helpers/ledger.ts";
import { stalled, startUpstream, type Upstream, until } from "../helpers/upstream.ts";

setDefaultTimeout(60_000);

const BYTES_PER_TOKEN = 3.5;
const PIECE = "abcdef ghijkl ";
/** Four characters of three bytes. */
const CHINESE = "你好世界";
const INPUT = 1000;
/** What the provider may have produced before it was stopped: at most a second and a quarter, at 200 tokens a second. Nano-dollars. */
const GAP = 250 * 2000;
const POINTS = [1, 2, 3, 5, 8, 13, 21, 34];

let gateway: BookedGateway;
let upstream: Upstream;

beforeAll(async () => {
  upstream = startUpstream(({ path, body }) => {
    const pieces = Number(/leave at (\d+)/.exec(body.toString())?.[1] ?? 0);
    const piece = body.toString().includes("Chinese") ? CHINESE : PIECE;
    return stalled(path.endsWith("/messages") ? messagesStream(pieces, piece) : chatStream(pieces, piece));
  });
  const prices = { input: 1, output: 2 };
  gateway = await startBooked(
    {
      providers: {
        chatty: { baseUrl: `${upstream.url}/v1`, speaks: "chat-completions", models: ["chatty/*"] },
        messy: { baseUrl: upstream.url, speaks: "messages", models: ["messy/*"] },
      },
      prices: { "chatty/*": prices, "messy/*": prices },
    },
    [budget("all", DOLLAR)],
  );
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

function* chatStream(pieces: number, piece: string) {
  for (let at = 0; at < pieces; at++)
    yield `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: { content: piece }, finish_reason: null }] })}\n\n`;
}

function* messagesStream(pieces: number, piece: string) {
  const event = (type: string, more: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
  const usage = { input_tokens: INPUT, output_tokens: 1 };
  yield event("message_start", {
    message: {
      id: "m",
      type: "message",
      role: "assistant",
      model: "m",
      content: [],
      stop_reason: null,
      usage,
    },
  });
  yield event("content_block_start", { index: 0, content_block: { type: "text", text: "" } });
  for (let at = 0; at < pieces; at++)
    yield event("content_block_delta", { index: 0, delta: { type: "text_delta", text: piece } });
}

/** Reads until so many pieces have come, and leaves. */
async function leave(path: string, model: string, pieces: number, piece = PIECE): Promise<void> {
  const controller = new AbortController();
  const response = await fetch(`${gateway.url}${path}`, {
    method: "POST",
    signal: controller.signal,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      model,
      stream: true,
      max_tokens: 1000,
      messages: [{ role: "user", content: `leave at ${pieces}${piece === CHINESE ? " in Chinese" : ""}` }],
    }),
  });
  let text = "";
  const decoder = new TextDecoder();
  for await (const bytes of response.body!) {
    text += decoder.decode(bytes, { stream: true });
    if (text.split(piece).length > pieces) break;
  }
  controller.abort();
}

const LANES = [
  ["/v1/chat/completions", "chatty/m"],
  ["/v1/messages", "chatty/m"],
  ["/v1/chat/completions", "messy/m"],
  ["/v1/messages", "messy/m"],
] as const;

test("a client that leaves at any event of a stream is charged for what had come, in all four lanes and scripts", async () => {
  const lefts = LANES.flatMap(([path, model]) => [
    ...POINTS.map((pieces) => ({ path, model, pieces, piece: PIECE })),
    { path, model, pieces: 40, piece: CHINESE },
  ]);
  for (const { path, model, pieces, piece } of lefts) await leave(path, model, pieces, piece);
  await upstream.quiet();
  await until(
    () => gateway.log.filter((line) => line.includes('"cancelled"')).length === lefts.length,
    5000,
    () => "lines are missing",
  );
  const booked = await gateway.finish();
  expect(booked.calls.length).toBe(lefts.length);
  expect(booked.calls.map(({ state }) => CHARGE_STATES[state])).toEqual(booked.calls.map(() => "estimated"));
  const total = booked.calls.reduce((sum, { cost }) => sum + cost, 0);
  expect(booked.spent.get(budgetAccount("all", 0))).toBe(total);
  booked.calls.forEach(({ cost }, at) => {
    const { model, pieces, piece } = lefts[at]!;
    const output = Math.round((pieces * Buffer.byteLength(piece)) / BYTES_PER_TOKEN) * 2000;
    // Providers of chat-completions count the input at the end only.
    const input = model === "messy/m" ? INPUT * 1000 : cost - output;
    expect(input).toBeLessThanOrEqual(INPUT * 1000);
    expect(input).toBeGreaterThan(0);
    expect(cost - input).toBeGreaterThanOrEqual(output * 0.95);
    expect(cost - input).toBeLessThanOrEqual(output * 1.1 + GAP);
  });
});
