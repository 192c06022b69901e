/** The priority of a batch among those of its key, by the SDKs of three vendors. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { startGateway } from "../../../../test/helpers/gateway.ts";
import { until } from "../../../../test/helpers/serving.ts";
import { json, startUpstream } from "../../../../test/helpers/upstream.ts";

setDefaultTimeout(120_000);

const asked: string[] = [];
const upstream = startUpstream(async ({ body }) => {
  const { messages } = JSON.parse(body.toString()) as { messages: { content: string }[] };
  asked.push(messages.at(-1)!.content.split(" ")[0]!);
  await Bun.sleep(100);
  return json({
    ...{ id: "c_1", object: "chat.completion", created: 1, model: "m" },
    choices: [{ index: 0, message: { role: "assistant", content: "So." }, finish_reason: "stop" }],
    usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 },
  });
});
const gateway = await startGateway({
  config: {
    providers: {
      p: { speaks: "chat-completions", baseUrl: `${upstream.url}/v1`, apiKey: "k-1", models: ["m"] },
    },
    batches: { concurrency: 2, how: "run" },
    log: { format: "json" },
  },
});
await gateway.opened();
afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "none", maxRetries: 0 });
const anthropic = new Anthropic({ baseURL: gateway.url, apiKey: "none", maxRetries: 0 });
const google = new GoogleGenAI({ apiKey: "none", httpOptions: { baseUrl: gateway.url } });

const withPriority = (priority: unknown) => ({ headers: { "x-weir-priority": String(priority) } });

async function made(name: string, lines: number, priority?: number): Promise<string> {
  const texts = Array.from({ length: lines }, (_, at) => {
    const body = { model: "p/m", messages: [{ role: "user", content: `${name} ${at}` }] };
    return JSON.stringify({ custom_id: `l${at}`, method: "POST", url: "/v1/chat/completions", body });
  });
  const file = await openai.files.create({
    file: new File([texts.join("\n")], "in.jsonl"),
    purpose: "batch",
  });
  const params: OpenAI.BatchCreateParams = {
    input_file_id: file.id,
    endpoint: "/v1/chat/completions",
    completion_window: "24h",
  };
  const options = priority === undefined ? {} : withPriority(priority);
  return (await openai.batches.create(params, options)).id;
}

const ended = (id: string) =>
  until(async () => (await openai.batches.retrieve(id)).status === "completed", 60_000);

test("a batch with a higher priority overtakes the others of its key, of which the oldest goes first", async () => {
  const ids = [await made("first", 40), await made("second", 20)];
  expect(await until(() => asked.length >= 4, 60_000)).toBe(true);
  ids.push(await made("urgent", 20, 9));
  for (const id of ids) expect(await ended(id)).toBe(true);
  // Single lines of the others go while the next one of an urgent batch is read.
  const rankOf = (name: string) => asked.lastIndexOf(name);
  expect(rankOf("urgent")).toBeLessThan(rankOf("first"));
  expect(rankOf("first")).toBeLessThan(rankOf("second"));
});

test("clients of all vendors give it, and what is none is refused", async () => {
  const requests = [
    {
      custom_id: "a",
      params: { model: "p/m", max_tokens: 5, messages: [{ role: "user" as const, content: "x" }] },
    },
  ];
  const one = await anthropic.messages.batches.create({ requests }, withPriority(3));
  expect(one.processing_status).toBe("in_progress");
  for (const wrong of ["10", "-1", "high", "1.5"])
    expect(
      await anthropic.messages.batches
        .create({ requests }, withPriority(wrong))
        .catch((error: unknown) => error),
    ).toMatchObject({ status: 400, error: { error: { type: "invalid_request_error" } } });
  const src = [{ contents: [{ role: "user", parts: [{ text: "x" }] }] }];
  const config = (priority: number) => ({ httpOptions: withPriority(priority) });
  expect((await google.batches.create({ model: "p/m", src, config: config(3) })).name).toStartWith(
    "batches/",
  );
  await expect(google.batches.create({ model: "p/m", src, config: config(11) })).rejects.toThrow(
    "x-weir-priority",
  );
  const wrong = await made("wrong", 1, 12).catch((error: unknown) => error);
  expect(wrong).toMatchObject({ status: 400, param: "x-weir-priority" });
});
