/** Lists of texts that are longer than a host accepts, and calls for embeddings that fail and are repeated. */
import { expect, test } from "bun:test";
import type { JsonObject } from "../../src/core/json.ts";
import {
  askEmbeddings,
  bodyOf,
  embeddingHost,
  embeds,
  lastLine,
  makeEmbeddingStage,
  vectorFor,
} from "../helpers/embedding.ts";
import { json, silence, until } from "../helpers/upstream.ts";

const { upstream, gateway } = makeEmbeddingStage();

const texts = (count: number) => Array.from({ length: count }, (_, at) => `text ${at + 1}`);

function expectInOrder(
  data: readonly { index: number; embedding: number[] }[],
  input: readonly string[],
): void {
  expect(data.map(({ index }) => index)).toEqual(input.map((_, at) => at));
  data.forEach(({ embedding }, at) => expect(embedding[0]).toBeCloseTo(vectorFor(input[at])[0]!, 4));
}

/** Fails as a host that is overloaded. */
const OVERLOADED = json({ error: { message: "overloaded", type: "server_error" } }, 503);

test("a long list is split at the limit of the host and joined in order, with the tokens of all parts", async () => {
  const host = upstream(embeds());
  const running = await gateway(embeddingHost(host.url, { maxInputs: 96 }));
  const input = texts(1000);
  const { body, headers } = await askEmbeddings(running.url, { model: "host/m", input, dimensions: 3 });
  expectInOrder(body.data!, input);
  expect(body.usage).toEqual({ prompt_tokens: 2000, total_tokens: 2000 });
  expect(host.requests.length).toBe(11);
  const sizes = host.requests.map((request) => bodyOf(request).input.length);
  expect(sizes.sort((a, b) => a - b)).toEqual([40, ...Array.from({ length: 10 }, () => 96)]);
  for (const request of host.requests) expect(bodyOf(request)).toMatchObject({ model: "m", dimensions: 3 });
  expect(headers.get("x-weir-attempts")).toBeNull();
  expect(await lastLine(running)).toMatchObject({ outcome: "complete", tokens: { input: 2000 } });
});

test("a part carries members that only its host knows", async () => {
  const host = upstream(embeds());
  const { url } = await gateway(embeddingHost(host.url, { maxInputs: 1 }));
  await askEmbeddings(url, { model: "host/m", input: ["a", "b"], truncate: "END", user: "u" });
  for (const request of host.requests) expect(bodyOf(request)).toMatchObject({ truncate: "END", user: "u" });
});

test("at most eight requests of a call run at once", async () => {
  let open = 0;
  let most = 0;
  const answer = embeds();
  const host = upstream(async (request) => {
    most = Math.max(most, ++open);
    await Bun.sleep(5);
    open--;
    return answer(request);
  });
  const { url } = await gateway(embeddingHost(host.url, { maxInputs: 1 }));
  const { status } = await askEmbeddings(url, { model: "host/m", input: texts(40) });
  expect([status, most]).toEqual([200, 8]);
});

test("a part that the host refuses fails the call, in the client's dialect, and ends the others", async () => {
  const host = upstream((request) =>
    bodyOf(request).input.includes("text 3") ? json({ detail: "text 3 is not allowed" }, 400) : silence(),
  );
  const running = await gateway(embeddingHost(host.url, { maxInputs: 1 }));
  const { status, body } = await askEmbeddings(running.url, { model: "host/m", input: texts(20) });
  expect([status, body.error!.message]).toEqual([400, "text 3 is not allowed"]);
  expect(body.data).toBeUndefined();
  expect(host.requests.length).toBeLessThanOrEqual(8);
  await host.quiet();
});

test("a retry asks only for the vectors that are missing", async () => {
  const answer = embeds();
  let failures = 0;
  let answered = 0;
  const host = upstream(async (request) => {
    if (bodyOf(request).input.includes("text 5") && failures++ === 0) {
      await until(
        () => answered === 5,
        5_000,
        () => `${answered} other parts were answered`,
      );
      return OVERLOADED;
    }
    answered++;
    return answer(request);
  });
  const running = await gateway(embeddingHost(host.url, { maxInputs: 1 }));
  const input = texts(6);
  const { status, body, headers } = await askEmbeddings(running.url, { model: "host/m", input });
  expect(status).toBe(200);
  expectInOrder(body.data!, input);
  expect(body.usage).toEqual({ prompt_tokens: 12, total_tokens: 12 });
  expect(headers.get("x-weir-attempts")).toBe("2");
  expect(host.requests.map((request) => bodyOf(request).input[0]).sort()).toEqual(
    [...input, "text 5"].sort(),
  );
});

test("another deployment of the model takes over, and only its part of the tokens is its own", async () => {
  const answer = embeds();
  const failing = upstream((request) =>
    bodyOf(request).input.includes("text 2") ? OVERLOADED : answer(request),
  );
  const healthy = upstream(answer);
  const config = {
    providers: {
      openai: {
        apiKey: "sk-none",
        embeds: { embeddings: { path: "/embeddings", maxInputs: 1 } },
        deployments: [
          { name: "a", baseUrl: `${failing.url}/v1`, priority: 0 },
          { name: "b", baseUrl: `${healthy.url}/v1`, priority: 1 },
        ],
      },
    },
  };
  const running = await gateway(config);
  const { status, headers, body } = await askEmbeddings(running.url, {
    model: "text-embedding-3-small",
    input: texts(2),
  });
  expect([status, headers.get("x-weir-deployment")]).toEqual([200, "openai/b"]);
  expect(headers.get("x-weir-tried")).toMatch(/^openai\/a:503:\d+ms$/);
  expectInOrder(body.data!, texts(2));
});

test("fallbacks never answer for embeddings, because their vectors mean something else", async () => {
  const failing = upstream(() => OVERLOADED);
  const running = await gateway({
    ...embeddingHost(failing.url),
    fallbacks: { "host/m": ["mock/embed"], "*": ["mock/embed"] },
  });
  const { status, headers } = await askEmbeddings(running.url, { model: "host/m", input: "hi" });
  expect([status, headers.get("x-weir-provider")]).toEqual([503, "host"]);
  const { body } = await explained(running.url, { model: "host/m", input: "hi" });
  expect((body.plan as JsonObject[]).map(({ role }) => role)).toEqual(["target"]);
});

test("a circuit breaker opens for embeddings as for other calls", async () => {
  const failing = upstream(() => OVERLOADED);
  const running = await gateway({
    providers: {
      openai: { apiKey: "sk-none", baseUrl: `${failing.url}/v1` },
      host: { baseUrl: `${upstream(embeds()).url}/v1`, embeds: { embeddings: "/embeddings" } },
    },
    routes: { e: ["openai/text-embedding-3-small", { model: "host/m", priority: 1 }] },
  });
  for (let call = 0; call < 8; call++)
    expect((await askEmbeddings(running.url, { model: "e", input: "hi" })).status).toBe(200);
  const { headers } = await askEmbeddings(running.url, { model: "e", input: "hi" });
  expect(headers.get("x-weir-skipped")).toBe("openai");
});

test("vectors of different lengths fail the call", async () => {
  const host = upstream((request) => {
    const [text] = bodyOf(request).input;
    return json({ data: [{ index: 0, embedding: text === "a" ? [1, 2] : [1, 2, 3] }] });
  });
  const { url } = await gateway(embeddingHost(host.url, { maxInputs: 1 }));
  const { status, body } = await askEmbeddings(url, { model: "host/m", input: ["a", "b"] });
  expect([status, body.error!.message]).toEqual([
    502,
    "The provider host sent vectors of different lengths.",
  ]);
});

test("a client that leaves ends all requests of its call", async () => {
  const host = upstream(silence);
  const { url } = await gateway(embeddingHost(host.url, { maxInputs: 1 }));
  const leaving = new AbortController();
  const asking = fetch(`${url}/v1/embeddings`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "host/m", input: texts(20) }),
    signal: leaving.signal,
  }).catch(() => undefined);
  await host.arrived(8);
  leaving.abort();
  await asking;
  await host.quiet();
  expect(host.requests.length).toBe(8);
});

test("explain shows the first request and how many there would be", async () => {
  const { url } = await gateway(embeddingHost("http://127.0.0.1:9", { maxInputs: 2 }));
  const { status, body } = await explained(url, { model: "host/m", input: texts(5) });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    format: "embeddings",
    requests: 3,
    request: { body: { model: "m", input: texts(2) } },
  });
  const native = await explained(url, { model: "host/m", input: "hi" });
  expect(native.body).toMatchObject({ requests: 1, request: { changed: ["model"] } });
});

async function explained(url: string, body: JsonObject): Promise<{ status: number; body: JsonObject }> {
  const response = await fetch(`${url}/v1/explain?format=embeddings`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as JsonObject };
}
