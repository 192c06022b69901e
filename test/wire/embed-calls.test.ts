/** What holds for every call holds for embeddings: timeouts, concurrency limits, weights, masking. */
import { expect, test } from "bun:test";
import { askEmbeddings, embeddingHost, embeds, lastLine, makeEmbeddingStage } from "../helpers/embedding.ts";
import { json, silence } from "../helpers/upstream.ts";

const { upstream, gateway } = makeEmbeddingStage();

const KEY = "canary-0123456789abcdef";

test("a host that is silent is left after its timeout, in both lanes", async () => {
  const host = upstream(silence);
  for (const maxInputs of [1, 9]) {
    const running = await gateway({
      ...embeddingHost(host.url, { maxInputs }),
      timeouts: { firstByteMs: 400, totalMs: 1500 },
      retries: { attempts: 1 },
    });
    const { status, body } = await askEmbeddings(running.url, { model: "host/m", input: ["a", "b"] });
    expect([status, body.error!.code]).toEqual([504, "timeout"]);
    await host.quiet();
  }
});

test("a host that is gone is a 502, and one that is at its limit of concurrent calls a 503", async () => {
  const gone = await gateway({ ...embeddingHost("http://127.0.0.1:1"), retries: { attempts: 1 } });
  const unreachable = await askEmbeddings(gone.url, { model: "host/m", input: "a" });
  expect([unreachable.status, unreachable.body.error!.code]).toEqual([502, "upstream_unreachable"]);

  const release = Promise.withResolvers<void>();
  const host = upstream(async (request) => {
    await release.promise;
    return embeds()(request);
  });
  const config = embeddingHost(host.url);
  Object.assign(config.providers.host as object, { concurrency: 1 });
  const running = await gateway({ ...config, retries: { attempts: 1 } });
  const first = askEmbeddings(running.url, { model: "host/m", input: "a" });
  await host.arrived(1);
  const second = await askEmbeddings(running.url, { model: "host/m", input: "a" });
  expect([second.status, second.body.error!.code]).toEqual([503, "no_capacity"]);
  release.resolve();
  expect((await first).status).toBe(200);
  expect((await askEmbeddings(running.url, { model: "host/m", input: "a" })).status).toBe(200);
});

test("deployments of equal weight share the calls, and equal texts do not stay at one of them", async () => {
  const hosts = [upstream(embeds()), upstream(embeds())];
  const deployments = hosts.map(({ url }, at) => ({ name: `d${at}`, baseUrl: `${url}/v1` }));
  const { url } = await gateway({ providers: { openai: { apiKey: KEY, deployments } } });
  for (let call = 0; call < 40; call++)
    await askEmbeddings(url, { model: "text-embedding-3-small", input: "the same" });
  for (const { requests } of hosts) expect(requests.length).toBeGreaterThan(5);
});

test("the provider's key reaches the provider alone, and the client's key does not", async () => {
  const host = upstream(() => json({ error: { message: `bad key ${KEY}` } }, 400));
  const running = await gateway({ providers: { openai: { apiKey: KEY, baseUrl: `${host.url}/v1` } } });
  const authorization = "Bearer client-key-0123456789";
  const got = await askEmbeddings(
    running.url,
    { model: "text-embedding-3-small", input: "a" },
    { authorization },
  );
  expect(host.requests[0]!.headers.get("authorization")).toBe(`Bearer ${KEY}`);
  expect([got.status, got.text.includes(KEY)]).toEqual([400, false]);
  await lastLine(running);
  expect(running.log.join("\n")).not.toContain(KEY);
});

test("a redirect and a page instead of an answer are failures of the provider", async () => {
  const host = upstream(() => ({ status: 302, headers: { location: "http://127.0.0.1:1/" } }));
  const running = await gateway({ ...embeddingHost(host.url, { maxInputs: 1 }), retries: { attempts: 1 } });
  const redirected = await askEmbeddings(running.url, { model: "host/m", input: ["a", "b"] });
  expect([redirected.status, redirected.body.error!.code]).toEqual([502, "upstream_redirect"]);
  host.answer(() => ({ status: 200, headers: { "content-type": "text/html" }, body: "<html>" }));
  const page = await askEmbeddings(running.url, { model: "host/m", input: ["a", "b"] });
  expect([page.status, page.body.error!.code]).toEqual([502, "upstream_invalid_answer"]);
});

test("a text that is no valid Unicode, and a body that breaks off, do not disturb later calls", async () => {
  const host = upstream(embeds());
  const { url } = await gateway({ ...embeddingHost(host.url, { maxInputs: 1 }) });
  const lone = await askEmbeddings(url, '{"model":"host/m","input":["\\ud800","b"]}');
  expect(lone.status).toBe(200);
  const broken = await askEmbeddings(url, '{"model":"host/m","input":["a"');
  expect(broken.status).toBe(400);
  expect((await askEmbeddings(url, { model: "host/m", input: "a" })).status).toBe(200);
});

test("an answer with as many vectors as a request may have passes, although it is larger than any text", async () => {
  const vector = `[${Array.from({ length: 1536 }, (_, at) => (at / 7919).toFixed(12)).join(",")}]`;
  const data = Array.from(
    { length: 2048 },
    (_, at) => `{"object":"embedding","index":${at},"embedding":${vector}}`,
  );
  const text = `{"object":"list","data":[${data.join(",")}],"usage":{"prompt_tokens":9}}`;
  expect(text.length).toBeGreaterThan(32 * 1024 * 1024);
  const host = upstream(() => ({ headers: { "content-type": "application/json" }, body: text }));
  const running = await gateway(embeddingHost(host.url));
  const response = await fetch(`${running.url}/v1/embeddings`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "host/m", input: data.map(() => "a") }),
  });
  expect([response.status, (await response.text()) === text]).toEqual([200, true]);
  expect(await lastLine(running)).toMatchObject({ tokens: { input: 9 } });
}, 60_000);
