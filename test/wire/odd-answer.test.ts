/** Upstreams that answer in odd ways: unusual framings and line ends that are fine, and bodies that are not whole. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { type RunningGateway, startGateway, upstreamConfig } from "../helpers/gateway.ts";
import { openaiClient, seeError } from "../helpers/sdk.ts";
import {
  type Answer,
  json,
  type Piece,
  type RawAnswer,
  sse,
  stalled,
  startUpstream,
  type Upstream,
} from "../helpers/upstream.ts";
import { readStreamed } from "../helpers/streamed.ts";

let gateway: RunningGateway;
let upstream: Upstream;

beforeAll(async () => {
  upstream = startUpstream(json({}));
  gateway = await startGateway({ config: upstreamConfig({ openai: upstream.url, anthropic: upstream.url }) });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const chunk = (delta: object, finish: string | null = null, index = 0) =>
  `data: ${JSON.stringify({ id: "c1", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index, delta, finish_reason: finish }] })}\n\n`;

const HELLO = chunk({ role: "assistant", content: "hello" });
const STOP = chunk({}, "stop");
const DONE = "data: [DONE]\n\n";
const STREAM = HELLO + STOP + DONE;

const COMPLETION = {
  id: "c1",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [
    { index: 0, message: { role: "assistant", content: "hello", refusal: null }, finish_reason: "stop" },
  ],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

interface Got {
  status: number;
  headers: Headers;
  bytes: Buffer;
  text: string;
}

async function ask(stream: boolean, more: object = {}): Promise<Got> {
  const body = { model: "openai/m", stream, messages: [{ role: "user", content: "go" }], ...more };
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const { bytes, text } = await readStreamed(response, true);
  return { status: response.status, headers: response.headers, bytes, text };
}

const SSE = { "content-type": "text/event-stream" };

/** Answers that are whole, however oddly they are framed; each reaches the client byte for byte. */
const WHOLE: readonly { why: string; answer: Answer | RawAnswer; bytes?: string }[] = [
  { why: "CRLF line ends", answer: sse([crlf(STREAM)]), bytes: crlf(STREAM) },
  { why: "CR line ends", answer: sse([STREAM.replaceAll("\n", "\r")]), bytes: STREAM.replaceAll("\n", "\r") },
  { why: "a byte order mark", answer: sse([`\ufeff${STREAM}`]), bytes: `\ufeff${STREAM}` },
  {
    why: "comments before, between and behind",
    answer: sse([": PROCESSING\n\n", ": PROCESSING\n\n", HELLO, ": x\n", STOP, DONE]),
    bytes: `: PROCESSING\n\n: PROCESSING\n\n${HELLO}: x\n${STOP}${DONE}`,
  },
  {
    why: "no blank line behind [DONE]",
    answer: sse([HELLO, STOP, "data: [DONE]"]),
    bytes: `${HELLO}${STOP}data: [DONE]`,
  },
  { why: "a body that ends with the connection", answer: { headers: SSE, body: [STREAM], framing: "close" } },
  { why: "a body with its length", answer: { headers: SSE, body: STREAM } },
  { why: "a reset behind the terminator", answer: { ...sse([STREAM, { wait: 5 }]), ending: "rst" } },
  { why: "an upstream that stays open behind the terminator", answer: stalled([STREAM]) },
  {
    why: "a zipped stream",
    answer: { headers: { ...SSE, "content-encoding": "gzip" }, body: gzipSync(STREAM) },
  },
  {
    why: "early hints before the head",
    answer: {
      raw: [
        "HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n",
        `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: ${STREAM.length}\r\n\r\n${STREAM}`,
      ],
      ending: "whole",
    },
  },
  { why: "an event of a megabyte", answer: sse(large(1 << 20)), bytes: large(1 << 20).join("") },
  { why: "an event too long to be held", answer: sse(large(9 << 20)), bytes: large(9 << 20).join("") },
];

function crlf(text: string): string {
  return text.replaceAll("\n", "\r\n");
}

/** A stream with one long event, whose end arrives together with all that follows it. */
function large(size: number): string[] {
  const event = chunk({ content: "x".repeat(size) });
  const last = event.length - 50;
  const pieces = [HELLO];
  for (let at = 0; at < last; at += 60_000) pieces.push(event.slice(at, Math.min(at + 60_000, last)));
  return [...pieces, event.slice(last) + STOP + DONE];
}

describe("whole in an unusual way", () => {
  for (const { why, answer, bytes = STREAM } of WHOLE) {
    test(why, async () => {
      upstream.answer(() => answer);
      const { status, headers, bytes: got } = await ask(true);
      expect(status).toBe(200);
      expect(got.equals(Buffer.from(bytes))).toBe(true);
      expect(headers.get("content-type")).toStartWith("text/event-stream");
      expect(headers.get("content-encoding")).toBeNull();
    });
  }

  test("a zipped JSON answer", async () => {
    const body = gzipSync(JSON.stringify(COMPLETION));
    upstream.answer(() => ({
      headers: { "content-type": "application/json", "content-encoding": "gzip" },
      body,
    }));
    const { status, text, headers } = await ask(false);
    expect([status, text]).toEqual([200, JSON.stringify(COMPLETION)]);
    expect(headers.get("content-encoding")).toBeNull();
  });
});

/** Streams that look as if they had ended and have not. */
const NOT_WHOLE: readonly { why: string; pieces: Piece[]; framing?: Answer["framing"]; n?: number }[] = [
  { why: "the connection ends in good order, without a finish reason", pieces: [HELLO], framing: "close" },
  { why: "the chunks end in good order, without a finish reason", pieces: [HELLO] },
  { why: "one of two choices never finishes", pieces: [HELLO, chunk({ content: "b" }, null, 1), STOP], n: 2 },
  { why: "a terminator that is cut short", pieces: [HELLO, "data: [DO"] },
  { why: "a finish reason in half an event", pieces: [HELLO, STOP.slice(0, -20)] },
  { why: "nothing but comments", pieces: [": PROCESSING\n\n"] },
  { why: "nothing but the terminator", pieces: [DONE] },
];

describe("not whole", () => {
  for (const { why, pieces, framing, n } of NOT_WHOLE) {
    test(why, async () => {
      upstream.answer(() => ({ ...sse(pieces), framing: framing ?? "chunked" }));
      const { status, text } = await ask(true, n ? { n } : {});
      expect(text).not.toContain("[DONE]");
      expect(text.match(/^(data: )?\{"error":\{/gm)?.length).toBe(1);
      expect(status === 502 || (status === 200 && text.includes('"code":"stream_incomplete"'))).toBe(true);
      const error = await seeError(async () => {
        const stream = await openaiClient(gateway.url).chat.completions.create({
          model: "openai/m",
          messages: [{ role: "user", content: "go" }],
          stream: true,
        });
        for await (const item of stream) void item;
      });
      expect(error.class).toMatch(/^(APIError|InternalServerError)$/);
    });
  }

  const whole = JSON.stringify(COMPLETION);
  const brokenJson: readonly { why: string; answer: Answer }[] = [
    {
      why: "a JSON answer shorter than its length, by fin",
      answer: { ...json(COMPLETION), length: whole.length + 10, ending: "fin" },
    },
    {
      why: "a JSON answer that is reset half-way",
      answer: { ...json({}), body: [whole.slice(0, 80), { wait: 5 }], ending: "rst" },
    },
    { why: "half a JSON answer in whole chunks", answer: { ...json({}), body: [whole.slice(0, 80)] } },
    { why: "a JSON answer that is a list", answer: json([COMPLETION]) },
    { why: "a JSON answer that is a string", answer: json("hello") },
    { why: "no content", answer: { status: 204, headers: {}, body: [], framing: "close" } },
    {
      why: "ten megabytes of HTML as an error",
      answer: {
        status: 500,
        headers: { "content-type": "text/html" },
        body: [..."0123456789"].map((digit) => digit.repeat(1 << 20)),
      },
    },
  ];
  for (const { why, answer } of brokenJson) {
    test(why, async () => {
      upstream.answer(() => answer);
      for (const stream of [false, true]) {
        const { status, text } = await ask(stream);
        expect([status, text]).toEqual([502, expect.stringContaining('{"error":{')]);
        expect(text.length).toBeLessThan(3_000);
        expect(text).not.toContain("hello");
      }
    });
  }
});

test("behind the terminator the connection serves the next call", async () => {
  // An origin of its own: what connections rest between two calls depends on how slowly their origin has answered.
  const origin = startUpstream(() => sse([STREAM, { wait: 5 }]));
  const urls = { openai: origin.url, anthropic: origin.url };
  const own = await startGateway({ config: upstreamConfig(urls) });
  /** At least the average response time, which weights the newest answer by an eighth. */
  let mean: number | undefined;
  for (const path of ["/v1/chat/completions", "/v1/messages"]) {
    const before = origin.requests.length;
    for (let calls = 0; calls < 6; calls++) {
      const began = performance.now();
      const response = await fetch(own.url + path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          model: "openai/m",
          stream: true,
          max_tokens: 9,
          messages: [{ role: "user", content: "go" }],
        }),
      });
      const waited = performance.now() - began;
      mean = mean === undefined ? waited : mean + (waited - mean) / 8;
      expect(await response.text()).toContain("hello");
      await origin.quiet();
      // They rest for three times the average response time.
      await Bun.sleep(10 + 3 * mean);
    }
    const used = new Set(origin.requests.slice(before).map((request) => request.connection));
    expect(used.size).toBeLessThanOrEqual(2);
  }
  await own.stop();
  origin.stop();
});
