/**
 * Tokens of a caller are the same in every turn, on each of four workers, and after a restart; those of two callers differ. A process
 * that is killed while it holds an answer back has given nothing of it.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serve, type Serving, until } from "../../../../test/helpers/serving.ts";
import { textOfFile } from "../prove/files.ts";

setDefaultTimeout(180_000);

const EMAIL = "anna@example.com";
const TOKEN = /PII_EMAIL_[a-z2-7]{8}/g;
const state = mkdtempSync(join(tmpdir(), "weir-guards-tokens-"));
const bodies: string[] = [];
const SECRET_WORD = "held-back-4711";

/** The answer of the model `held` begins and does not end. */
const upstream = Bun.serve({
  port: 0,
  idleTimeout: 60,
  async fetch(request) {
    const body = await request.text();
    bodies.push(body);
    if (body.includes('"held"')) {
      const event = {
        id: "a",
        object: "chat.completion.chunk",
        created: 1,
        model: "m",
        choices: [{ index: 0, delta: { content: SECRET_WORD }, finish_reason: null }],
      };
      const stream = new ReadableStream({
        start: (controller) => void controller.enqueue(Buffer.from(`data: ${JSON.stringify(event)}\n\n`)),
      });
      return new Response(stream, { headers: { "content-type": "text/event-stream" } });
    }
    const choice = {
      index: 0,
      message: { role: "assistant", content: body.match(TOKEN)?.join(" ") ?? "ok" },
      finish_reason: "stop",
    };
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    return Response.json({
      id: "a",
      object: "chat.completion",
      created: 1,
      model: "m",
      choices: [choice],
      usage,
    });
  },
});

const CONFIG = JSON.stringify({
  keys: [
    { name: "one", key: "weir-planted-key-one-1", path: "/one" },
    { name: "two", key: "weir-planted-key-two-2", path: "/two" },
  ],
  providers: {
    p: {
      speaks: "chat-completions",
      baseUrl: `http://127.0.0.1:${upstream.port}/v1`,
      apiKey: "k-1234567",
      models: ["m", "held"],
    },
  },
  guards: {
    pii: { find: ["email"], do: "replace", models: ["*/m"] },
    hold: { find: ["card"], do: "block", mode: "hold", on: ["output"], models: ["*/held"] },
  },
  log: { format: "json" },
});

const start = (workers: number) => serve({ config: CONFIG, workers, env: { WEIR_STATE: state } });
let gateway: Serving;
beforeAll(async () => void (gateway = await start(4)));
afterAll(async () => {
  await gateway.end();
  await upstream.stop(true);
  rmSync(state, { recursive: true, force: true });
});

async function ask(key: "one-1" | "two-2", ...contents: string[]): Promise<string> {
  const messages = contents.map((content, at) => ({ role: at % 2 ? "assistant" : "user", content }));
  // Each connection comes to a worker of its own.
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      connection: "close",
      authorization: `Bearer weir-planted-key-${key}`,
    },
    body: JSON.stringify({ model: "p/m", messages }),
  });
  return response.text();
}

const tokens = () => [...new Set(bodies.join("\n").match(TOKEN))];

test("one token on all workers and in all turns, and after a restart", async () => {
  await Promise.all(Array.from({ length: 60 }, () => ask("one-1", `to ${EMAIL}`)));
  expect(tokens()).toHaveLength(1);
  const turns: string[] = [];
  bodies.length = 0;
  for (let turn = 0; turn < 10; turn++) {
    turns.push(`${turn}: ${EMAIL}, x${turn}@example.com`, "ok");
    await ask("one-1", ...turns.slice(0, -1));
  }
  for (const [at, body] of bodies.slice(1).entries())
    expect(body).toStartWith(bodies[at]!.replace(/\]\}$/, ""));
  const before = tokens();
  gateway.signal("SIGTERM");
  await gateway.exited;
  await gateway.end();
  gateway = await start(2);
  bodies.length = 0;
  await ask("one-1", ...turns.slice(0, -1));
  expect(tokens()).toEqual(before);
});

test("two callers with the same value have two tokens, and one's is nothing to the other", async () => {
  bodies.length = 0;
  await ask("one-1", EMAIL);
  const [first] = tokens();
  bodies.length = 0;
  const text = await ask("two-2", `${EMAIL} and ${first}`);
  expect(tokens()).toHaveLength(2);
  expect(text).toContain(first!);
  expect(text).toContain(EMAIL);
});

test("a process that is killed while it holds an answer has given nothing of it", async () => {
  let got = "";
  const reading = fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer weir-planted-key-one-1" },
    body: JSON.stringify({ model: "p/held", stream: true, messages: [{ role: "user", content: "held" }] }),
  })
    .then(async (response) => {
      for await (const piece of response.body!) got += Buffer.from(piece as Uint8Array).toString();
    })
    .catch(() => {});
  expect(await until(() => bodies.some((body) => body.includes('"held"')), 20_000)).toBe(true);
  await Bun.sleep(500);
  for (const worker of gateway.workers()) process.kill(worker, "SIGKILL");
  await reading;
  expect(got).not.toContain(SECRET_WORD);
  gateway.signal("SIGTERM");
  await gateway.exited;
  expect(await textOfFile(join(state, "weir.db"))).toContain("held");
});
