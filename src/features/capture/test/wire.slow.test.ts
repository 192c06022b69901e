/** What weir sent on for a captured call, and what the provider answered: kept where it differs, masked, and never without capture. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { until } from "../../../../test/helpers/serving.ts";
import { type RunningBooks, startBooks } from "../../../../test/books/running.ts";
import type { CapturedCall } from "../contracts.ts";

setDefaultTimeout(120_000);

const VENDOR_KEY = "sk-vendor-0123456789abcdef0123";
const SPLIT = ["Take sk-proj-", "pastedpasted", "pasted0123456789 along"];

let books: RunningBooks;
let vendor: Bun.Server<undefined>;
/** What the vendor answers next. */
let next: (body: Record<string, unknown>) => Response;

const event = (data: unknown) => `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
const chunk = (content: string, finish: string | null = null) =>
  event({
    ...{ id: "c1", object: "chat.completion.chunk", created: 1, model: "m" },
    choices: [{ index: 0, delta: { content }, finish_reason: finish }],
  });
const stream = (texts: readonly string[]) =>
  new Response(texts.map((text) => chunk(text)).join("") + chunk("", "stop") + event("[DONE]"), {
    headers: { "content-type": "text/event-stream" },
  });

beforeAll(async () => {
  vendor = Bun.serve({
    port: 0,
    fetch: async (request) => next((await request.json()) as Record<string, unknown>),
  });
  books = await startBooks({
    workers: 1,
    env: { VENDOR_KEY },
    config: {
      capture: { share: 1 },
      providers: {
        vendor: {
          ...{
            speaks: "chat-completions",
            baseUrl: `http://127.0.0.1:${vendor.port}/v1`,
            apiKey: "VENDOR_KEY",
          },
          models: ["m"],
        },
      },
      retries: { attempts: 1 },
    },
  });
});
afterAll(async () => {
  await books.end();
  await vendor.stop(true);
});

async function captured(path: string, body: object, headers: Record<string, string> = {}) {
  const response = await fetch(books.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ model: "vendor/m", ...body }),
  });
  await response.text();
  const id = response.headers.get("x-request-id")!;
  let call: CapturedCall | undefined;
  await until(
    async () =>
      (call = await books.api.send<CapturedCall>("GET", `/calls/${id}/body`).catch(() => undefined)) !==
      undefined,
  );
  return call!;
}

const JSON_ANSWER = {
  ...{ id: "c1", object: "chat.completion", created: 1, model: "m" },
  choices: [
    { index: 0, message: { role: "assistant", content: `Your key is ${VENDOR_KEY}` }, finish_reason: "stop" },
  ],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};
const user = { messages: [{ role: "user", content: "Hello" }] };

test("change 10: a translated call has the body as sent on and the provider's answer, without credentials", async () => {
  next = () => Response.json(JSON_ANSWER);
  const call = await captured("/v1/messages", { max_tokens: 5, ...user });
  expect(call.wire).toMatchObject({ format: "chat-completions", status: 200 });
  expect(call.wire!.url).toEndWith("/v1/chat/completions");
  expect(JSON.parse(call.wire!.request!)).toMatchObject({ model: "m", messages: [{ content: "Hello" }] });
  expect(JSON.parse(call.wire!.answer!)).toMatchObject({ object: "chat.completion" });
  expect(JSON.stringify(call)).not.toContain(VENDOR_KEY);
});

test("change 10: what is as the client sent or got it is not kept twice", async () => {
  next = () => Response.json({ ...JSON_ANSWER, choices: [] });
  const call = await captured("/v1/chat/completions", { ...user, model: "vendor/m" });
  expect(call.wire).not.toHaveProperty("answer");
  expect(JSON.parse(call.wire!.request!)).toMatchObject({ model: "m" });
});

test("change 10: streams, translated, with the events of the provider", async () => {
  next = () => stream(["Hel", "lo"]);
  const call = await captured("/v1/messages", { max_tokens: 5, stream: true, ...user });
  expect(call.wire!.answer).toContain("chat.completion.chunk");
  expect(call.answer).toContain("content_block_delta");
});

test("change 10: a stream whose events share a credential is not kept as the provider sent it", async () => {
  next = () => stream(SPLIT);
  for (const path of ["/v1/messages", "/v1/chat/completions"]) {
    const call = await captured(path, { max_tokens: 5, stream: true, ...user });
    expect([path, call.wire!.isHidden, call.wire!.answer]).toEqual([path, true, undefined]);
    expect(JSON.stringify(call)).not.toContain("pastedpasted");
  }
});

test("change 10: the error of a provider is kept as it came, whatever its type", async () => {
  next = () =>
    new Response("<h1>Bad gateway</h1>", { status: 502, headers: { "content-type": "text/html" } });
  const call = await captured("/v1/chat/completions", user);
  expect(call.wire).toMatchObject({ status: 502, answer: "<h1>Bad gateway</h1>" });
});

test("change 10: headers of the client that change the meaning are kept, and images as digests are said", async () => {
  next = () => Response.json(JSON_ANSWER);
  const headers = { "anthropic-beta": "tools-2", "x-weir-strict": "false", "x-other": "no", cookie: "a=b" };
  const call = await captured("/v1/messages", { max_tokens: 5, ...user }, headers);
  expect(call.asked).toMatchObject({ "anthropic-beta": "tools-2" });
  expect(Object.keys(call.asked!)).not.toContain("x-other");
  expect(Object.keys(call.asked!)).not.toContain("cookie");
  expect(call).not.toHaveProperty("replaced");
});
