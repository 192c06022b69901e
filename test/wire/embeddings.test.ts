/** Embeddings over real sockets, with OpenAI's SDK: encodings, batches, errors, and what no provider may answer instead. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type OpenAI from "openai";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { openaiClient, seeError } from "../helpers/sdk.ts";
import { type Handler, json, startUpstream, type Upstream } from "../helpers/upstream.ts";

const upstreams: Upstream[] = [];
const gateways: RunningGateway[] = [];

function upstream(handler: Handler): Upstream {
  const started = startUpstream(handler);
  upstreams.push(started);
  return started;
}

async function gateway(config: Record<string, unknown>): Promise<RunningGateway> {
  const started = await startGateway({ config });
  gateways.push(started);
  return started;
}

afterAll(async () => {
  for (const running of gateways) await running.stop();
  for (const running of upstreams) running.stop();
});

interface EmbeddingsBody {
  model: string;
  input: unknown[];
  encoding_format?: string;
  dimensions?: number;
}

const bodyOf = (request: { body: Uint8Array }) =>
  JSON.parse(Buffer.from(request.body).toString()) as EmbeddingsBody;

/** Values that a 32-bit float holds only roughly. */
const vectorFor = (text: unknown) => {
  const seed = typeof text === "string" ? Number(text.replace(/\D/g, "")) || text.length : 7;
  return [seed / 3, -0.1 * seed, 1e-7 * seed];
};

const base64 = (vector: number[]) => Buffer.from(Float32Array.from(vector).buffer).toString("base64");

/** Answers as OpenAI does; the vectors come in the reverse order, with their index. */
function answering(encoding: "asked" | "float" | "base64" = "asked"): Handler {
  return (request) => {
    const { input, model, encoding_format } = bodyOf(request);
    const inputs = Array.isArray(input) ? input : [input];
    const isBase64 = encoding === "asked" ? encoding_format === "base64" : encoding === "base64";
    const data = inputs
      .map((text, index) => {
        const vector = vectorFor(text);
        return { object: "embedding", index, embedding: isBase64 ? base64(vector) : vector };
      })
      .reverse();
    const tokens = 2 * inputs.length;
    return json({ object: "list", data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } });
  };
}

/** A host of the config, with what it can do. */
const host = (url: string, endpoint: object = {}) => ({
  providers: { host: { baseUrl: `${url}/v1`, embeds: { embeddings: { path: "/embeddings", ...endpoint } } } },
});

function isNear(found: readonly number[], wanted: readonly number[]): void {
  expect(found.length).toBe(wanted.length);
  found.forEach((value, at) =>
    expect(Math.abs(value - wanted[at]!)).toBeLessThan(1e-7 * Math.max(1, Math.abs(wanted[at]!))),
  );
}

/** The fields of the last log line of a call. */
async function lastLine({ log }: RunningGateway): Promise<Record<string, unknown>> {
  await Bun.sleep(80);
  const lines = log.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as object);
  return lines.findLast((line) => "outcome" in line) as Record<string, unknown>;
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
    expect(
      (await openai.embeddings.create({ model: "mock/embed", input: "" })).data[0]!.embedding,
    ).toHaveLength(256);
  });

  test("fails here as its failing models fail for chats", async () => {
    const error = await seeError(() => openai.embeddings.create({ model: "mock/error-429", input: "hi" }));
    expect([error.class, error.code]).toEqual(["RateLimitError", "rate_limit_exceeded"]);
    expect((await seeError(() => openai.embeddings.create({ model: "mock/chat", input: "hi" }))).status).toBe(
      404,
    );
    const chat = () =>
      openai.chat.completions.create({ model: "mock/embed", messages: [{ role: "user", content: "hi" }] });
    expect((await seeError(chat)).message).toContain("only embeds");
  });
});

describe("a host of OpenAI's dialect", () => {
  test("gets the client's bytes with its own name of the model, and the client gets the host's", async () => {
    const text =
      '{ "object":"list", "data":[{"object":"embedding","index":0,"embedding":[0.1, 0.25]}],\n"model":"m", "usage":{"prompt_tokens":3,"total_tokens":3}, "own": 1}';
    const own = upstream(() => ({
      headers: { "content-type": "application/json", "x-ratelimit-limit-requests": "9" },
      body: text,
    }));
    const running = await gateway(host(own.url));
    const sent = '{"input" : "hi\\u0021",  "model":"host/m", "vendor_option": {"a": [1]}}';
    const response = await fetch(`${running.url}/v1/embeddings`, {
      method: "POST",
      headers: { "content-type": "application/json", connection: "close" },
      body: sent,
    });
    expect(await response.text()).toBe(text);
    expect(response.headers.get("x-weir-lane")).toBe("native");
    expect(response.headers.get("x-ratelimit-limit-requests")).toBe("9");
    expect(Buffer.from(own.requests[0]!.body).toString()).toBe(sent.replace("host/m", "m"));
    expect(own.requests[0]!.path).toBe("/v1/embeddings");
    expect(await lastLine(running)).toMatchObject({
      format: "embeddings",
      model: "host/m",
      provider: "host",
      lane: "native",
      outcome: "complete",
      tokens: { input: 3, output: 0, known: "final" },
    });
  });
});
