/** llama.cpp's `/infill` as the host of clients that complete the middle of a text. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { JsonObject } from "../../../src/core/json.ts";
import { CHARGE_STATES } from "../../../src/ledger/charge.ts";
import { type BookedGateway, startBooked } from "../../helpers/books.ts";
import { bodyOf } from "../../helpers/rerank-hosts.ts";
import { collect, openaiClient } from "../../helpers/sdk.ts";
import { json, sse, startUpstream, type Upstream } from "../../helpers/upstream.ts";

setDefaultTimeout(60_000);

/** As llama.cpp ends an answer. */
const END = {
  ...{
    index: 0,
    tokens: [],
    id_slot: 0,
    stop: true,
    model: "qwen",
    tokens_predicted: 3,
    tokens_evaluated: 40,
  },
  ...{ has_new_line: false, truncated: false, stop_type: "eos", stopping_word: "", tokens_cached: 42 },
  timings: { cache_n: 30, prompt_n: 10, predicted_n: 3 },
};
const event = (chunk: object) => `data: ${JSON.stringify(chunk)}\n\n`;
const piece = (content: string) =>
  event({ index: 0, content, tokens: [1], stop: false, tokens_predicted: 1, tokens_evaluated: 40 });

let llama: Upstream;
let gateway: BookedGateway;

const whole = (request: { body: Uint8Array }) =>
  bodyOf(request)["stream"] === true
    ? sse([piece("mid"), piece("dle"), event({ ...END, content: "" })])
    : json({ ...END, content: "middle" });

beforeAll(async () => {
  llama = startUpstream((request) => (request.method === "GET" ? json({ data: [] }) : whole(request)));
  gateway = await startBooked({
    providers: { llama: { baseUrl: llama.url, models: ["m"], does: { completion: { infill: "/infill" } } } },
    prices: { "llama/m": { input: 1, cacheRead: 0.1, output: 2 } },
  });
});
afterAll(async () => {
  await gateway.stop();
  llama.stop();
});

const prompt = "def f(a):\n\t\u2028 \ud83d\ude00 \\";
const suffix = "\n    return x";
const lastBody = () => bodyOf(llama.requests.at(-1)!);

async function post(path: string, body: JsonObject) {
  const response = await fetch(gateway.url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "llama/m", ...body }),
  });
  return { status: response.status, text: await response.text() };
}

test("a client of OpenAI: prompt and suffix arrive as they are, with the options that llama.cpp has", async () => {
  const asked = { model: "llama/m", prompt, suffix, max_tokens: 9, temperature: 0.5, top_p: 0.9, seed: 3 };
  const { choices, usage } = await openaiClient(gateway.url).completions.create({
    ...{ ...asked, stop: "\n\n", presence_penalty: 1 },
  });
  expect([choices[0]!.text, choices[0]!.finish_reason]).toEqual(["middle", "stop"]);
  expect(usage).toMatchObject({ prompt_tokens: 40, completion_tokens: 3 });
  expect(llama.requests.at(-1)!.path).toBe("/infill");
  expect(lastBody()).toEqual({
    ...{ model: "m", input_prefix: prompt, input_suffix: suffix, prompt: "", n_predict: 9 },
    ...{ temperature: 0.5, top_p: 0.9, stop: ["\n\n"], seed: 3, presence_penalty: 1 },
  });
});

test("a stream, which llama.cpp ends without a last word", async () => {
  const stream = await openaiClient(gateway.url).completions.create({
    ...{ model: "llama/m", prompt, suffix, stream: true, stream_options: { include_usage: true } },
  });
  const events = await collect(stream);
  expect(events.map(({ choices }) => choices[0]?.text ?? "").join("")).toBe("middle");
  expect(events.at(-1)!.usage).toMatchObject({ prompt_tokens: 40, completion_tokens: 3 });
  expect(lastBody()).toMatchObject({ stream: true, input_prefix: prompt, input_suffix: suffix });
});

test("clients of Mistral and of Ollama", async () => {
  const fim = await post("/v1/fim/completions", { prompt, suffix, random_seed: 4 });
  expect(JSON.parse(fim.text)).toMatchObject({ choices: [{ message: { content: "middle" } }] });
  expect(lastBody()).toMatchObject({ input_prefix: prompt, input_suffix: suffix, seed: 4 });
  const ollama = await post("/api/generate", { prompt, suffix, stream: false, options: { num_predict: 7 } });
  expect(JSON.parse(ollama.text)).toMatchObject({ response: "middle", done: true });
  expect(lastBody()).toMatchObject({ input_prefix: prompt, input_suffix: suffix, n_predict: 7 });
});

test("an answer that is cut off by its limit says so, and one that ends early is an error", async () => {
  llama.answer(() => json({ ...END, stop_type: "limit", content: "mi" }));
  const { text } = await post("/v1/completions", { prompt });
  expect(JSON.parse(text)).toMatchObject({ choices: [{ text: "mi", finish_reason: "length" }] });
  // Without a suffix there is nothing behind the text.
  expect(lastBody()["input_suffix"]).toBe("");
  llama.answer(() => sse([piece("mid")]));
  const cut = await post("/v1/completions", { prompt, suffix, stream: true }).catch((thrown) => ({
    text: String(thrown),
  }));
  expect(cut.text).not.toContain("[DONE]");
  llama.answer(() =>
    json({ error: { code: 400, message: "no fim tokens", type: "invalid_request_error" } }, 400),
  );
  const refused = await post("/v1/completions", { prompt, suffix });
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("no fim tokens")]);
  llama.answer(whole);
});

test.each([
  [{ prompt: ["a", "b"] }, "prompt"],
  [{ prompt: "a", echo: true }, "echo"],
  [{ prompt: "a", logprobs: 0 }, "logprobs"],
])("%j is refused, with its place", async (body, param) => {
  const { status, text } = await post("/v1/completions", body);
  expect([status, (JSON.parse(text) as { error: JsonObject }).error["param"]]).toEqual([400, param]);
});

test("what the cache held has its price", async () => {
  const { calls } = await gateway.finish();
  const booked = calls.find(({ state }) => CHARGE_STATES[state] === "metered")!;
  // 10 tokens in at $1, 30 from the cache at $0.1 and 3 out at $2 a million.
  expect(booked.cost).toBe(19_000);
});
