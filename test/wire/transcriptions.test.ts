/** Transcriptions and translations by OpenAI's SDK, at fakes of OpenAI and Groq, and at the mock. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { toFile } from "openai";
import type { JsonObject } from "../../src/core/json.ts";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { wavOf } from "../helpers/audio.ts";
import { collect, openaiClient, seeError } from "../helpers/sdk.ts";
import { json, sse, startUpstream, type Upstream, type UpstreamRequest } from "../helpers/upstream.ts";

setDefaultTimeout(60_000);

const KEY = "a-key-of-the-gateway-hearing-1234567890";
const OTHER = "a-key-of-the-gateway-chats-1234567890";
const POOR = "a-key-of-the-gateway-poor-1234567890";

const VERBOSE = {
  ...{ task: "transcribe", language: "english", duration: 2.5, text: "Hi there. Write to zoe@example.org." },
  segments: [
    { id: 0, seek: 0, start: 0, end: 1.25, text: " Hi there.", tokens: [1], avg_logprob: -0.25 },
    {
      id: 1,
      seek: 0,
      start: 1.25,
      end: 2.501,
      text: " Write to zoe@example.org.",
      tokens: [2],
      avg_logprob: -0.5,
    },
  ],
  usage: { type: "duration", seconds: 3 },
};
const SRT =
  "1\n00:00:00,000 --> 00:00:01,250\nHi there.\n\n2\n00:00:01,250 --> 00:00:02,501\nWrite to zoe@example.org.\n";
const VTT =
  "WEBVTT\n\n00:00:00.000 --> 00:00:01.250\nHi there.\n\n00:00:01.250 --> 00:00:02.501\nWrite to zoe@example.org.\n";
const DIARIZED = {
  ...{ task: "transcribe", duration: 2.5, text: "Hi. Ho." },
  segments: [
    { id: "seg_0", type: "transcript.text.segment", speaker: "A", start: 0, end: 1.5, text: "Hi." },
    { id: "seg_1", type: "transcript.text.segment", speaker: "Zoë", start: 1.5, end: 2.25, text: "Ho." },
  ],
  usage: {
    type: "tokens",
    input_tokens: 30,
    output_tokens: 9,
    total_tokens: 39,
    input_token_details: { audio_tokens: 28, text_tokens: 2 },
  },
};

let openai: Upstream;
let gateway: RunningGateway;

/** The fields of a form, as the fake got them. */
async function fieldsOf({ headers, body }: UpstreamRequest) {
  const type = headers.get("content-type")!;
  const form = await new Response(body.slice(), { headers: { "content-type": type } }).formData();
  return form as unknown as { get(name: string): string | File; getAll(name: string): (string | File)[] };
}

/** Answers as whisper-1 does. */
async function answerOf(request: UpstreamRequest) {
  const format = (await fieldsOf(request)).get("response_format") ?? "json";
  const plain = (body: string) => ({ headers: { "content-type": "text/plain; charset=utf-8" }, body });
  if (format === "text") return plain(`${VERBOSE.text}\n`);
  if (format === "srt") return plain(SRT);
  if (format === "vtt") return plain(VTT);
  if (format === "verbose_json") return json(VERBOSE);
  if (format === "diarized_json") return json(DIARIZED);
  return json({ text: VERBOSE.text, usage: VERBOSE.usage });
}

beforeAll(async () => {
  openai = startUpstream(answerOf);
  gateway = await startGateway({
    config: {
      keys: [
        { name: "hearing", key: KEY },
        { name: "chats", key: OTHER, endpoints: ["chat"] },
        { name: "poor", key: POOR },
      ],
      budgets: { poor: { on: { key: "poor" }, every: "total", limit: 0.00001, mode: "hard" } },
      providers: {
        openai: { apiKey: "k", baseUrl: `${openai.url}/v1` },
        groq: { apiKey: "k", baseUrl: `${openai.url}/openai/v1` },
        speaches: {
          baseUrl: `${openai.url}/own`,
          models: ["speaches/*"],
          does: { transcription: { "openai-transcription": "/audio/transcriptions" } },
        },
      },
      guards: { mail: { find: ["email"], on: ["output"], models: ["groq/*"], do: "mask" } },
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
const wav = () => toFile(wavOf(2.5), "speech.wav", { type: "audio/wav" });
const last = () => openai.requests.at(-1)!;
type Format = "json" | "text" | "srt" | "vtt" | "verbose_json" | "diarized_json";
const create = async (model: string, format: Format, more: object = {}, key = KEY): Promise<unknown> =>
  client(key).audio.transcriptions.create({ file: await wav(), model, response_format: format, ...more });

describe("a host of OpenAI's form", () => {
  test.each([
    ["json", { text: VERBOSE.text, usage: VERBOSE.usage }],
    ["text", `${VERBOSE.text}\n`],
    ["srt", SRT],
    ["vtt", VTT],
    ["verbose_json", VERBOSE],
    ["diarized_json", DIARIZED],
  ] as [Format, unknown][])("gives %s as it is, and gets the file", async (format, expected) => {
    const granularities = { timestamp_granularities: ["word", "segment"], prompt: "Zoë", temperature: 0.5 };
    expect(await create("whisper-1", format, granularities)).toEqual(expected);
    const form = await fieldsOf(last());
    expect(["model", "response_format", "prompt", "temperature"].map((name) => form.get(name))).toEqual([
      "whisper-1",
      format,
      "Zoë",
      "0.5",
    ]);
    expect(form.getAll("timestamp_granularities[]")).toEqual(["word", "segment"]);
    const file = form.get("file") as File;
    expect([file.name, Buffer.from(await file.arrayBuffer()).equals(wavOf(2.5))]).toEqual([
      "speech.wav",
      true,
    ]);
  });

  test("plain text is text/plain", async () => {
    const form = new FormData();
    form.append("file", new File([wavOf(1)], "a.wav"));
    form.append("model", "whisper-1");
    form.append("response_format", "srt");
    const response = await fetch(`${gateway.url}/v1/audio/transcriptions`, {
      ...{ method: "POST", body: form, headers: { authorization: `Bearer ${KEY}` } },
    });
    expect([response.headers.get("content-type"), await response.text()]).toEqual([
      "text/plain; charset=utf-8",
      SRT,
    ]);
  });

  test("translates at its own path", async () => {
    const got = await client().audio.translations.create({
      ...{ file: await wav(), model: "whisper-1", response_format: "srt" },
    });
    expect([got as unknown, last().path]).toEqual([SRT, "/v1/audio/translations"]);
    const wrong = await seeError(async () =>
      client().audio.translations.create({ file: await wav(), model: "gpt-4o-transcribe" }),
    );
    expect([wrong.status, wrong.message]).toEqual([400, expect.stringContaining("/v1/audio/transcriptions")]);
  });

  test("that the config alone describes is asked at its path", async () => {
    expect(await create("speaches/large", "vtt")).toBe(VTT);
    expect([last().path, (await fieldsOf(last())).get("model")]).toEqual([
      "/own/audio/transcriptions",
      "large",
    ]);
  });

  test("does not stream for whisper-1, and its answer passes", async () => {
    const response = await client()
      .audio.transcriptions.create({ file: await wav(), model: "whisper-1", stream: true })
      .asResponse();
    expect(await response.json()).toEqual({ text: VERBOSE.text, usage: VERBOSE.usage });
  });
});

describe("a format that the host does not give", () => {
  test("is made of one that it gives", async () => {
    const whisper = "groq/whisper-large-v3";
    const masked = (text: string) => text.replace(/zoe@\S+org/, "X");
    const made = async (format: Format) => masked((await create(whisper, format)) as string);
    // The guard masks what the host said, in every format.
    expect(await made("srt")).not.toContain("example");
    expect((await fieldsOf(last())).get("response_format")).toBe("verbose_json");
    expect(((await create(whisper, "srt")) as string).split("\n").slice(0, 3)).toEqual(
      SRT.split("\n").slice(0, 3),
    );
    expect(((await create(whisper, "vtt")) as string).split("\n").slice(0, 4)).toEqual(
      VTT.split("\n").slice(0, 4),
    );
    const verbose = (await create(whisper, "verbose_json")) as typeof VERBOSE;
    expect(verbose.segments.map(({ start, end }) => [start, end])).toEqual([
      [0, 1.25],
      [1.25, 2.501],
    ]);
    expect(JSON.stringify(verbose)).not.toContain("zoe@example.org");
    for (const format of ["json", "text"] as const)
      expect(JSON.stringify(await create(whisper, format))).not.toContain("zoe@example.org");
  });

  test("is made of segments with speakers", async () => {
    expect(await create("gpt-4o-transcribe-diarize", "vtt")).toBe(
      "WEBVTT\n\n00:00:00.000 --> 00:00:01.500\n<v A>Hi.\n\n00:00:01.500 --> 00:00:02.250\n<v Zoë>Ho.\n",
    );
    expect((await fieldsOf(last())).get("response_format")).toBe("diarized_json");
    expect(await create("gpt-4o-transcribe", "text")).toBe(`${VERBOSE.text}\n`);
    expect((await fieldsOf(last())).get("response_format")).toBe("json");
  });
});

const events = (...list: JsonObject[]) => list.map((event) => `data: ${JSON.stringify(event)}\n\n`);

test("a diarized stream passes, and one without its end is an error", async () => {
  const list = [
    ...DIARIZED.segments.map((segment) => ({ ...segment })),
    { type: "transcript.text.done", text: "Hi. Ho.", usage: DIARIZED.usage },
  ];
  const stream = async () =>
    client().audio.transcriptions.create({
      ...{ file: await wav(), model: "gpt-4o-transcribe-diarize", stream: true },
      ...{ response_format: "diarized_json", chunking_strategy: "auto" },
    });
  openai.answer(() => sse(events(...list)));
  expect((await collect(await stream())) as unknown).toEqual(list);
  openai.answer(() => sse(events(...list.slice(0, 2))));
  const error = await seeError(async () => collect(await stream()));
  expect(error.message).toContain("ended");
  openai.answer(answerOf);
});

test("a stream is guarded by segments", async () => {
  const segments = [
    { type: "transcript.text.delta", delta: "Write to zoe@exam" },
    { type: "transcript.text.delta", delta: "ple.org now." },
    { type: "transcript.text.segment", id: "s", speaker: "A", start: 0, end: 1, text: "zoe@example.org" },
    { type: "transcript.text.done", text: "Write to zoe@example.org now." },
  ];
  openai.answer(() => sse(events(...segments)));
  const stream = await client().audio.transcriptions.create({
    ...{ file: await wav(), model: "groq/whisper-large-v3", stream: true },
  });
  const got = (await collect(stream)) as unknown as { type: string; delta?: string; text?: string }[];
  openai.answer(answerOf);
  const joined = got.map(({ delta = "" }) => delta).join("");
  expect([joined.startsWith("Write to "), joined.endsWith(" now."), joined.includes("example")]).toEqual([
    true,
    true,
    false,
  ]);
  expect(JSON.stringify(got)).not.toContain("zoe@");
  expect(got.at(-1)!.type).toBe("transcript.text.done");
});

describe("the mock", () => {
  test("writes the same words for the same file, as long as the audio", async () => {
    const one = (await create("mock/transcription", "verbose_json", {
      timestamp_granularities: ["word"],
    })) as {
      duration: number;
      text: string;
      words: { start: number; end: number }[];
      segments: { start: number; end: number; text: string }[];
    };
    expect(one).toEqual(
      (await create("mock/transcription", "verbose_json", {
        timestamp_granularities: ["word"],
      })) as typeof one,
    );
    expect([one.duration, one.words.at(-1)!.end, one.segments.at(-1)!.end]).toEqual([2.5, 2.5, 2.5]);
    expect(one.text).toBe(one.segments.map(({ text }) => text).join(" "));
    expect(await create("mock/transcription", "srt")).toStartWith("1\n00:00:00,000 --> ");
  });

  test("streams", async () => {
    const stream = await client().audio.transcriptions.create({
      ...{ file: await wav(), model: "mock/transcription", stream: true },
    });
    const got = await collect(stream);
    const text = got.map((event) => (event.type === "transcript.text.delta" ? event.delta : "")).join("");
    const done = got.at(-1)!;
    expect(done.type === "transcript.text.done" && done.text).toBe(text);
  });

  test.each([
    ["mock/error-429", 429],
    ["mock/error-500", 502],
    ["mock/throw", 500],
  ])("%s fails as everywhere", async (model, status) => {
    expect((await seeError(() => create(model, "json"))).status).toBe(status);
  });
});

test.each([
  ["an unknown model", KEY, "none/such", {}, 404],
  ["a model of another kind", KEY, "gpt-5-mini", {}, 404],
  ["a key without the endpoint", OTHER, "whisper-1", {}, 403],
  ["an unknown key", "nonsense-key-1234567890", "whisper-1", {}, 401],
  ["a budget that is spent", POOR, "whisper-1", {}, 429],
  ["an unknown format", KEY, "whisper-1", { response_format: "pdf" }, 400],
  ["no file", KEY, "whisper-1", { file: "none" }, 400],
])("%s is an error that the SDK reads", async (_about, key, model, more, status) => {
  const before = openai.requests.length;
  const error = await seeError(() => create(model, "json", more, key));
  expect([error.status, error.message.length > 10]).toEqual([status, true]);
  expect(openai.requests.length).toBe(before);
});

test("a body that is no form is refused with what to send", async () => {
  const response = await fetch(`${gateway.url}/v1/audio/transcriptions`, {
    method: "POST",
    headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "whisper-1", file: { filename: "a.wav", bytes: 1, sha256: "" } }),
  });
  expect([response.status, await response.text()]).toEqual([
    400,
    expect.stringContaining("multipart/form-data"),
  ]);
});

test("the provider's refusal passes", async () => {
  const body = {
    error: { message: "Invalid file format.", type: "invalid_request_error", param: null, code: null },
  };
  openai.answer(() => ({ ...json(body), status: 400 }));
  const error = await seeError(() => create("whisper-1", "srt"));
  openai.answer(answerOf);
  expect([error.status, error.message]).toEqual([400, expect.stringContaining("Invalid file format.")]);
});

test("explain shows the parts by name, type and length, and what is held", async () => {
  const form = new FormData();
  form.append("file", new File([wavOf(2)], "a.wav", { type: "audio/wav" }));
  form.append("model", "groq/whisper-large-v3");
  form.append("response_format", "srt");
  const response = await fetch(`${gateway.url}/v1/explain?format=/v1/audio/transcriptions`, {
    ...{ method: "POST", body: form, headers: { authorization: `Bearer ${KEY}` } },
  });
  const text = await response.text();
  expect(response.status).toBe(200);
  const { request } = JSON.parse(text) as { request: { parts: JsonObject[]; changed: string[] } };
  expect(request.parts[0]).toEqual({ name: "file", filename: "a.wav", type: "audio/wav", length: 32_044 });
  expect(request.changed.toSorted()).toEqual(["model", "response_format"]);
});

test("a plugin file speaks and writes down", async () => {
  const plugin = `
    export default { name: "voice", providers: [{ name: "voice", models: ["voice/*"], does: {
      speech: (request) => ({ audio: new TextEncoder().encode(request.input.toUpperCase()), type: "audio/x-text" }),
      transcription: async ({ file, format }) => {
        const bytes = await file.read();
        return { text: file.filename + " " + bytes.length + " " + file.seconds, segments: [{ start: 5, end: 1001, text: format }] };
      },
    } }] };`;
  const own = await startGateway({ plugins: { "voice.ts": plugin }, env: { WEIR_STATE: "none" } });
  try {
    const asking = openaiClient(own.url, { maxRetries: 0 });
    const spoken = await asking.audio.speech.create({ model: "voice/a", voice: "x", input: "hi" });
    expect([spoken.headers.get("content-type"), await spoken.text()]).toEqual(["audio/x-text", "HI"]);
    const heard = (format: "srt" | "json") =>
      wav().then((file) =>
        asking.audio.transcriptions.create({ file, model: "voice/a", response_format: format }),
      );
    expect((await heard("json")) as unknown).toEqual({ text: "speech.wav 40044 2.5" });
    expect((await heard("srt")) as unknown).toBe("1\n00:00:00,005 --> 00:00:01,001\nsrt\n");
  } finally {
    await own.stop();
  }
});
