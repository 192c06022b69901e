/** Streams to clients of Ollama's API that fail, stall or are left: nothing that failed looks finished to Ollama's own SDK. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type ChatResponse, Ollama } from "ollama";
import { chatChunk } from "../helpers/event-streams.ts";
import { type RunningGateway, startGateway, upstreamConfig } from "../helpers/gateway.ts";
import { readStreamed } from "../helpers/streamed.ts";
import { json, sse, startUpstream, type Upstream } from "../helpers/upstream.ts";

let gateway: RunningGateway;
let upstream: Upstream;
let ollama: Ollama;

beforeAll(async () => {
  upstream = startUpstream(json({}));
  const { providers } = upstreamConfig({ openai: upstream.url });
  gateway = await startGateway({
    config: {
      providers: { openai: { ...(providers["openai"] as object), speaks: "chat-completions" } },
      timeouts: { heartbeatMs: 50 },
      retries: { attempts: 1 },
    },
  });
  ollama = new Ollama({ host: gateway.url });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const hello = [{ role: "user", content: "hello" }];

/** Reads a streamed chat as an application does. */
async function read(model: string): Promise<{ records: ChatResponse[]; error?: Error }> {
  const records: ChatResponse[] = [];
  try {
    for await (const record of await ollama.chat({ model, messages: hello, stream: true }))
      records.push(record);
    return { records };
  } catch (thrown) {
    return { records, error: thrown as Error };
  }
}

test("a refusal before the first record has its status and its sentence", async () => {
  for (const status of [400, 401, 403, 404, 413, 429, 500, 503, 529]) {
    const { error } = await read(`mock/error-${status}`);
    expect([status, error?.name]).toEqual([status, "ResponseError"]);
    const { status_code, message } = error as Error & { status_code: number };
    expect(status_code).toBeGreaterThanOrEqual(400);
    expect(message.length).toBeGreaterThan(10);
    expect(message).not.toContain("[object");
  }
});

test.each(["cut-after-3", "overloaded-mid-stream", "garbled-after-3"])(
  "a stream that fails inside raises an error and is never done: %s",
  async (model) => {
    const { records, error } = await read(`mock/${model}`);
    expect(records.length).toBeGreaterThan(0);
    expect(records.some(({ done }) => done)).toBe(false);
    expect(error?.message).toBeTruthy();
    expect(error?.message).not.toContain("Did not receive done");
  },
);

test("behind the line with the error the connection breaks, after white space alone", async () => {
  const response = await fetch(`${gateway.url}/api/chat`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "mock/cut-after-3", messages: hello }),
  });
  const { text, ending } = await readStreamed(response);
  expect(ending).toBe("broken");
  const lines = text.split("\n");
  expect(lines.at(-1)!.trim()).toBe("");
  expect(Object.keys(JSON.parse(lines.at(-2)!) as object)).toEqual(["error"]);
  expect(text).not.toContain('"done":true');
});

test("heartbeats of a silent stream are white space in front of a line", async () => {
  upstream.answer(() =>
    sse([chatChunk({ content: "a" }), { wait: 1_500 }, chatChunk({}, "stop"), "data: [DONE]\n\n"]),
  );
  const response = await fetch(`${gateway.url}/api/chat`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "gpt-4.1", messages: hello }),
  });
  const text = await response.text();
  expect(text).toMatch(/\n {1,}\{/);
  const lines = text.trimEnd().split("\n");
  expect(lines.map((line) => (JSON.parse(line) as ChatResponse).done)).toEqual([false, true]);
  expect((await read("gpt-4.1")).records.at(-1)!.done).toBe(true);
});

test("an abort by the client stops the provider", async () => {
  upstream.answer(() => sse([chatChunk({ content: "a" }), { wait: 60_000 }, chatChunk({}, "stop")]));
  const before = upstream.requests.length;
  const stream = await ollama.chat({ model: "gpt-4.1", messages: hello, stream: true });
  const reading = (async () => {
    for await (const _ of stream) stream.abort();
  })();
  await expect(reading).rejects.toThrow();
  await upstream.arrived(before + 1);
  await upstream.quiet();
});
