/** The openai SDK, unchanged, in responses mode against the gateway: JSON, streams, tools, parsed answers, errors. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { chatHost, type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { openaiClient } from "../helpers/sdk.ts";
import { json, sse, startUpstream, type Upstream } from "../helpers/upstream.ts";

let gateway: RunningGateway;
let upstream: Upstream;
let openai: OpenAI;

beforeAll(async () => {
  upstream = startUpstream(json({}));
  gateway = await startGateway({ config: chatHost(upstream.url) });
  openai = openaiClient(gateway.url);
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const chunk = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "some-model",
    choices: [{ index: 0, delta, finish_reason }],
  })}\n\n`;

const call = (index: number, id: string, name: string, text: string) =>
  chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: text } }] });

describe("openai in responses mode", () => {
  test("a JSON answer of the mock, to a text", async () => {
    const response = await openai.responses.create({ model: "mock/echo", input: "hello" });
    expect(response.output_text).toBe("hello");
    expect(response.status).toBe("completed");
    expect(response.id).toMatch(/^resp_w1[a-z2-7]{40}$/);
    expect((response as { store?: unknown }).store).toBe(false);
    const usage = response.usage!;
    expect(usage.total_tokens).toBe(usage.input_tokens + usage.output_tokens);
  });

  test("a stream of the mock, whose end is the whole answer", async () => {
    const stream = openai.responses.stream({ model: "mock/chat", input: "hello" });
    let text = "";
    const numbers: number[] = [];
    for await (const event of stream) {
      numbers.push(event.sequence_number);
      if (event.type === "response.output_text.delta") text += event.delta;
    }
    const final = await stream.finalResponse();
    expect(final.status).toBe("completed");
    expect(final.output_text).toBe(text);
    expect(text).not.toBe("");
    expect(numbers).toEqual(numbers.map((_, index) => index));
  });

  test("a parsed answer, whose schema reaches a chat-completions provider", async () => {
    upstream.answer(() =>
      json({
        id: "chatcmpl-1",
        object: "chat.completion",
        created: 1,
        model: "some-model",
        choices: [
          { index: 0, message: { role: "assistant", content: '{"city":"Paris"}' }, finish_reason: "stop" },
        ],
      }),
    );
    const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
    const response = await openai.responses.parse({
      model: "host/some-model",
      input: "Where?",
      text: { format: { type: "json_schema", name: "place", schema, strict: false } },
    });
    expect(response.output_parsed as unknown).toEqual({ city: "Paris" });
    const sent = JSON.parse(upstream.requests.at(-1)!.body.toString()) as Record<string, unknown>;
    expect(sent["response_format"]).toEqual({
      type: "json_schema",
      json_schema: { name: "place", schema, strict: false },
    });
  });

  test("two parallel calls whose fragments interleave, and their results in the next turn", async () => {
    upstream.answer(() =>
      sse([
        chunk({ role: "assistant", content: "" }),
        call(0, "call_a", "weather", '{"city":'),
        call(1, "call_b", "weather", '{"city":'),
        chunk({ tool_calls: [{ index: 0, function: { arguments: '"Paris"}' } }] }),
        chunk({ tool_calls: [{ index: 1, function: { arguments: '"Rome"}' } }] }),
        chunk({}, "tool_calls"),
        "data: [DONE]\n\n",
      ]),
    );
    const tools = [
      { type: "function" as const, name: "weather", parameters: { type: "object" }, strict: false },
    ];
    const model = "host/some-model";
    const first = await openai.responses.stream({ model, input: "Weather?", tools }).finalResponse();
    const calls = first.output.filter((item) => item.type === "function_call");
    expect(calls.map(({ call_id, arguments: text }) => [call_id, text])).toEqual([
      ["call_a", '{"city":"Paris"}'],
      ["call_b", '{"city":"Rome"}'],
    ]);
    upstream.answer(() => sse([chunk({ content: "Sunny." }), chunk({}, "stop"), "data: [DONE]\n\n"]));
    const second = await openai.responses
      .stream({
        model,
        tools,
        input: [
          { role: "user", content: "Weather?" },
          ...(first.output as OpenAI.Responses.ResponseInputItem[]),
          ...calls.map(({ call_id }) => ({
            type: "function_call_output" as const,
            call_id,
            output: "18 °C",
          })),
        ],
      })
      .finalResponse();
    expect(second.output_text).toBe("Sunny.");
    const sent = JSON.parse(upstream.requests.at(-1)!.body.toString()) as {
      messages: Record<string, unknown>[];
    };
    expect(sent.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool"]);
  });

  test("a stream that breaks off ends with response.failed and the next sequence number, regularly", async () => {
    upstream.answer(() => sse([chunk({ content: "Half an ans" })]));
    const seen = await readFailed();
    const events = [...seen.matchAll(/^data: (.*)$/gm)].map((match) => JSON.parse(match[1]!));
    const [last, error] = events.slice(-2);
    expect([last.type, error.type]).toEqual(["response.failed", "error"]);
    expect(last.response.error.code).toBe("server_error");
    expect(last.response.output[0].content[0].text).toBe("Half an ans");
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
  });

  test("a failure while weir holds the stream is a response that failed, and an error for .stream()", async () => {
    const holding = await startGateway({
      config: { ...chatHost(upstream.url), timeouts: { holdMs: 100, heartbeatMs: 100 } },
    });
    const sdk = openaiClient(holding.url);
    upstream.answer(async () => {
      await Bun.sleep(500);
      return json({ error: { message: "Busy today.", type: "server_error", param: null, code: null } }, 400);
    });
    const stream = sdk.responses.stream({ model: "host/some-model", input: "hello" });
    let failed: OpenAI.Responses.ResponseFailedEvent | undefined;
    const read = async () => {
      for await (const event of stream) if (event.type === "response.failed") failed = event;
    };
    expect(await read().catch(String)).toContain("Busy today.");
    await holding.stop();
    expect(failed?.response.error).toMatchObject({ message: "Busy today." });
    expect(failed?.sequence_number).toBe(2);
  });

  test("a wrong member is named in the envelope of OpenAI's errors", async () => {
    const failure = await openai.responses
      .create({ model: "mock/echo", input: [{ role: "user", content: 7 as unknown as string }] })
      .catch((thrown: unknown) => thrown);
    expect(failure).toBeInstanceOf(OpenAI.BadRequestError);
    expect((failure as { param?: unknown }).param).toBe("input[0].content");
  });

  test("the input tokens of a request are counted", async () => {
    const counted = await openai.responses.inputTokens.count({ model: "mock/echo", input: "hello there" });
    expect(counted.object).toBe("response.input_tokens");
    expect(counted.input_tokens).toBeGreaterThan(0);
  });
});

/** What a client has read when the body breaks. */
/** The text of a failed stream. @throws if its body breaks */
async function readFailed(): Promise<string> {
  const answer = await fetch(`${gateway.url}/v1/responses`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "host/some-model", input: "hello", stream: true }),
  });
  return answer.text();
}
