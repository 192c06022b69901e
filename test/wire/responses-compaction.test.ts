/** Conversations that are replaced by a summary, for providers that have no such request themselves. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI, { APIError } from "openai";
import { chatHost, type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { judgeWritten } from "../helpers/judge-responses.ts";
import { openaiClient } from "../helpers/sdk.ts";
import { json, sse, startUpstream, type Upstream } from "../helpers/upstream.ts";

let upstream: Upstream;
let gateway: RunningGateway;
let openai: OpenAI;

const SUMMARY = "The user counts to three.";

interface Sent {
  messages: { role: string; content: unknown }[];
  tools?: unknown[];
  tool_choice?: unknown;
}

const lastSent = () => JSON.parse(upstream.requests.at(-1)!.body.toString()) as Sent;

const usage = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 };

beforeAll(async () => {
  upstream = startUpstream((request) => {
    const common = { id: "c1", created: 1, model: "m" };
    const { stream } = JSON.parse(request.body.toString()) as { stream?: boolean };
    if (!stream)
      return json({
        ...common,
        object: "chat.completion",
        choices: [{ index: 0, message: { role: "assistant", content: SUMMARY }, finish_reason: "stop" }],
        usage,
      });
    const chunk = (delta: object, finish_reason: string | null) =>
      `data: ${JSON.stringify({ ...common, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
    return sse([chunk({ content: SUMMARY }, null), chunk({}, "stop"), "data: [DONE]\n\n"]);
  });
  gateway = await startGateway({
    config: chatHost(upstream.url),
    env: { WEIR_STATE: "none" },
  });
  openai = openaiClient(gateway.url);
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const MODEL = "host/some-model";
const TRIGGER = { type: "compaction_trigger" } as unknown as OpenAI.Responses.ResponseInputItem;
const user = (content: string) => ({ type: "message" as const, role: "user" as const, content });
const HISTORY = [user("one"), { role: "assistant" as const, content: "two" }];

describe("a request that ends in compaction_trigger", () => {
  test("is answered with exactly one compaction item, as JSON", async () => {
    const answer = await openai.responses.create({ model: MODEL, input: [...HISTORY, TRIGGER] });
    expect(answer.status).toBe("completed");
    expect(answer.output.map(({ type }) => type as string)).toEqual(["compaction"]);
    const { messages, tools } = lastSent();
    expect(messages.slice(0, 2).map(({ content }) => content)).toEqual(["one", "two"]);
    expect(messages.length).toBe(3);
    expect(tools).toBeUndefined();
  });

  test("and as a stream with the life cycle of one item", async () => {
    const response = await fetch(`${gateway.url}/v1/responses`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer x" },
      body: JSON.stringify({ model: MODEL, stream: true, input: [...HISTORY, TRIGGER] }),
    });
    const bytes = await response.bytes();
    const text = Buffer.from(bytes).toString();
    expect(await judgeWritten(bytes)).toEqual([]);
    const events = [...text.matchAll(/^event: (.*)$/gm)].map(([, name]) => name!);
    expect(events).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.output_item.done",
      "response.completed",
    ]);
  });

  test("whose item comes back as a message that the provider can read, in place of the history of a stored answer", async () => {
    const first = await openai.responses.create({ model: MODEL, input: "one" });
    const compacted = await openai.responses.create({
      model: MODEL,
      input: [TRIGGER],
      previous_response_id: first.id,
    });
    await openai.responses.create({
      model: MODEL,
      input: [...(compacted.output as OpenAI.Responses.ResponseInput), user("three")],
    });
    expect(lastSent().messages.map(({ content }) => content)).toEqual([
      expect.stringContaining(SUMMARY),
      "three",
    ]);
    await openai.responses.create({ model: MODEL, input: "three", previous_response_id: compacted.id });
    expect(lastSent().messages.map(({ content }) => content)).toEqual([
      expect.stringContaining(SUMMARY),
      "three",
    ]);
  });

  test("keeps the tools of a history with calls, and forbids to call them", async () => {
    const input = [
      user("look"),
      { type: "function_call" as const, call_id: "call_1", name: "look", arguments: "{}" },
      { type: "function_call_output" as const, call_id: "call_1", output: "a wall" },
      TRIGGER,
    ];
    const tools = [
      { type: "function" as const, name: "look", parameters: { type: "object" }, strict: false },
    ];
    await openai.responses.create({ model: MODEL, input, tools });
    expect([lastSent().tools?.length, lastSent().tool_choice]).toEqual([1, "none"]);
  });

  test("is refused with two of them, or one that is not the last item", async () => {
    for (const input of [
      [user("one"), TRIGGER, TRIGGER],
      [TRIGGER, user("one")],
    ]) {
      const refused = await openai.responses.create({ model: MODEL, input }).catch((error: unknown) => error);
      expect((refused as APIError).status).toBe(400);
    }
  });
});

describe("POST /v1/responses/compact", () => {
  test("answers with the user's messages and the item, which the SDK parses", async () => {
    const answer = await openai.responses.compact({ model: MODEL, input: HISTORY });
    expect(answer.object).toBe("response.compaction");
    expect(answer.output.map(({ type }) => type as string)).toEqual(["message", "compaction"]);
    expect(answer.usage.total_tokens).toBe(13);
    await openai.responses.create({ model: MODEL, input: [answer.output[1] as never, user("three")] });
    expect(lastSent().messages.map(({ content }) => content)).toEqual([
      expect.stringContaining(SUMMARY),
      "three",
    ]);
  });
});
