/** The built-in providers of embeddings against fakes of their hosts. The answers are synthetic. */
import { expect, test } from "bun:test";
import type { JsonObject } from "../../src/core/json.ts";
import {
  askEmbeddings,
  base64,
  bodyOf,
  embeds,
  lastLine,
  makeEmbeddingStage,
  vectorFor,
} from "../helpers/embedding.ts";
import { openaiClient, seeError } from "../helpers/sdk.ts";
import { type Handler, json } from "../helpers/upstream.ts";

const { upstream, gateway } = makeEmbeddingStage();

const texts = (count: number) => Array.from({ length: count }, (_, at) => `text ${at + 1}`);
const KEY = "canary-0123456789abcdef";

/** A native answer has the vectors in the host's order, with their index. */
function expectFirst(
  data: readonly { index: number; embedding: number[] }[],
  input: readonly string[],
): void {
  expect(data.length).toBe(input.length);
  const inOrder = data.toSorted((a, b) => a.index - b.index);
  inOrder.forEach(({ embedding }, at) => expect(embedding[0]).toBeCloseTo(vectorFor(input[at])[0]!, 4));
}

test("Voyage, which knows base64 and no numbers by name, serves OpenAI's SDK and clients that want numbers", async () => {
  const host = upstream((request) => {
    const body = bodyOf(request);
    if (body.encoding_format === "float")
      return json({ detail: "Value of encoding_format is not supported" }, 400);
    return embeds()(request);
  });
  const { url } = await gateway({ providers: { voyage: { apiKey: KEY, baseUrl: host.url } } });
  const input = texts(3);
  const { data } = await openaiClient(url).embeddings.create({ model: "voyage-3.5", input });
  expectFirst(data, input);
  for (const encoding_format of ["float", null]) {
    const { body } = await askEmbeddings(url, {
      model: "voyage-3.5",
      input,
      encoding_format,
      input_type: "document",
    });
    expectFirst(body.data!, input);
  }
  expect(host.requests.map((request) => bodyOf(request).encoding_format)).toEqual([
    "base64",
    "base64",
    "base64",
  ]);
  host.answer(() => json({ detail: "Model nonexistent is not supported." }, 400));
  const error = await seeError(() =>
    openaiClient(url).embeddings.create({ model: "voyage/nonexistent", input }),
  );
  expect([error.status, error.message]).toEqual([400, expect.stringContaining("Model nonexistent")]);
});

test("an answer of Voyage gets the count that OpenAI's SDK reads, and nothing else changes", async () => {
  const whole = {
    ...{ object: "list", data: [{ object: "embedding", embedding: "AACAPwAAAEA=", index: 0 }] },
    model: "voyage-3.5",
  };
  const host = upstream(() => json({ ...whole, usage: { total_tokens: 12 } }));
  const running = await gateway({ providers: { voyage: { apiKey: KEY, baseUrl: host.url } } });
  const ask = { model: "voyage-3.5", input: "hi" };
  const { usage, data } = await openaiClient(running.url).embeddings.create(ask);
  expect([usage, data[0]!.embedding]).toEqual([{ prompt_tokens: 12, total_tokens: 12 }, [1, 2]]);
  const { body } = await askEmbeddings(running.url, { ...ask, encoding_format: "base64" });
  expect(body as object).toEqual({ ...whole, usage: { prompt_tokens: 12, total_tokens: 12 } });
  expect(await lastLine(running)).toMatchObject({ lane: "native", tokens: { input: 12 } });
});

test("Cohere gets texts at its own endpoint, 96 at a time, and the tokens that it bills are booked", async () => {
  const host = upstream((request) => {
    const { texts: sent } = bodyOf(request) as unknown as { texts: string[] };
    return json({
      embeddings: { float: sent.map(vectorFor) },
      meta: { billed_units: { input_tokens: sent.length } },
    });
  });
  const running = await gateway({ providers: { cohere: { apiKey: KEY, baseUrl: host.url } } });
  const input = texts(200);
  const { data, usage } = await openaiClient(running.url).embeddings.create({ model: "embed-v4.0", input });
  expectFirst(data, input);
  expect(usage.prompt_tokens).toBe(200);
  expect(host.requests.map(({ path }) => path)).toEqual(["/v2/embed", "/v2/embed", "/v2/embed"]);
  expect(await lastLine(running)).toMatchObject({
    provider: "cohere",
    lane: "translated",
    tokens: { input: 200 },
  });
  const ids = await askEmbeddings(running.url, { model: "embed-v4.0", input: [1, 2] });
  expect([ids.status, ids.body.error!.param]).toEqual([400, "input"]);
});

test("Titan gets one text a request, signed, and Nova and Cohere in Bedrock their own bodies", async () => {
  const answers: Record<string, (body: JsonObject) => JsonObject> = {
    "/model/amazon.titan-embed-text-v2%3A0/invoke": ({ inputText }) => ({
      embedding: vectorFor(inputText),
      inputTextTokenCount: 3,
    }),
    "/model/us.cohere.embed-v4%3A0/invoke": ({ texts: sent }) => ({
      embeddings: { float: (sent as string[]).map(vectorFor) },
    }),
    "/model/amazon.nova-2-multimodal-embeddings-v1%3A0/invoke": (body) => {
      const { text } = body.singleEmbeddingParams as { text: { value: string } };
      return { embeddings: [{ embeddingType: "TEXT", embedding: vectorFor(text.value) }] };
    },
  };
  const host = upstream((request) =>
    json(answers[request.path]!(bodyOf(request)), 200, { "x-amzn-bedrock-input-token-count": "5" }),
  );
  const keys = { AWS_ACCESS_KEY_ID: "AKIDEXAMPLE", AWS_SECRET_ACCESS_KEY: "canary-secret-0123456789" };
  const { url } = await gateway(
    { providers: { bedrock: { baseUrl: host.url, variables: { region: "us-east-1" } } } },
    { env: { ...keys, AWS_REGION: "us-east-1" } },
  );
  const input = texts(20);
  const tokens: Record<string, number> = {
    "amazon.titan-embed-text-v2:0": 60,
    "us.cohere.embed-v4:0": 5,
    "amazon.nova-2-multimodal-embeddings-v1:0": 100,
  };
  for (const model of Object.keys(tokens)) {
    const { data, usage } = await openaiClient(url).embeddings.create({ model: `bedrock/${model}`, input });
    expectFirst(data, input);
    expect([model, usage.total_tokens]).toEqual([model, tokens[model]!]);
  }
  expect(host.requests.length).toBe(20 + 1 + 20);
  for (const { headers } of host.requests)
    expect(headers.get("authorization")).toStartWith("AWS4-HMAC-SHA256 ");
  host.answer(() => json({ message: "slow down" }, 429, { "x-amzn-errortype": "ThrottlingException" }));
  const throttled = await askEmbeddings(url, { model: "bedrock/amazon.titan-embed-text-v2:0", input: "hi" });
  expect([throttled.status, throttled.body.error!.code]).toEqual([429, "rate_limit_exceeded"]);
  const chat = await askEmbeddings(url, { model: "bedrock/us.amazon.nova-pro-v1:0", input: "hi" });
  expect([chat.status, chat.body.error!.code]).toEqual([404, "model_not_found"]);
});

test("Perplexity's 8-bit integers are read as what they are", async () => {
  const integers = [-10, 0, 127, -128];
  const encoded = Buffer.from(Int8Array.from(integers).buffer).toString("base64");
  const host = upstream(() =>
    json({ data: [{ index: 0, embedding: encoded }], usage: { prompt_tokens: 2 } }),
  );
  const { url } = await gateway({ providers: { perplexity: { apiKey: KEY, baseUrl: host.url } } });
  const { data } = await openaiClient(url).embeddings.create({ model: "pplx-embed-v1-0.6b", input: "hi" });
  expect(data[0]!.embedding).toEqual(integers);
  const { body } = await askEmbeddings(url, { model: "pplx-embed-v1-0.6b", input: "hi" });
  expect(body.data![0]!.embedding).toEqual(integers);
});

test("Mistral gets its own name for dimensions, and no user", async () => {
  const host = upstream(embeds("float"));
  const { url } = await gateway({ providers: { mistral: { apiKey: KEY, baseUrl: `${host.url}/v1` } } });
  const input = texts(300);
  const { body, headers } = await askEmbeddings(url, {
    model: "codestral-embed",
    input,
    dimensions: 3,
    user: "u",
  });
  expectFirst(body.data!, input);
  expect(headers.get("x-weir-warnings")).toBe("dropped:user");
  expect(host.requests.length).toBe(2);
  for (const request of host.requests) {
    expect(bodyOf(request)).toMatchObject({ output_dimension: 3 });
    expect(Object.keys(bodyOf(request)).sort()).toEqual(["input", "model", "output_dimension"]);
  }
});

test("synthetic: Vertex embeds one text at a time with Gemini's model, and refuses to cut long ones", async () => {
  const host = upstream((request) => {
    const { instances } = bodyOf(request) as unknown as { instances: { content: string }[] };
    const predictions = instances.map(({ content }) => ({
      embeddings: { values: vectorFor(content), statistics: { token_count: 2, truncated: false } },
    }));
    return json({ predictions });
  });
  const { url } = await gateway({
    providers: {
      vertex: {
        baseUrl: host.url,
        variables: { project: "p", location: "global" },
        headers: { authorization: "Bearer t-0123456789" },
      },
    },
  });
  const input = texts(3);
  const gemini = await askEmbeddings(url, { model: "vertex/gemini-embedding-001", input });
  expectFirst(gemini.body.data!, input);
  expect(gemini.body.usage).toEqual({ prompt_tokens: 6, total_tokens: 6 });
  expect(host.requests.length).toBe(3);
  const other = await askEmbeddings(url, { model: "vertex/text-embedding-005", input });
  expectFirst(other.body.data!, input);
  expect(host.requests.length).toBe(4);
  expect(host.requests[3]!.path).toEndWith("/publishers/google/models/text-embedding-005:predict");
  expect(bodyOf(host.requests[3]!)).toMatchObject({ parameters: { autoTruncate: false } });
});

test("another weir gets base64 and its losses are reported", async () => {
  const inner: Handler = () =>
    json({ data: [{ index: 0, embedding: base64([1, 2]) }], usage: { prompt_tokens: 1 } }, 200, {
      "x-weir-warnings": "dropped:user",
    });
  const host = upstream(inner);
  const { url } = await gateway({ providers: { weir: { baseUrl: `${host.url}/v1`, apiKey: KEY } } });
  const got = await askEmbeddings(url, {
    model: "weir/openai/m",
    input: "hi",
    encoding_format: "base64",
    user: "u",
  });
  expect([got.status, got.headers.get("x-weir-warnings")]).toEqual([200, "dropped:user"]);
  expect(got.headers.get("x-weir-lane")).toBe("native");
});
