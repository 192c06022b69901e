/** What speech and transcriptions hold and cost: by the second, by the character and by tokens. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { toFile } from "openai";
import { CHARGE_STATES } from "../../src/ledger/charge.ts";
import { budgetAccount } from "../../src/ledger/record.ts";
import { wavOf } from "../helpers/audio.ts";
import { startBooked } from "../helpers/books.ts";
import { budget } from "../helpers/ledger.ts";
import { collect, openaiClient } from "../helpers/sdk.ts";
import { type Handler, json, sse, startUpstream } from "../helpers/upstream.ts";

setDefaultTimeout(120_000);

const ALL = budgetAccount("all", 0);
const DOLLAR = 1e9;

const running: { stop(): unknown }[] = [];
afterEach(async () => {
  for (const started of running.splice(0)) await started.stop();
});

const PRICES = {
  // $0.006 a minute, $15 and $12 a million.
  "openai/whisper-1": { units: { second: 0.0001 } },
  "openai/tts-1": { units: { character: 0.000015 } },
  "openai/gpt-4o-transcribe": { input: 2.5, audioIn: 6, output: 10 },
  "openai/gpt-4o-mini-tts": { input: 0.6, output: 10, audioOut: 12 },
};

async function start(handler: Handler, dollars = 100, mode: "hard" | "soft" = "hard") {
  const upstream = startUpstream(handler);
  const providers = { openai: { apiKey: "k", baseUrl: `${upstream.url}/v1` } };
  const gateway = await startBooked({ providers, prices: PRICES, retries: { attempts: 1 } }, [
    budget("all", dollars * DOLLAR, { mode }),
  ]);
  running.push(gateway, upstream);
  return { gateway, upstream, client: openaiClient(gateway.url, { maxRetries: 0 }) };
}

/** State and dollars of the calls, once the gateway has ended. */
async function booked(gateway: Awaited<ReturnType<typeof startBooked>>) {
  const { calls, spent } = await gateway.finish();
  expect(calls.reduce((sum, { cost }) => sum + cost, 0)).toBe(spent.get(ALL) ?? 0);
  return calls.map(({ state, cost }): [string, number] => [CHARGE_STATES[state]!, cost]);
}

const file = (seconds: number) => toFile(wavOf(seconds), "a.wav");
const plain = (body: string) => ({ headers: { "content-type": "text/plain" }, body });
const bytes = () => ({ headers: { "content-type": "audio/mpeg" }, body: Buffer.alloc(2000, 1) });
const TOKENS = {
  ...{ type: "tokens", input_tokens: 110, output_tokens: 20, total_tokens: 130 },
  input_token_details: { audio_tokens: 100, text_tokens: 10 },
};

test("seconds of the vendor win over those of the container, which hold for text formats", async () => {
  const { client, gateway, upstream } = await start(() => plain("Hi.\n"));
  const ask = async (more: object) =>
    client.audio.transcriptions.create({ file: await file(6.4), model: "whisper-1", ...more });
  await ask({ response_format: "text" });
  upstream.answer(() => json({ text: "Hi.", usage: { type: "duration", seconds: 6 } }));
  await ask({});
  upstream.answer(() => json({ text: "Hi.", duration: 6.25, language: "english", segments: [] }));
  await ask({ response_format: "verbose_json" });
  expect(await booked(gateway)).toEqual([
    ["estimated", 7 * 100_000],
    ["metered", 6 * 100_000],
    ["metered", 6.25 * 100_000],
  ]);
});

test("tokens of audio and text have their own prices, also in a stream", async () => {
  const { client, gateway, upstream } = await start(() => json({ text: "Hi.", usage: TOKENS }));
  const ask = async (more: object) =>
    client.audio.transcriptions.create({ file: await file(10), model: "gpt-4o-transcribe", ...more });
  await ask({});
  const done = { type: "transcript.text.done", text: "Hi.", usage: TOKENS };
  upstream.answer(() => sse([`data: ${JSON.stringify(done)}\n\n`]));
  await collect((await ask({ stream: true })) as unknown as AsyncIterable<unknown>);
  // 100 tokens of audio, 10 and 20 of text.
  const cost = 100 * 6000 + 10 * 2500 + 20 * 10_000;
  expect(await booked(gateway)).toEqual([
    ["metered", cost],
    ["metered", cost],
  ]);
});

test("a host that counts nothing is charged by what its model is charged by", async () => {
  const { client, gateway } = await start(() => json({ text: "Hi." }));
  for (const model of ["whisper-1", "gpt-4o-transcribe"])
    await client.audio.transcriptions.create({ file: await file(10), model });
  const [seconds, tokens] = await booked(gateway);
  expect(seconds).toEqual(["estimated", 10 * 100_000]);
  // 12 tokens of audio for each second, and 4 of text.
  expect(tokens).toEqual(["estimated", 120 * 6000 + 40 * 10_000]);
});

test("characters of speech are counted, and tokens where the model has a price of these", async () => {
  const { client, gateway, upstream } = await start(bytes);
  const speak = async (model: string, more: object = {}) =>
    (await client.audio.speech.create({ model, voice: "alloy", input: "Grüße, 日本! 🎉", ...more })).text();
  await speak("tts-1");
  await speak("gpt-4o-mini-tts");
  const done =
    'data: {"type":"speech.audio.done","usage":{"input_tokens":14,"output_tokens":101,"total_tokens":115}}\n\n';
  upstream.answer(() => sse([done]));
  await speak("gpt-4o-mini-tts", { stream_format: "sse" });
  const [characters, likely, counted] = await booked(gateway);
  expect(characters).toEqual(["metered", 12 * 15_000]);
  expect(likely![0]).toBe("estimated");
  // 1.4 tokens of audio for a character, and some of text.
  expect(likely![1] - 17 * 12_000).toBeWithin(1, 40 * 600);
  expect(counted).toEqual(["metered", 14 * 600 + 101 * 12_000]);
});

test("200 calls at once never spend more than a hard budget of one minute", async () => {
  const { client, gateway, upstream } = await start(async () => {
    await Bun.sleep(20);
    return json({ text: "Hi.", usage: { type: "duration", seconds: 4 } });
  }, 0.006);
  const audio = await file(4);
  const asked = Array.from({ length: 200 }, () =>
    client.audio.transcriptions.create({ file: audio, model: "whisper-1" }).then(
      () => 200,
      (thrown: { status: number }) => thrown.status,
    ),
  );
  const statuses = await Promise.all(asked);
  expect(statuses.filter((status) => status === 200).length).toBe(15);
  expect(statuses.filter((status) => status === 429).length).toBe(185);
  expect(upstream.requests.length).toBe(15);
  const { spent } = await gateway.finish();
  expect(spent.get(ALL)).toBe(0.006 * DOLLAR);
});

test("a hard budget holds what the container says, and refuses a model without a price", async () => {
  const { client, upstream } = await start(() => json({ text: "Hi." }), 0.006);
  const ask = async (seconds: number, model: string) =>
    client.audio.transcriptions.create({ file: await file(seconds), model }).then(
      () => 200,
      (thrown: { status: number }) => thrown.status,
    );
  expect(await ask(61, "whisper-1")).toBe(429);
  expect(await ask(1, "whisper-unknown")).toBe(403);
  expect(upstream.requests.length).toBe(0);
  expect(await ask(60, "whisper-1")).toBe(200);
});
