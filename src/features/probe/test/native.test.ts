/** Clients of the host's own format, with traits in the config: bytes that no trait is about stay, and strict mode refuses losses. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";
import { json, startUpstream, type Upstream } from "../../../../test/helpers/upstream.ts";

setDefaultTimeout(120_000);

const ANSWER = {
  id: "c1",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
};

let gateway: RunningGateway;
let upstream: Upstream;

beforeAll(async () => {
  upstream = startUpstream(json(ANSWER));
  const host = { baseUrl: `${upstream.url}/v1`, speaks: "chat-completions", models: ["m"] };
  gateway = await startGateway({
    config: {
      providers: {
        fitted: { ...host, traits: { images: false, n: false, maxStop: 1, systemPlacement: "first-only" } },
        partly: { ...host, modelTraits: [{ models: ["blind"], traits: { images: false } }] },
        plain: host,
      },
    },
  });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

async function send(body: string, headers: Record<string, string> = {}) {
  const before = upstream.requests.length;
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
  });
  const answer = (await response.json()) as { error?: { code: string } };
  const sent = upstream.requests[before]?.body.toString();
  return { status: response.status, answer, sent, warnings: response.headers.get("x-weir-warnings") };
}

const IMAGE = '{"type":"image_url","image_url":{"url":"https://x.test/a.png"}}';

test("a request that the host takes is sent byte for byte", async () => {
  const body = (model: string) =>
    `{ "model":"${model}" ,"temperature":1.0,"messages":[ {"role":"system","content":"\\u0041"},{"role":"user","content":"b"}],"x":1e2 }`;
  for (const provider of ["fitted", "partly", "plain"]) {
    const { sent, warnings } = await send(body(`${provider}/m`));
    expect(sent).toBe(body("m"));
    expect(warnings).toBe(null);
  }
});

test("only the members that a trait is about change", async () => {
  const { sent, warnings } = await send(
    '{"model":"fitted/m","n":2,"seed":7.0,"messages":[{"role":"user","content":"b"}]}',
  );
  expect(sent).toBe('{"model":"m","seed":7.0,"messages":[{"role":"user","content":"b"}]}');
  expect(warnings).toBe("dropped:n");
});

test("traits of some models change no request for others", async () => {
  const body = (model: string) => `{"model":"${model}","messages":[{"role":"user","content":[${IMAGE}]}]}`;
  expect((await send(body("partly/m"))).sent).toBe(body("m"));
  expect(await send(body("partly/blind"))).toMatchObject({
    sent: '{"model":"blind","messages":[{"role":"user","content":[{"type":"text","text":"[image omitted]"}]}]}',
    warnings: "dropped:messages[0].content[0]",
  });
});

test("strict mode refuses a loss, and sends nothing", async () => {
  const body = `{"model":"fitted/m","messages":[{"role":"user","content":[${IMAGE}]}]}`;
  const { status, answer, sent } = await send(body, { "x-weir-strict": "true" });
  expect([status, answer.error?.code, sent]).toEqual([400, "lossy_translation", undefined]);
});

test("strict mode takes what keeps its meaning", async () => {
  const body =
    '{"model":"fitted/m","messages":[{"role":"user","content":"a"},{"role":"system","content":"b"}]}';
  expect((await send(body, { "x-weir-strict": "true" })).status).toBe(200);
});
