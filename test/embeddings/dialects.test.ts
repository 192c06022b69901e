/** What each dialect of embeddings sends for a request, and what it reads of an answer. The bodies are synthetic. */
import { describe, expect, test } from "bun:test";
import type { CodecContext } from "../../src/core/context.ts";
import type { EmbedEndpoint, EmbedRequest } from "../../src/core/embed.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { dialects } from "../../src/embeddings/index.ts";
import { builtIn } from "../../plugins/index.ts";

const dialectOf = (id: string) => dialects.find((dialect) => dialect.id === id)!;

const texts = ["one", "two"];
const request = (options: Partial<EmbedRequest> = {}): EmbedRequest => ({
  model: "acme/m",
  inputs: texts,
  pathOf: (part) => (typeof part === "number" ? `input[${part}]` : part),
  encoding: "float",
  extra: {},
  ...options,
});

/** Encodes for a client of another dialect. @returns the body and the losses */
function encode(id: string, wanted: EmbedRequest, endpoint: Partial<EmbedEndpoint> = {}) {
  const losses: string[] = [];
  const context = {
    sameFormat: false,
    target: { provider: "acme", model: "m", traits: {}, isVendor: true },
    reportLoss: (code: string, path: string) => void losses.push(`${code}:${path}`),
  } as unknown as CodecContext;
  const body = dialectOf(id).encodeRequest(wanted, { path: "/", ...endpoint }, context);
  return { body, losses };
}

/** The endpoint of a built-in provider. */
function endpointOf(provider: string, dialect: string): EmbedEndpoint {
  const found = builtIn.flatMap(({ providers = [] }) => providers).find(({ name }) => name === provider);
  const endpoint = found!.embeds![dialect]!;
  return typeof endpoint === "string" ? { path: endpoint } : endpoint;
}

describe("dimensions and the purpose of the vectors have the name and the word of each host", () => {
  const wanted = request({ dimensions: 256, inputType: "query" });
  const one = { ...wanted, inputs: ["one"] };
  const cases: [provider: string, dialect: string, wanted: EmbedRequest, body: Json][] = [
    [
      "openai",
      "embeddings",
      wanted,
      { model: "m", input: texts, dimensions: 256, encoding_format: "base64" },
    ],
    ["mistral", "embeddings", wanted, { model: "m", input: texts, output_dimension: 256 }],
    [
      "voyage",
      "embeddings",
      wanted,
      { model: "m", input: texts, output_dimension: 256, input_type: "query", encoding_format: "base64" },
    ],
    ["perplexity", "embeddings", wanted, { model: "m", input: texts, dimensions: 256 }],
    [
      "vllm",
      "embeddings",
      wanted,
      { model: "m", input: texts, dimensions: 256, input_type: "query", encoding_format: "base64" },
    ],
    [
      "cohere",
      "cohere-embed",
      wanted,
      {
        model: "m",
        texts,
        input_type: "search_query",
        output_dimension: 256,
        embedding_types: ["float"],
        truncate: "NONE",
      },
    ],
    [
      "bedrock",
      "cohere-invoke",
      wanted,
      { texts, input_type: "search_query", output_dimension: 256, truncate: "NONE" },
    ],
    ["bedrock", "titan-embed", one, { inputText: "one", dimensions: 256 }],
    [
      "bedrock",
      "nova-embed",
      one,
      {
        taskType: "SINGLE_EMBEDDING",
        singleEmbeddingParams: {
          embeddingPurpose: "GENERIC_RETRIEVAL",
          embeddingDimension: 256,
          text: { truncationMode: "NONE", value: "one" },
        },
      },
    ],
    [
      "gemini",
      "gemini-embed",
      one,
      {
        requests: [
          {
            model: "models/m",
            content: { parts: [{ text: "one" }] },
            outputDimensionality: 256,
            taskType: "RETRIEVAL_QUERY",
          },
        ],
      },
    ],
    [
      "vertex",
      "vertex-predict",
      one,
      {
        instances: [{ content: "one", task_type: "RETRIEVAL_QUERY" }],
        parameters: { outputDimensionality: 256, autoTruncate: false },
      },
    ],
  ];
  for (const [provider, dialect, wants, body] of cases)
    test(`synthetic: ${provider} ${dialect}`, () => {
      expect(encode(dialect, wants, endpointOf(provider, dialect)).body).toEqual(body as JsonObject);
    });
});

test("what a host cannot take is reported, except dimensions, which are refused", () => {
  const all = request({ user: "u", inputType: "moods", extra: { own: 1 } });
  expect(encode("cohere-embed", all).losses).toEqual(["dropped:own", "dropped:inputType", "dropped:user"]);
  expect(encode("titan-embed", all).losses).toEqual(["dropped:own", "dropped:inputType", "dropped:user"]);
  expect(encode("embeddings", all, { members: { user: false } }).losses).toEqual([
    "dropped:own",
    "dropped:user",
  ]);
  const fixed = () => encode("embeddings", request({ dimensions: 3 }), { members: { dimensions: false } });
  expect(fixed).toThrow("leave dimensions out");
});

test("words for the purpose are understood in the spellings of all vendors", () => {
  const wordFor = (inputType: string) => encode("cohere-embed", request({ inputType })).body.input_type;
  for (const word of ["query", "search_query", "RETRIEVAL_QUERY"]) expect(wordFor(word)).toBe("search_query");
  for (const word of ["document", "passage", "search_document", "RETRIEVAL_DOCUMENT"])
    expect(wordFor(word)).toBe("search_document");
  expect(wordFor("CLUSTERING")).toBe("clustering");
  // Without a word, and without one that Cohere has: the texts are to be found later.
  expect(wordFor("SEMANTIC_SIMILARITY")).toBe("search_document");
});

describe("vectors and token counts of each dialect", () => {
  const counted = { "x-amzn-bedrock-input-token-count": "7" };
  const cases: [
    about: string,
    id: string,
    body: JsonObject,
    headers: Record<string, string>,
    tokens?: number,
  ][] = [
    [
      "OpenAI, out of order",
      "embeddings",
      {
        data: [
          { index: 1, embedding: [3, 4] },
          { index: 0, embedding: [1, 2] },
        ],
        usage: { prompt_tokens: 7, total_tokens: 7 },
      },
      {},
      7,
    ],
    [
      "Voyage, whose count is a total",
      "embeddings",
      { data: [{ embedding: [1, 2] }, { embedding: [3, 4] }], usage: { total_tokens: 7 } },
      {},
      7,
    ],
    [
      "Cohere",
      "cohere-embed",
      {
        embeddings: {
          float: [
            [1, 2],
            [3, 4],
          ],
        },
        meta: { billed_units: { input_tokens: 7 } },
      },
      {},
      7,
    ],
    [
      "Cohere in Bedrock",
      "cohere-invoke",
      {
        embeddings: [
          [1, 2],
          [3, 4],
        ],
      },
      counted,
      7,
    ],
    [
      "Gemini, which counts nothing",
      "gemini-embed",
      { embeddings: [{ values: [1, 2] }, { values: [3, 4] }] },
      {},
    ],
    [
      "Vertex",
      "vertex-predict",
      {
        predictions: [
          { embeddings: { values: [1, 2], statistics: { token_count: 3 } } },
          { embeddings: { values: [3, 4], statistics: { token_count: 4 } } },
        ],
      },
      {},
      7,
    ],
  ];
  for (const [about, id, body, headers, tokens] of cases)
    test(`synthetic: ${about}`, () => {
      const answer = dialectOf(id).readAnswer(body, new Headers(headers), { path: "/" })!;
      expect(answer.vectors.map((vector) => Array.from(vector))).toEqual([
        [1, 2],
        [3, 4],
      ]);
      expect(answer.usage?.input).toBe(tokens!);
    });

  test("Titan and Nova, one text each", () => {
    const read = (id: string, body: JsonObject) =>
      dialectOf(id).readAnswer(body, new Headers(counted), { path: "/" });
    expect(read("titan-embed", { embedding: [1, 2], inputTextTokenCount: 5 })).toEqual({
      vectors: [[1, 2]],
      usage: { input: 5 },
    });
    expect(read("nova-embed", { embeddings: [{ embeddingType: "TEXT", embedding: [1, 2] }] })).toEqual({
      vectors: [[1, 2]],
      usage: { input: 7 },
    });
  });
});

test("an answer of another shape is no answer of a dialect", () => {
  const wrong: JsonObject[] = [
    {},
    { data: null },
    { data: [1] },
    { data: [{ index: 0, embedding: [1, null] }] },
    { data: [{ index: 0, embedding: "AAA" }] },
    { embeddings: "none", embedding: {} },
    { embeddings: [{ values: null }], predictions: [{ embeddings: null }] },
  ];
  for (const { id, readAnswer } of dialects)
    for (const body of wrong)
      expect([id, body, readAnswer(body, new Headers(), { path: "/" })]).toEqual([id, body, undefined]);
});

describe("an answer that passes is observed without its vectors", () => {
  const observe = (text: string) => dialectOf("embeddings").native!.observe(Buffer.from(text));
  test("vectors are counted where they begin, whatever the spacing and the order of members", () => {
    const spaced =
      '{"usage" : {"total_tokens":4}, "data": [ {"embedding" :\n [1], "object":"embedding"},{"object": "embedding","embedding":[2]} ]}';
    expect(observe(spaced)).toMatchObject({ count: 2, encoding: "float", usage: { input: 4 } });
    expect(observe(spaced.replace("{", '{"a":1,'))).toHaveProperty("completed.usage.prompt_tokens", 4);
    const whole = observe('{"data":[],"usage":{"prompt_tokens":4,"total_tokens":4,"cost":1}}');
    expect(whole).not.toHaveProperty("completed");
    expect(observe('{"data":[{"embedding":"AAAA"}]}')).toEqual({ count: 1, encoding: "base64" });
  });
  test("two encodings, an error and what is no object are no answer", () => {
    for (const text of [
      '{"data":[{"embedding":"AA"},{"embedding":[1]}]}',
      '{"data":[],"error":{}}',
      "[]",
      "",
      "{",
    ])
      expect([text, observe(text)]).toEqual([text, undefined]);
  });
});
