/** The vendors' own SDKs, unchanged, against the gateway: JSON, streams, tools, images, errors, models. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { type RunningGateway, startGateway, UPSTREAM_KEYS, upstreamConfig } from "../helpers/gateway.ts";
import { anthropicClient, openaiClient } from "../helpers/sdk.ts";
import { json, startUpstream, type Upstream } from "../helpers/upstream.ts";

let gateway: RunningGateway;
let upstream: Upstream;
let openai: OpenAI;
let anthropic: Anthropic;

beforeAll(async () => {
  upstream = startUpstream(json({}));
  gateway = await startGateway({ config: upstreamConfig({ openai: upstream.url, anthropic: upstream.url }) });
  openai = openaiClient(gateway.url);
  anthropic = anthropicClient(gateway.url);
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

/** The smallest PNG there is: one pixel. */
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

const weather = {
  type: "object" as const,
  properties: { city: { type: "string" }, unit: { type: "string", enum: ["celsius", "fahrenheit"] } },
  required: ["city", "unit"],
};

describe("openai, against the mock", () => {
  test("JSON, with a request id and the name that was asked for", async () => {
    const completion = await openai.chat.completions.create({
      model: "mock/echo",
      messages: [{ role: "user", content: "hello" }],
    });
    expect(completion.choices[0]?.message.content).toBe("hello");
    expect(completion.choices[0]?.finish_reason).toBe("stop");
    expect(completion.model).toBe("mock/echo");
    expect(completion._request_id).toStartWith("req_");
    const usage = completion.usage!;
    expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens);
  });

  test("a stream, whose pieces are the JSON answer", async () => {
    const stream = await openai.chat.completions.create({
      model: "mock/chat",
      messages: [{ role: "user", content: "hello" }],
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = "";
    let usage: OpenAI.CompletionUsage | null | undefined;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? "";
      usage = chunk.usage ?? usage;
    }
    const whole = await openai.chat.completions.create({
      model: "mock/chat",
      messages: [{ role: "user", content: "hello" }],
    });
    expect(text).toBe(whole.choices[0]!.message.content!);
    expect(usage?.completion_tokens).toBe(whole.usage!.completion_tokens);
  });

  test("tools through the .stream() helper, and their results", async () => {
    const tools: OpenAI.ChatCompletionTool[] = [
      { type: "function", function: { name: "get_weather", parameters: weather, strict: true } },
    ];
    const ask: OpenAI.ChatCompletionMessageParam = { role: "user", content: "Call get_weather for Oslo" };
    const stream = openai.chat.completions.stream({ model: "mock/chat", messages: [ask], tools });
    const completion = await stream.finalChatCompletion();
    const call = completion.choices[0]!.message
      .tool_calls![0]! as OpenAI.ChatCompletionMessageFunctionToolCall;
    expect(completion.choices[0]!.finish_reason).toBe("tool_calls");
    expect(call.function.name).toBe("get_weather");
    expect(Object.keys(JSON.parse(call.function.arguments) as object)).toEqual(
      expect.arrayContaining(["city", "unit"]),
    );
    const answer = await openai.chat.completions.create({
      model: "mock/chat",
      tools,
      messages: [
        ask,
        { role: "assistant", content: null, tool_calls: [call] },
        { role: "tool", tool_call_id: call.id, content: "4 degrees and rain" },
      ],
    });
    expect(answer.choices[0]!.message.content).toContain("4 degrees");
  });

  test("an image", async () => {
    const completion = await openai.chat.completions.create({
      model: "mock/chat",
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "what is this?" },
            { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}` } },
          ],
        },
      ],
    });
    expect(completion.choices[0]!.message.content).toContain("what is this?");
  });

  test("models", async () => {
    const ids: string[] = [];
    for await (const model of openai.models.list()) ids.push(model.id);
    expect(ids).toContain("mock/echo");
    expect((await openai.models.retrieve("mock/echo")).id).toBe("mock/echo");
    expect(await openai.models.retrieve("no/such").catch((error: unknown) => error)).toBeInstanceOf(
      OpenAI.NotFoundError,
    );
  });
});

describe("anthropic, against the mock", () => {
  test("JSON, with a request id", async () => {
    const message = await anthropic.messages.create({
      model: "mock/echo",
      max_tokens: 50,
      messages: [{ role: "user", content: "hello" }],
    });
    expect(message.content).toMatchObject([{ type: "text", text: "hello" }]);
    expect(message.stop_reason).toBe("end_turn");
    expect(message._request_id).toStartWith("req_");
  });

  test("a stream accumulates to the JSON answer", async () => {
    const body = {
      model: "mock/reason",
      max_tokens: 500,
      messages: [{ role: "user" as const, content: "hello" }],
    };
    const streamed = await anthropic.messages.stream(body).finalMessage();
    const whole = await anthropic.messages.create(body);
    expect<unknown>(streamed.content).toEqual(whole.content);
    expect(streamed.stop_reason).toBe(whole.stop_reason);
    expect(streamed.usage.output_tokens).toBe(whole.usage.output_tokens);
    const thinking = whole.content[0]!;
    expect(thinking.type).toBe("thinking");
    expect((thinking as Anthropic.ThinkingBlock).signature).not.toBe("");
  });

  test("tools, streamed, and their results with an image", async () => {
    const tools: Anthropic.Tool[] = [{ name: "get_weather", input_schema: weather }];
    const ask: Anthropic.MessageParam = { role: "user", content: "Call get_weather for Oslo" };
    const first = await anthropic.messages
      .stream({ model: "mock/chat", max_tokens: 500, messages: [ask], tools })
      .finalMessage();
    expect(first.stop_reason).toBe("tool_use");
    const use = first.content.find((block) => block.type === "tool_use")!;
    expect(use.input).toMatchObject({ city: expect.any(String) });
    const second = await anthropic.messages.create({
      model: "mock/chat",
      max_tokens: 500,
      tools,
      messages: [
        ask,
        { role: "assistant", content: first.content },
        {
          role: "user",
          content: [
            {
              type: "tool_result",
              tool_use_id: use.id,
              content: [
                { type: "text", text: "4 degrees and rain" },
                { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } },
              ],
            },
          ],
        },
      ],
    });
    expect(second.content[0]).toMatchObject({ type: "text", text: expect.stringContaining("4 degrees") });
  });

  test("models", async () => {
    const ids: string[] = [];
    for await (const model of anthropic.models.list({ limit: 3 })) ids.push(model.id);
    expect(ids).toContain("mock/echo");
    expect((await anthropic.models.retrieve("mock/echo")).id).toBe("mock/echo");
    expect(await anthropic.models.retrieve("no/such").catch((error: unknown) => error)).toBeInstanceOf(
      Anthropic.NotFoundError,
    );
  });
});

/** Status of the upstream → class and status of the client's error, per SDK. */
const ERRORS: readonly [number, keyof typeof OpenAI, number, keyof typeof Anthropic, number][] = [
  [400, "BadRequestError", 400, "BadRequestError", 400],
  [404, "NotFoundError", 404, "NotFoundError", 404],
  [409, "ConflictError", 409, "ConflictError", 409],
  [413, "APIError", 413, "APIError", 413],
  [422, "UnprocessableEntityError", 422, "UnprocessableEntityError", 422],
  [429, "RateLimitError", 429, "RateLimitError", 429],
  [500, "InternalServerError", 500, "InternalServerError", 500],
  [503, "InternalServerError", 503, "InternalServerError", 503],
  [529, "InternalServerError", 529, "InternalServerError", 529],
  // The gateway's own credential was refused: not the client's business.
  [401, "InternalServerError", 502, "InternalServerError", 502],
  [403, "InternalServerError", 502, "InternalServerError", 502],
];

describe("errors of an upstream of the same format are typed, with their sentence and a request id", () => {
  for (const stream of [false, true]) {
    for (const [status, openaiClass, openaiStatus, anthropicClass, anthropicStatus] of ERRORS) {
      test(`${status}${stream ? ", asked to stream" : ""}`, async () => {
        const sentence = `the sentence of ${status}`;
        upstream.answer(() =>
          json({ error: { message: sentence, type: "some_error", param: null, code: null } }, status),
        );
        const one = await failure(() =>
          openai.chat.completions.create({
            model: "openai/x",
            messages: [{ role: "user", content: "x" }],
            stream,
          }),
        );
        expect(one).toBeInstanceOf(OpenAI[openaiClass] as typeof Error);
        expect((one as InstanceType<typeof OpenAI.APIError>).status).toBe(openaiStatus);
        expect((one as InstanceType<typeof OpenAI.APIError>).requestID).toStartWith("req_");
        upstream.answer(() =>
          json({ type: "error", error: { type: "some_error", message: sentence } }, status),
        );
        const two = await failure(() =>
          anthropic.messages.create({
            model: "claude-x",
            max_tokens: 9,
            messages: [{ role: "user", content: "x" }],
            stream,
          }),
        );
        expect(two).toBeInstanceOf(Anthropic[anthropicClass] as typeof Error);
        expect((two as InstanceType<typeof Anthropic.APIError>).status).toBe(anthropicStatus);
        expect((two as InstanceType<typeof Anthropic.APIError>).requestID).toStartWith("req_");
        if (status !== 401 && status !== 403)
          for (const error of [one, two]) expect(error.message).toContain(sentence);
        for (const error of [one, two]) {
          expect(error.message).not.toContain(UPSTREAM_KEYS.openai);
          expect(error.message).not.toContain("127.0.0.1");
        }
      });
    }
  }
});

describe("errors of the mock are typed in either dialect", () => {
  const rows: [number, keyof typeof OpenAI, keyof typeof Anthropic][] = [
    [400, "BadRequestError", "BadRequestError"],
    [404, "NotFoundError", "NotFoundError"],
    [429, "RateLimitError", "RateLimitError"],
    [500, "InternalServerError", "InternalServerError"],
    [529, "InternalServerError", "InternalServerError"],
  ];
  for (const [status, openaiClass, anthropicClass] of rows) {
    test(String(status), async () => {
      const model = `mock/error-${status}`;
      const one = await failure(() =>
        openai.chat.completions.create({ model, messages: [{ role: "user", content: "x" }] }),
      );
      const two = await failure(() =>
        anthropic.messages.create({ model, max_tokens: 9, messages: [{ role: "user", content: "x" }] }),
      );
      expect(one).toBeInstanceOf(OpenAI[openaiClass] as typeof Error);
      expect(two).toBeInstanceOf(Anthropic[anthropicClass] as typeof Error);
    });
  }

  test("a plain error of a plugin gives nothing away", async () => {
    const error = await failure(() =>
      openai.chat.completions.create({ model: "mock/throw", messages: [{ role: "user", content: "x" }] }),
    );
    expect((error as InstanceType<typeof OpenAI.APIError>).status).toBe(500);
    expect(error.message).toBe(
      "500 The gateway failed while it handled this request (provider mock failed); its log has the details.",
    );
  });

  test("a stream that is cut raises in both SDKs", async () => {
    const one = await failure(async () => {
      const stream = await openai.chat.completions.create({
        model: "mock/cut",
        messages: [{ role: "user", content: "x" }],
        stream: true,
      });
      for await (const chunk of stream) void chunk;
    });
    expect(one).toBeInstanceOf(OpenAI.APIError);
    const two = await failure(() =>
      anthropic.messages
        .stream({ model: "mock/cut", max_tokens: 99, messages: [{ role: "user", content: "x" }] })
        .finalMessage(),
    );
    expect(two).toBeInstanceOf(Anthropic.APIError);
  });
});

async function failure(call: () => Promise<unknown>): Promise<Error> {
  try {
    await call();
  } catch (thrown) {
    return thrown as Error;
  }
  throw new Error("The call did not fail.");
}
