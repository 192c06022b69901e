/** Speech by OpenAI's SDK, at a fake of OpenAI and at the mock. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { JsonObject } from "../../src/core/json.ts";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { openaiClient, seeError } from "../helpers/sdk.ts";
import { json, sse, startUpstream, type Upstream } from "../helpers/upstream.ts";

setDefaultTimeout(60_000);

const KEY = "a-key-of-the-gateway-speech-1234567890";
const OTHER = "a-key-of-the-gateway-chats-1234567890";
const POOR = "a-key-of-the-gateway-poor-1234567890";
const AUDIO = Buffer.from(Array.from({ length: 70_000 }, (_, at) => (at * 31 + (at >> 8)) & 255));

let openai: Upstream;
let gateway: RunningGateway;

const audio = (pieces: Iterable<Uint8Array | { wait: number }> = [AUDIO]) => ({
  status: 200,
  headers: { "content-type": "audio/mpeg", "openai-processing-ms": "7" },
  body: pieces as Iterable<Uint8Array>,
});

beforeAll(async () => {
  openai = startUpstream(() => audio());
  gateway = await startGateway({
    config: {
      keys: [
        { name: "speech", key: KEY },
        { name: "chats", key: OTHER, endpoints: ["chat"] },
        { name: "poor", key: POOR },
      ],
      budgets: { poor: { on: { key: "poor" }, every: "total", limit: 0.00001, mode: "hard" } },
      providers: { openai: { apiKey: "k", baseUrl: `${openai.url}/v1` } },
      guards: { mail: { find: ["email"], on: ["input"], do: "block" } },
      retries: { attempts: 1 },
    },
    env: { WEIR_STATE: "state" },
  });
});
afterAll(async () => {
  await gateway.stop();
  openai.stop();
});

const client = (apiKey = KEY) => openaiClient(gateway.url, { apiKey, maxRetries: 0 });
const asked = { model: "tts-1", voice: "alloy", input: "Hello there." } as const;
const sent = () => JSON.parse(Buffer.from(openai.requests.at(-1)!.body).toString()) as JsonObject;

test("audio passes byte for byte, with its content type, and so does the request", async () => {
  const response = await client().audio.speech.create({ ...asked, response_format: "opus", speed: 9 });
  expect(Buffer.from(await response.arrayBuffer()).equals(AUDIO)).toBe(true);
  expect(response.headers.get("content-type")).toBe("audio/mpeg");
  expect(response.headers.get("openai-processing-ms")).toBe("7");
  expect(sent()).toEqual({ ...asked, response_format: "opus", speed: 9 });
  expect(openai.requests.at(-1)!.path).toBe("/v1/audio/speech");
});

test("the first byte does not wait for the last one", async () => {
  openai.answer(() => audio([AUDIO.subarray(0, 1000), { wait: 3000 }, AUDIO.subarray(1000)]));
  const response = await client().audio.speech.create(asked);
  const reader = response.body!.getReader();
  const began = performance.now();
  let got = (await reader.read()).value!.length;
  expect([got, performance.now() - began < 2000]).toEqual([1000, true]);
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    got += value.length;
  }
  expect(got).toBe(AUDIO.length);
});

test("a client that leaves stops the provider", async () => {
  function* endless() {
    for (let at = 0; at < 1000; at++) {
      yield AUDIO.subarray(0, 1000);
      yield { wait: 20 };
    }
  }
  openai.answer(() => audio(endless()));
  const left = new AbortController();
  const response = await client().audio.speech.create(asked, { signal: left.signal });
  await response.body!.getReader().read();
  const request = openai.requests.at(-1)!;
  expect(request.state).toBe("open");
  const at = performance.now();
  left.abort();
  await request.settled;
  expect([request.state, request.settledAt! - at < 1000]).toEqual(["closed", true]);
});

test("events pass as they come; one without its end is cut", async () => {
  const delta = `data: {"type":"speech.audio.delta","audio":"${AUDIO.toString("base64")}"}\n\n`;
  const done =
    'data: {"type":"speech.audio.done","usage":{"input_tokens":4,"output_tokens":50,"total_tokens":54}}\n\n';
  const read = async (pieces: string[]) => {
    openai.answer(() => sse(pieces));
    const response = await client().audio.speech.create({
      ...{ ...asked, model: "gpt-4o-mini-tts", stream_format: "sse" as const },
    });
    let text = "";
    try {
      for await (const piece of response.body!) text += Buffer.from(piece).toString();
    } catch {
      // The connection ends as the answer does: too early.
    }
    return text;
  };
  expect(await read([delta, done])).toBe(delta + done);
  const cut = await read([delta]);
  expect([cut.startsWith(delta), cut.includes('"error"')]).toEqual([true, true]);
});

test("the mock answers with audio of the length of the text, equal for equal texts", async () => {
  const get = async (input: string, format: "wav" | "mp3") => {
    const response = await client().audio.speech.create({
      ...{ model: "mock/speech", voice: "alloy", input, response_format: format },
    });
    return { type: response.headers.get("content-type"), bytes: Buffer.from(await response.arrayBuffer()) };
  };
  const [one, same, other] = [
    await get("a text", "wav"),
    await get("a text", "wav"),
    await get("b text", "wav"),
  ];
  expect([one.type, one.bytes.subarray(0, 4).toString(), one.bytes.length]).toEqual([
    "audio/wav",
    "RIFF",
    44 + Math.round((6 / 15) * 8000) * 2,
  ]);
  expect([one.bytes.equals(same.bytes), one.bytes.equals(other.bytes)]).toEqual([true, false]);
  const mp3 = await get("a text", "mp3");
  expect([mp3.type, mp3.bytes.length % 144, mp3.bytes[0]]).toEqual(["audio/mpeg", 0, 0xff]);
});

test("the mock streams events", async () => {
  const response = await client().audio.speech.create({
    ...{
      model: "mock/speech",
      voice: "alloy",
      input: "some text",
      stream_format: "sse",
      response_format: "wav",
    },
  });
  const events = (await response.text())
    .split("\n\n")
    .filter(Boolean)
    .map((event) => JSON.parse(event.slice(6)) as JsonObject);
  expect(events.map(({ type }) => type)).toEqual(["speech.audio.delta", "speech.audio.done"]);
  expect(
    Buffer.from(events[0]!["audio"] as string, "base64")
      .subarray(0, 4)
      .toString(),
  ).toBe("RIFF");
});

test.each([
  ["an unknown model", KEY, { model: "none/such" }, 404],
  ["a model of another kind", KEY, { model: "gpt-5-mini" }, 404],
  ["a key without the endpoint", OTHER, {}, 403],
  ["an unknown key", "nonsense-key-1234567890", {}, 401],
  ["a budget that is spent", POOR, {}, 429],
  ["a text that a guard blocks", KEY, { input: "mail zoe@example.org" }, 400],
  ["no text", KEY, { input: "" }, 400],
])("%s is an error that the SDK reads", async (_about, key, change, status) => {
  openai.answer(() => audio());
  const before = openai.requests.length;
  const error = await seeError(() => client(key).audio.speech.create({ ...asked, ...change }));
  expect([error.status, error.message.length > 10]).toEqual([status, true]);
  expect(openai.requests.length).toBe(before);
});

test("the wrong kind names the endpoint that fits, and the provider's refusal passes", async () => {
  const wrong = await seeError(() =>
    client().chat.completions.create({ model: "mock/speech", messages: [{ role: "user", content: "hi" }] }),
  );
  expect([wrong.status, wrong.message]).toEqual([404, expect.stringContaining("/v1/audio/speech")]);
  const body = {
    error: { message: "speed is wrong", type: "invalid_request_error", param: "speed", code: null },
  };
  openai.answer(() => ({ ...json(body), status: 400 }));
  const refused = await seeError(() => client().audio.speech.create({ ...asked, speed: 9 }));
  expect([refused.status, refused.message]).toEqual([400, expect.stringContaining("speed is wrong")]);
});

test("faults of the mock are errors, and no audio", async () => {
  for (const [model, status] of [
    ["mock/error-429", 429],
    ["mock/error-500", 502],
    ["mock/throw", 500],
  ] as const) {
    const error = await seeError(() => client().audio.speech.create({ ...asked, model }));
    expect([model, error.status]).toEqual([model, status]);
  }
});
