/** What weir keeps or says beside an answer has tokens: errors that repeat the prompt, captures, tapes, plugins, metrics, the log. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { type RunningBooks, startBooks } from "../../../../test/books/running.ts";
import { APIS, EMAIL, SPOKEN } from "../../../../test/helpers/guarded.ts";
import { json, sse, startUpstream, type Upstream } from "../../../../test/helpers/upstream.ts";

setDefaultTimeout(60_000);

/** Throws what it sees of a prompt. */
const THROWING = `export default {
  name: "throwing",
  hooks: {
    request(request, call) {
      if (!call.model.endsWith("/throws")) return;
      throw new Error("the plugin cannot read " + JSON.stringify(request.messages));
    },
  },
};`;

let weir: RunningBooks;
const upstreams: Upstream[] = [];

/** What providers say of a prompt that they refuse. */
const refusal = (body: string) => {
  const message = `Invalid value: ${/[\w.]*(PII_EMAIL_[a-z2-7]{8}|anna@[\w.]+)/.exec(body)?.[0]} is not allowed.`;
  return {
    type: "error",
    error: { type: "invalid_request_error", message, code: 400, status: "INVALID_ARGUMENT" },
  };
};

beforeAll(async () => {
  const providers = Object.keys(SPOKEN).map((format) => {
    const upstream = startUpstream(({ body }) => {
      const text = body.toString();
      if (format === "chat-completions" && text.includes('"broken"'))
        return sse([
          'data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Well"}}]}\n\n',
          `data: ${JSON.stringify({ error: refusal(text).error })}\n\n`,
        ]);
      return json(refusal(text), 400);
    });
    upstreams.push(upstream);
    const baseUrl = format === "messages" ? upstream.url : `${upstream.url}/v1`;
    const models = ["m", "throws", "broken"];
    return [`p-${format}`, { speaks: format, baseUrl, apiKey: "k-1234567", models }] as const;
  });
  weir = await startBooks({
    workers: 1,
    plugins: { "throwing.ts": THROWING },
    config: {
      providers: Object.fromEntries(providers),
      guards: { pii: { find: ["email", "card"], do: "replace" } },
      capture: { share: 1 },
      retries: { attempts: 1 },
      circuitBreaker: { enabled: false },
      log: { format: "json" },
    },
  });
});
afterAll(async () => {
  await weir.end();
  for (const upstream of upstreams) upstream.stop();
});

async function ask(format: string, model: string, stream: boolean) {
  const { path, body } = APIS[format]!;
  const response = await fetch(weir.url + path(model, stream), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body(model, stream, `Write to ${EMAIL}`)),
  });
  return { status: response.status, text: await bodyOf(response) };
}

/** Also what came before the connection broke off: an error in a stream ends it. */
async function bodyOf(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const chunk of response.body!) text += decoder.decode(chunk as Uint8Array, { stream: true });
  } catch {
    // The end is missing.
  }
  return text;
}

describe("an error of a provider that repeats the prompt has the client's values, and only for the client", () => {
  for (const format of Object.keys(APIS))
    for (const spoken of Object.keys(SPOKEN))
      test(`${format} to ${spoken}`, async () => {
        for (const stream of [false, true]) {
          const { status, text } = await ask(format, `p-${spoken}/m`, stream);
          expect([stream, status, status >= 400 || text]).toEqual([stream, 400, true]);
          expect(text).toContain(`Invalid value: ${EMAIL} is not allowed.`);
          expect(text).not.toContain("PII_EMAIL");
        }
      });
});

test("an error within a stream has the client's values, too", async () => {
  for (const format of ["chat-completions", "messages", "responses"]) {
    const { text } = await ask(format, "p-chat-completions/broken", true);
    expect([format, text]).toEqual([format, expect.stringContaining("Invalid value")]);
    expect([format, text.includes(EMAIL), text.includes("PII_EMAIL")]).toEqual([format, true, false]);
  }
});

test("what a plugin throws has no value for anybody but the client", async () => {
  const { status } = await ask("chat-completions", "p-messages/throws", false);
  expect(status).toBeGreaterThanOrEqual(400);
});

test("no log line, record, capture, file of the state or metric has a value", async () => {
  for (let tries = 0; tries < 100; tries++) {
    const text = weir.log.join("\n");
    if (text.includes("PII_EMAIL_") && text.includes("the plugin cannot read")) break;
    await Bun.sleep(50);
  }
  const log = weir.log.join("\n");
  expect(log).toContain("Invalid value: PII_EMAIL_");
  expect(log).not.toContain(EMAIL);
  const metrics = await (await fetch(`${weir.admin.url}/metrics`)).text();
  expect(metrics).toContain("weir_guard_verdicts_total");
  expect(metrics).not.toContain(EMAIL);
  const { calls } = await weir.api.send<{ calls: { id: string }[] }>("GET", "/calls?limit=50");
  expect(calls.length).toBeGreaterThan(20);
  let kept = 0;
  for (const { id } of calls) {
    const entry = JSON.stringify(await weir.api.send("GET", `/calls/${id}`));
    const body = JSON.stringify(await weir.api.send("GET", `/calls/${id}/body`).catch(() => ""));
    kept += body.includes("PII_EMAIL") ? 1 : 0;
    expect([id, entry.includes(EMAIL), body.includes(EMAIL)]).toEqual([id, false, false]);
  }
  expect(kept).toBeGreaterThan(20);
  const files = await Bun.$`grep -rlE "anna@example|anna%40example" ${weir.state} ${join(weir.folder, "run")}`
    .nothrow()
    .text();
  expect(files).toBe("");
});
