/** A dropped plugin with a format of its own over JSON lines, over real sockets. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { anthropicClient, openaiClient } from "../helpers/sdk.ts";
import { readStreamed } from "../helpers/streamed.ts";
import { json, startUpstream, type Piece, type Upstream } from "../helpers/upstream.ts";

let gateway: RunningGateway;
let upstream: Upstream;

beforeAll(async () => {
  upstream = startUpstream(json({}));
  gateway = await startGateway({
    plugins: { "ndjson.ts": await Bun.file(join(import.meta.dir, "plugins/ndjson.ts")).text() },
    env: { NDJSON_HOST: `127.0.0.1:${upstream.port}` },
  });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const RECORDS = [
  { model: "m", message: { role: "assistant", content: "Grüße" }, done: false },
  { model: "m", message: { role: "assistant", content: " 😀" }, done: false },
  {
    ...{ model: "m", message: { role: "assistant", content: "" }, done: true, done_reason: "stop" },
    ...{ prompt_eval_count: 7, eval_count: 3 },
  },
];

const lines = (records: readonly object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join("");

function ndjson(body: Iterable<Piece>, ending: "whole" | "fin" | "rst" = "whole") {
  return {
    headers: { "content-type": "application/x-ndjson" },
    body,
    framing: "chunked" as const,
    ending,
  };
}

test("a JSON answer reaches clients of both formats", async () => {
  upstream.answer(() => json({ ...RECORDS[2], message: { role: "assistant", content: "Grüße 😀" } }));
  const chat = await openaiClient(gateway.url).chat.completions.create({
    model: "ndjson/m:7b",
    temperature: 0.5,
    messages: [{ role: "user", content: "hi" }],
  });
  expect(chat.choices[0]).toMatchObject({ finish_reason: "stop", message: { content: "Grüße 😀" } });
  expect(chat.usage).toMatchObject({ prompt_tokens: 7, completion_tokens: 3 });
  const request = upstream.requests.at(-1)!;
  expect([request.path, request.headers.get("accept")]).toEqual(["/api/chat", "application/json"]);
  expect(JSON.parse(request.body.toString())).toEqual({
    model: "m:7b",
    messages: [{ role: "user", content: "hi" }],
    options: { temperature: 0.5 },
    stream: false,
  });
  const message = await anthropicClient(gateway.url).messages.create({
    model: "ndjson/m",
    max_tokens: 9,
    messages: [{ role: "user", content: "hi" }],
  });
  expect(message).toMatchObject({ content: [{ text: "Grüße 😀" }], stop_reason: "end_turn" });
});

test("a stream reaches clients of both formats, wherever its bytes are cut", async () => {
  const bytes = Buffer.from(lines(RECORDS));
  for (const at of [
    1,
    40,
    bytes.indexOf("ü") + 1,
    bytes.indexOf("\n"),
    bytes.indexOf("\n") + 1,
    bytes.length - 1,
  ]) {
    upstream.answer(() => ndjson([bytes.subarray(0, at), { wait: 5 }, bytes.subarray(at)]));
    const message = await anthropicClient(gateway.url)
      .messages.stream({ model: "ndjson/m", max_tokens: 9, messages: [{ role: "user", content: "hi" }] })
      .finalMessage();
    expect(message).toMatchObject({ content: [{ text: "Grüße 😀" }], usage: { output_tokens: 3 } });
  }
  expect(upstream.requests.at(-1)!.headers.get("accept")).toBe("application/x-ndjson");
  const chunks = await openaiClient(gateway.url).chat.completions.create({
    model: "ndjson/m",
    stream: true,
    messages: [{ role: "user", content: "hi" }],
  });
  let said = "";
  for await (const { choices } of chunks) said += choices[0]?.delta.content ?? "";
  expect(said).toBe("Grüße 😀");
});

test("a tool call is one, and a dropped field is reported", async () => {
  const call = { function: { name: "weather", arguments: { city: "Köln" } } };
  upstream.answer(() => ndjson([lines([{ message: { tool_calls: [call] }, done: false }, RECORDS[2]!])]));
  const { data, response } = await openaiClient(gateway.url)
    .chat.completions.create({
      model: "ndjson/m",
      stream: true,
      tool_choice: "required",
      tools: [{ type: "function", function: { name: "weather", parameters: { type: "object" } } }],
      messages: [{ role: "user", content: "hi" }],
    })
    .withResponse();
  expect(response.headers.get("x-weir-warnings")).toContain("dropped:tool_choice");
  const chunks = await Array.fromAsync(data);
  const calls = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
  expect(calls[0]?.function?.name).toBe("weather");
  expect(calls.map((one) => one.function?.arguments ?? "").join("")).toBe('{"city":"Köln"}');
  expect(chunks.findLast(({ choices }) => choices[0]?.finish_reason)?.choices[0]?.finish_reason).toBe(
    "tool_calls",
  );
});

const streamed = async () => {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "ndjson/m", stream: true, messages: [{ role: "user", content: "hi" }] }),
  });
  return response.ok ? (await readStreamed(response, true)).text : response.text();
};

test("a stream that is cut, between lines or inside one, never looks complete", async () => {
  const whole = lines(RECORDS);
  const second = whole.indexOf("\n", whole.indexOf("\n") + 1) + 1;
  for (const length of [second, second + 10])
    for (const ending of ["fin", "rst", "whole"] as const) {
      upstream.answer(() => ndjson([whole.slice(0, length), { wait: 5 }], ending));
      const text = await streamed();
      expect([length, ending, text]).toEqual([length, ending, expect.stringContaining('"error"')]);
      expect(text).toContain("Grüße");
      expect(text).not.toContain("[DONE]");
    }
});

test("an error inside the stream and an error status reach the client", async () => {
  upstream.answer(() => ndjson([lines([RECORDS[0]!, { error: "out of memory" }])]));
  expect(await streamed()).toContain("out of memory");
  upstream.answer(() => json({ error: "model not found" }, 404));
  expect(await streamed()).toContain("model not found");
});
