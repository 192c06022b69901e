/** What clients are told of tokens where the upstream counts none. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type RunningGateway, startGateway, upstreamConfig } from "../helpers/gateway.ts";
import { anthropicClient } from "../helpers/sdk.ts";
import { json, sse, startUpstream, until, type Upstream } from "../helpers/upstream.ts";

let gateway: RunningGateway;
let upstream: Upstream;

beforeAll(async () => {
  upstream = startUpstream(json({}));
  gateway = await startGateway({
    config: { ...upstreamConfig({ openai: upstream.url }), log: { format: "json" } },
  });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const words = "a few plain words of an answer ".repeat(8);
const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: "c1", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const params = {
  model: "openai/gpt-4.1",
  max_tokens: 100,
  messages: [{ role: "user" as const, content: "a question of some ten words, more or less, for you" }],
};

async function logged(
  id: string,
): Promise<{ tokens: object; estimated?: { input: number; output: number } }> {
  const line = () => gateway.log.find((entry) => entry.includes(id));
  await until(
    () => line() !== undefined,
    5_000,
    () => `there is no log line of ${id}`,
  );
  return JSON.parse(line()!) as { tokens: object };
}

test("a messages client of an upstream without usage is told an estimate, which the log marks as one", async () => {
  upstream.answer(() => sse([chunk({ content: words }), chunk({}, "stop"), "data: [DONE]\n\n"]));
  const stream = anthropicClient(gateway.url).messages.stream(params);
  const message = await stream.finalMessage();
  expect(message.usage.input_tokens).toBeWithin(10, 40);
  expect(message.usage.output_tokens).toBeWithin(40, 80);
  const { tokens, estimated } = await logged(stream.request_id!);
  expect(tokens).toMatchObject({ input: 0, output: 0, known: "absent" });
  expect(estimated).toEqual({ input: message.usage.input_tokens, output: message.usage.output_tokens });
});

test("the same for an answer that is not streamed", async () => {
  upstream.answer(() =>
    json({
      id: "c",
      model: "m",
      choices: [{ index: 0, message: { content: words }, finish_reason: "stop" }],
    }),
  );
  const message = await anthropicClient(gateway.url).messages.create(params);
  expect(message.usage.input_tokens).toBeWithin(10, 40);
  expect(message.usage.output_tokens).toBeWithin(40, 80);
});

test("what the upstream counted is never replaced by an estimate", async () => {
  const usage = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 };
  upstream.answer(() =>
    json({
      id: "c",
      model: "m",
      choices: [{ index: 0, message: { content: words }, finish_reason: "stop" }],
      usage,
    }),
  );
  const { data, response } = await anthropicClient(gateway.url).messages.create(params).withResponse();
  expect(data.usage).toMatchObject({ input_tokens: 3, output_tokens: 1 });
  const line = await logged(response.headers.get("x-request-id")!);
  expect(line.tokens).toMatchObject({ input: 3, output: 1, known: "final" });
  expect(line.estimated).toBeUndefined();
});
