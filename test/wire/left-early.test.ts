/** Clients that leave in the middle of an answer: what has come is charged, once, in every lane. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { CHARGE_STATES } from "../../src/ledger/charge.ts";
import { DOLLAR } from "../../src/ledger/money.ts";
import { budgetAccount } from "../../src/ledger/record.ts";
import { type BookedGateway, startBooked } from "../helpers/books.ts";
import { budget } from "../helpers/ledger.ts";
import { stalled, startUpstream, type Upstream, until } from "../helpers/upstream.ts";

setDefaultTimeout(60_000);

/** Fourteen bytes, which count as four tokens. */
const PIECE = "abcdef ghijkl ";
const PIECE_TOKENS = 4;
const INPUT = 1000;
const POINTS = [1, 2, 3, 5, 8, 13, 21, 34];

let gateway: BookedGateway;
let upstream: Upstream;

beforeAll(async () => {
  upstream = startUpstream(({ path, body }) => {
    const pieces = Number(/leave at (\d+)/.exec(body.toString())?.[1] ?? 0);
    return stalled(path.endsWith("/messages") ? messagesStream(pieces) : chatStream(pieces));
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

function* chatStream(pieces: number) {
  for (let at = 0; at < pieces; at++)
    yield `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: { content: PIECE }, finish_reason: null }] })}\n\n`;
}

function* messagesStream(pieces: number) {
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
    yield event("content_block_delta", { index: 0, delta: { type: "text_delta", text: PIECE } });
}

/** Reads until so many pieces have come, and leaves. */
async function leave(path: string, model: string, pieces: number): Promise<void> {
  const controller = new AbortController();
  const response = await fetch(`${gateway.url}${path}`, {
    method: "POST",
    signal: controller.signal,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      model,
      stream: true,
      max_tokens: 1000,
      messages: [{ role: "user", content: `leave at ${pieces}` }],
    }),
  });
  let text = "";
  for await (const piece of response.body!) {
    text += Buffer.from(piece).toString();
    if (text.split(PIECE).length > pieces) break;
  }
  controller.abort();
}

test("a client that leaves at any event of a stream is charged for what had come, in all four lanes", async () => {
  const lanes = [
    ["/v1/chat/completions", "chatty/m"],
    ["/v1/messages", "chatty/m"],
    ["/v1/chat/completions", "messy/m"],
    ["/v1/messages", "messy/m"],
  ] as const;
  for (const [path, model] of lanes) for (const pieces of POINTS) await leave(path, model, pieces);
  await upstream.quiet();
  const calls = lanes.length * POINTS.length;
  await until(
    () => gateway.log.filter((line) => line.includes('"cancelled"')).length === calls,
    5000,
    () => "lines are missing",
  );
  const booked = await gateway.finish();
  expect(booked.calls.length).toBe(calls);
  expect(booked.calls.map(({ state }) => CHARGE_STATES[state])).toEqual(booked.calls.map(() => "estimated"));
  const total = booked.calls.reduce((sum, { cost }) => sum + cost, 0);
  expect(booked.spent.get(budgetAccount("all", 0))).toBe(total);
  booked.calls.forEach(({ cost }, at) => {
    const isMetered = lanes[Math.floor(at / POINTS.length)]![1] === "messy/m";
    const output = POINTS[at % POINTS.length]! * PIECE_TOKENS * 2000;
    // Providers of chat-completions count the input at the end only.
    const input = isMetered ? INPUT * 1000 : cost - output;
    expect(input).toBeLessThanOrEqual(INPUT * 1000);
    expect(input).toBeGreaterThan(0);
    expect(cost - input).toBeGreaterThanOrEqual(output * 0.95);
    expect(cost - input).toBeLessThanOrEqual(output * 1.1);
  });
});
