/** Embeddings over real sockets, with OpenAI's SDK: the mock, encodings, errors, and what a client is refused. */
import { beforeAll, describe, expect, test } from "bun:test";
import type OpenAI from "openai";
import {
  askEmbeddings,
  base64,
  bodyOf,
  embeddingHost,
  embeds,
  lastLine,
  makeEmbeddingStage,
  vectorFor,
} from "../helpers/embedding.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { openaiClient, seeError } from "../helpers/sdk.ts";
import { json } from "../helpers/upstream.ts";

const { upstream, gateway } = makeEmbeddingStage();

function expectNear(found: readonly number[], wanted: readonly number[]): void {
  expect(found.length).toBe(wanted.length);
  for (const [at, value] of found.entries())
    expect(Math.abs(value - wanted[at]!)).toBeLessThanOrEqual(1e-7 * Math.max(1, Math.abs(wanted[at]!)));
}

describe("the mock", () => {
  let openai: OpenAI;

  beforeAll(async () => {
    openai = openaiClient((await gateway({})).url);
  });

  const embed = async (...input: string[]) =>
    (await openai.embeddings.create({ model: "mock/embed", input })).data.map(({ embedding }) => embedding);
  const cosine = (a: number[], b: number[]) => a.reduce((sum, value, at) => sum + value * b[at]!, 0);

  test("embeds near texts near, and equal texts alike", async () => {
    const [cat, cats, tax, again] = await embed(
      "The cat sleeps on the sofa",
      "Two cats are sleeping on a sofa",
      "Quarterly tax returns must be filed by April",
      "The cat sleeps on the sofa",
    );
    expect(again).toEqual(cat!);
    expect(cosine(cat!, cat!)).toBeCloseTo(1, 5);
    expect(cosine(cat!, cats!)).toBeGreaterThan(cosine(cat!, tax!) + 0.2);
  });

  test("honours dimensions, and counts as it counts prompts", async () => {
    const answer = await openai.embeddings.create({ model: "mock/embed", input: "12345678", dimensions: 64 });
    expect(answer.data[0]!.embedding).toHaveLength(64);
    expect(answer.usage).toEqual({ prompt_tokens: 2, total_tokens: 2 });
    const empty = await openai.embeddings.create({ model: "mock/embed", input: "" });
    expect(empty.data[0]!.embedding).toHaveLength(256);
  });

  test("takes token ids", async () => {
    const answer = await openai.embeddings.create({ model: "mock/embed", input: [[1, 2, 3], [4]] });
    expect(answer.data).toHaveLength(2);
    expect(answer.usage.total_tokens).toBe(4);
  });

  test("fails as its failing models fail for chats, and embeds with no model for chats", async () => {
    const error = await seeError(() => openai.embeddings.create({ model: "mock/error-429", input: "hi" }));
    expect([error.class, error.code]).toEqual(["RateLimitError", "rate_limit_exceeded"]);
    const chat = { model: "mock/embed", messages: [{ role: "user" as const, content: "hi" }] };
    expect((await seeError(() => openai.chat.completions.create(chat))).message).toContain(
      "send `mock/embed` to POST /v1/embeddings",
    );
    const wrong = await seeError(() => openai.embeddings.create({ model: "mock/chat", input: "hi" }));
    expect([wrong.status, wrong.message]).toEqual([404, expect.stringContaining("mock/embed")]);
  });

  test("answers for models of OpenAI while no provider is configured", async () => {
    const { data, response } = await openai.embeddings
      .create({ model: "text-embedding-3-small", input: "hi" })
      .withResponse();
    expect(data.data[0]!.embedding).toHaveLength(256);
    expect(response.headers.get("x-weir-warnings")).toBe("substituted:model");
  });
});

describe("a host of OpenAI's dialect", () => {
  const text =
    '{ "object":"list", "data":[{"object":"embedding","index":0,"embedding":[0.1, 0.25]}],\n"model":"m", "usage":{"prompt_tokens":3,"total_tokens":3}, "own": 1}';
  const answer = {
    headers: { "content-type": "application/json", "x-ratelimit-limit-requests": "9" },
    body: text,
  };

  test("gets the client's bytes with its own name of the model, and the client gets the host's", async () => {
    const host = upstream(() => answer);
    const running = await gateway(embeddingHost(host.url));
    const sent = '{"input" : "hi\\u0021",  "model":"host/m", "vendor_option": {"a": [1]}}';
    const got = await askEmbeddings(running.url, sent);
    expect(got.text).toBe(text);
    expect(got.headers.get("x-weir-lane")).toBe("native");
    expect(got.headers.get("x-ratelimit-limit-requests")).toBe("9");
    expect(Buffer.from(host.requests[0]!.body).toString()).toBe(sent.replace("host/m", "m"));
    expect(host.requests[0]!.path).toBe("/v1/embeddings");
    expect(await lastLine(running)).toMatchObject({
      format: "embeddings",
      model: "host/m",
      provider: "host",
      lane: "native",
      outcome: "complete",
      tokens: { input: 3, output: 0, known: "final" },
    });
  });

  test("of the config needs no more than that it speaks chat-completions", async () => {
    const host = upstream(() => answer);
    const running = await gateway({
      providers: { host: { baseUrl: `${host.url}/v1`, speaks: "chat-completions" } },
    });
    expect((await askEmbeddings(running.url, { model: "host/m", input: "hi" })).text).toBe(text);
    expect(host.requests.at(-1)!.path).toBe("/v1/embeddings");
  });

  test("gets token ids as they are", async () => {
    const host = upstream(() => answer);
    const running = await gateway(embeddingHost(host.url));
    for (const input of [[1, 2], [[1, 2]]]) await askEmbeddings(running.url, { model: "host/m", input });
    expect(host.requests.map((request) => bodyOf(request).input as unknown)).toEqual([[1, 2], [[1, 2]]]);
  });

  test("refuses in its own words, and its credential does not concern the client", async () => {
    const body = {
      error: {
        message: "no such model",
        type: "invalid_request_error",
        param: null,
        code: "model_not_found",
      },
    };
    const host = upstream(() => json(body, 404));
    const running = await gateway(embeddingHost(host.url));
    const refused = await askEmbeddings(running.url, { model: "host/m", input: "hi" });
    expect([refused.status, refused.text]).toEqual([404, JSON.stringify(body)]);
    host.answer(() => json({ error: { message: "Incorrect API key sk-1" } }, 401));
    const unauthorised = await askEmbeddings(running.url, { model: "host/m", input: "hi" });
    expect([unauthorised.status, unauthorised.body.error!.code]).toEqual([502, "upstream_auth"]);
  });

  test("that answers with fewer vectors than inputs, or with no vectors, fails the call", async () => {
    const host = upstream(() => answer);
    const running = await gateway({ ...embeddingHost(host.url), retries: { attempts: 1 } });
    const fewer = await askEmbeddings(running.url, { model: "host/m", input: ["a", "b"] });
    expect([fewer.status, fewer.body.error!.message]).toEqual([
      502,
      "The provider host sent 1 vectors for 2 inputs.",
    ]);
    for (const wrong of ["<html>", "{}", '{"data":5}', '{"data":[{}]}', '{"error":{"message":"no"}}', "[]"]) {
      host.answer(() => ({ headers: { "content-type": "application/json" }, body: wrong }));
      const got = await askEmbeddings(running.url, { model: "host/m", input: "a" });
      expect([wrong, got.status]).toEqual([wrong, 502]);
    }
  });

  test("llama.cpp's 500 for an input that is too long is the client's to correct, and not repeated", async () => {
    const message =
      "input (4002 tokens) is too large to process. increase the physical batch size (current batch size: 2048)";
    const host = upstream(() => json({ error: { code: 500, message, type: "server_error" } }, 500));
    const running = await gateway(embeddingHost(host.url, { base64: true, maxInputs: 1 }));
    const got = await askEmbeddings(running.url, { model: "host/m", input: ["a", "b"] });
    expect([got.status, got.body.error!.code]).toEqual([400, "context_length_exceeded"]);
    expect(host.requests.length).toBeLessThanOrEqual(2);
  });
});

describe("the encoding that the client asked for", () => {
  const input = ["text 1", "text 22", "text 333"];
  const wanted = input.map(vectorFor);

  test("the SDK's default, base64, works at a host that only knows numbers", async () => {
    const host = upstream(embeds("float"));
    const { url } = await gateway(embeddingHost(host.url));
    const { data } = await openaiClient(url).embeddings.create({ model: "host/m", input });
    data.forEach(({ embedding }, at) => expectNear(embedding, wanted[at]!));
    expect(bodyOf(host.requests[0]!)).not.toHaveProperty("encoding_format");
  });

  test("the SDK's default works at a host that answers with numbers although base64 was asked", async () => {
    const host = upstream(embeds("float"));
    const { url } = await gateway(embeddingHost(host.url, { base64: true }));
    const { data } = await openaiClient(url).embeddings.create({ model: "host/m", input });
    data.forEach(({ embedding }, at) => expectNear(embedding, wanted[at]!));
    expect(bodyOf(host.requests[0]!).encoding_format).toBe("base64");
  });

  test("numbers that were asked for come as numbers, also from a host that answers in base64", async () => {
    const host = upstream(embeds("base64"));
    const { url } = await gateway(embeddingHost(host.url));
    for (const encoding_format of ["float", null]) {
      const { body } = await askEmbeddings(url, { model: "host/m", input, encoding_format });
      body.data!.forEach(({ embedding, index }, at) => {
        expect(index).toBe(at);
        expectNear(embedding, wanted[at]!);
      });
    }
  });

  test("base64 passes byte for byte where the host can answer so", async () => {
    const host = upstream(embeds());
    const { url } = await gateway(embeddingHost(host.url, { base64: true }));
    const got = await askEmbeddings(url, { model: "host/m", input: ["text 7"], encoding_format: "base64" });
    expect(got.body.data as unknown).toEqual([
      { object: "embedding", index: 0, embedding: base64(vectorFor("text 7")) },
    ]);
    expect(got.headers.get("x-weir-lane")).toBe("native");
  });
});

describe("a request is refused with the path of its fault", () => {
  const many = (count: number) => Array.from({ length: count }, (_, at) => `text ${at}`);
  const cases: [about: string, body: JsonObject, param: string, message: string][] = [
    ["no input", { model: "mock/embed" }, "input", "Missing required parameter"],
    ["an empty list", { model: "mock/embed", input: [] }, "input", "at least one text"],
    ["2,049 inputs", { model: "mock/embed", input: many(2049) }, "input", "at most 2048 texts"],
    ["a number among texts", { model: "mock/embed", input: ["a", "b", 3] }, "input[2]", "a text"],
    ["a text among token ids", { model: "mock/embed", input: [[1], "b"] }, "input[1]", "token ids"],
    ["a negative token id", { model: "mock/embed", input: [[1], [2, -1]] }, "input[1][1]", "a token id"],
    ["an empty list of token ids", { model: "mock/embed", input: [[]] }, "input[0]", "token ids"],
    ["an object", { model: "mock/embed", input: {} }, "input", "a list of texts"],
    [
      "an unknown encoding",
      { model: "mock/embed", input: "a", encoding_format: "int8" },
      "encoding_format",
      "'float'",
    ],
    [
      "dimensions of zero",
      { model: "mock/embed", input: "a", dimensions: 0 },
      "dimensions",
      "positive integer",
    ],
    ["no model", { input: "a" }, "model", "Missing required parameter"],
    ["a misspelled member", { model: "mock/embed", input: "a", Dimensions: 3 }, "Dimensions", "dimensions"],
  ];
  let url: string;
  beforeAll(async () => void ({ url } = await gateway({})));

  for (const [about, body, param, message] of cases)
    test(about, async () => {
      const { status, body: answer } = await askEmbeddings(url, body);
      expect([status, answer.error!.param]).toEqual([400, param]);
      expect(answer.error!.message).toContain(message);
    });

  test("a base URL without /v1, with the path that was meant", async () => {
    const response = await fetch(`${url}/embeddings`, { method: "POST", body: "{}" });
    expect([response.status, await response.text()]).toEqual([
      404,
      expect.stringContaining("/v1/embeddings"),
    ]);
  });

  test("2,048 inputs and an empty text are accepted", async () => {
    const { status, body } = await askEmbeddings(url, {
      model: "mock/embed",
      input: many(2048),
      dimensions: 4,
    });
    expect([status, body.data!.length]).toEqual([200, 2048]);
    expect((await askEmbeddings(url, { model: "mock/embed", input: "" })).status).toBe(200);
  });
});

describe("a provider that cannot serve the request", () => {
  test("says whether it embeds or generates", async () => {
    const providers = { anthropic: { apiKey: "sk-none" }, voyage: { apiKey: "sk-none" } };
    const { url } = await gateway({ providers });
    const none = await askEmbeddings(url, { model: "claude-haiku-4-5", input: "hi" });
    expect([none.status, none.body.error!.code]).toEqual([404, "model_not_found"]);
    expect(none.body.error!.message).toContain("anthropic serves no embeddings");
    const chat = { model: "voyage-3.5", messages: [{ role: "user" as const, content: "hi" }] };
    const only = await seeError(() => openaiClient(url).chat.completions.create(chat));
    expect([only.status, only.message]).toEqual([
      404,
      expect.stringContaining("voyage generates no text with the model `voyage-3.5`"),
    ]);
    const unknown = await askEmbeddings(url, { model: "none/such", input: "hi" });
    expect([unknown.status, unknown.body.error!.param]).toEqual([404, "model"]);
  });
});
