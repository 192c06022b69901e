/** Streams of responses that fail: every way of reading them raises the sentence of the error, and Codex gets its last event. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { chatChunk } from "../helpers/event-streams.ts";
import { responsesError, responsesStream } from "../helpers/responses-events.ts";
import { openaiClient } from "../helpers/sdk.ts";
import { readStreamed } from "../helpers/streamed.ts";
import { type Answer, cut, json, sse, startUpstream, type Upstream } from "../helpers/upstream.ts";
import { parseFrames } from "../../src/stream/sse.ts";

setDefaultTimeout(60_000);

let gateway: RunningGateway;
let upstream: Upstream;

beforeAll(async () => {
  upstream = startUpstream(json({}));
  const host = (speaks: string) => ({ speaks, baseUrl: `${upstream.url}/v1`, models: ["m"] });
  gateway = await startGateway({
    config: {
      providers: { native: host("responses"), chat: host("chat-completions") },
      retries: { attempts: 1 },
      paidOnce: { enabled: true },
      timeouts: { holdMs: 100, heartbeatMs: 100 },
    },
  });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const SENTENCE = "The model is out of order.";
const WHOLE = responsesStream({ items: [{ type: "message", text: "Half an answer." }] });
const BEGUN = WHOLE.slice(0, 5);
const FAILED = responsesStream({
  items: [{ type: "message", text: "Half an answer." }],
  status: "failed",
  error: { code: "server_error", message: SENTENCE },
});
const CHAT = [chatChunk({ role: "assistant", content: "Half " }), chatChunk({ content: "an answer." })];
const CHAT_ERROR = `data: {"error":{"message":"${SENTENCE}","type":"server_error","code":null}}\n\n`;

interface Failure {
  why: string;
  model: string;
  answer(): Answer | Promise<Answer>;
  sentence: RegExp;
}

const FAILURES: readonly Failure[] = [
  { why: "breaks off", model: "native/m", answer: () => cut(BEGUN, "fin"), sentence: /ended|broke/ },
  { why: "ends too early", model: "native/m", answer: () => sse(BEGUN), sentence: /ended before/ },
  { why: "reports failure", model: "native/m", answer: () => sse(FAILED), sentence: /out of order/ },
  ...(["flat", "nested"] as const).map((shape) => ({
    ...{ why: `sends a ${shape} error`, model: "native/m", sentence: /out of order/ },
    answer: () => sse([...BEGUN, responsesError(shape, "server_error", SENTENCE)]),
  })),
  { why: "breaks off", model: "chat/m", answer: () => cut(CHAT, "fin"), sentence: /ended|broke/ },
  {
    why: "sends an error",
    model: "chat/m",
    answer: () => sse([...CHAT, CHAT_ERROR]),
    sentence: /out of order/,
  },
  {
    ...{ why: "refuses late", model: "chat/m", sentence: /out of order/ },
    async answer() {
      await Bun.sleep(700);
      return json({ error: { message: SENTENCE, type: "server_error" } }, 400);
    },
  },
];

describe.each([...FAILURES])("$model $why", ({ model, answer, sentence }) => {
  const ask = { model, input: "hi" };
  const client = () => openaiClient(gateway.url, { maxRetries: 0 });

  test("a raw stream of openai raises the sentence", async () => {
    upstream.answer(answer);
    const read = async () => {
      for await (const _ of await client().responses.create({ ...ask, stream: true })) void _;
      return "The stream looks whole.";
    };
    expect(await read().catch(String)).toMatch(sentence);
  });

  test("so does its helper", async () => {
    upstream.answer(answer);
    expect(await client().responses.stream(ask).finalResponse().catch(String)).toMatch(sentence);
  });

  test("it has one response.failed, and ends with error and regularly, also for a repeat", async () => {
    upstream.answer(answer);
    const key = crypto.randomUUID();
    const read = async () => {
      const response = await fetch(`${gateway.url}/v1/responses`, {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": key },
        body: JSON.stringify({ ...ask, stream: true }),
      });
      return readStreamed(response);
    };
    for (const { bytes, ending } of await Promise.all([read(), read()])) {
      const events = parseFrames(bytes).map(({ data }) => JSON.parse(data) as Record<string, unknown>);
      const types = events.map(({ type }) => type);
      expect(ending).toBe("clean");
      expect(types.filter((type) => type === "response.failed")).toHaveLength(1);
      expect(types.at(-1)).toBe("error");
      const { response } = events.find(({ type }) => type === "response.failed") as { response: object };
      const [{ response: first }] = events as [
        { response: { id: string; model: string; created_at: number } },
      ];
      expect(response).toMatchObject({ id: first.id, model: first.model, created_at: first.created_at });
    }
  });
});
