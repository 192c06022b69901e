/** What has to hold for anything an upstream sends, and for anything that is written and read back. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { GatewayError } from "../../../src/core/error.ts";
import type { BlockStart, ChatEvent, FinishKind } from "../../../src/core/events.ts";
import type { Frame } from "../../../src/core/format.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import type { Traits } from "../../../src/core/provider.ts";
import { checkBrokenEvents, checkEvents } from "../../helpers/describe-events.ts";
import {
  chunk,
  chunks,
  client,
  clientCall,
  DONE,
  fromList,
  makeCall,
  makeRequest,
  messageOf,
  stream,
  toList,
  upstream,
} from "./make.ts";
import { accumulate } from "./sdk.ts";

const anyText = fc.oneof(
  fc.constantFrom("", " ", "\n", "a", "b c", "<think>", "</think>", "END", "{", '{"a":1}', "}"),
  fc.string({ maxLength: 6 }),
);
const anyFragment = fc.record(
  {
    index: fc.oneof(fc.constantFrom(0, 1, 2), fc.constant(null)),
    id: fc.constantFrom("", "a", "b", "functions.x:0", null),
    type: fc.constantFrom("function", null),
    function: fc.record(
      {
        name: fc.constantFrom("f", "g", "", " ", null),
        arguments: fc.oneof(anyText, fc.constantFrom(null, {}, { a: 1 })),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);
const anyDetail = fc.constantFrom<JsonObject>(
  { type: "reasoning.text", text: "t", index: 0 },
  { type: "reasoning.text", signature: "s" },
  { type: "reasoning.encrypted", data: "d" },
  { type: "other" },
);
const anyDelta = fc.record(
  {
    role: fc.constant("assistant"),
    content: fc.oneof(anyText, fc.constant(null), fc.constant([{ type: "text", text: "x" }])),
    reasoning_content: fc.oneof(anyText, fc.constant(null)),
    reasoning_details: fc.array(anyDetail, { maxLength: 2 }),
    refusal: fc.constantFrom("no", null),
    tool_calls: fc.oneof(fc.array(anyFragment, { maxLength: 3 }), fc.constant(null)),
    annotations: fc.constant([{ type: "url_citation", url_citation: { url: "u" } }]),
  },
  { requiredKeys: [] },
);
const anyFinish = fc.constantFrom(null, null, null, "stop", "length", "tool_calls", "", "content_filter");
const anyChunk = fc.tuple(anyDelta, anyFinish).map(([delta, finish]) => chunk(delta as JsonObject, finish));
const anyUsage = fc.record({
  prompt_tokens: fc.nat(100),
  completion_tokens: fc.nat(100),
  total_tokens: fc.nat(300),
  prompt_tokens_details: fc.constantFrom({ cached_tokens: 7 }, null),
});
const anyFrame: fc.Arbitrary<Frame> = fc.oneof(
  { weight: 12, arbitrary: anyChunk.map((body) => ({ data: JSON.stringify(body) })) },
  { weight: 2, arbitrary: anyUsage.map((usage) => ({ data: JSON.stringify({ choices: [], usage }) })) },
);
const mangledFrame: fc.Arbitrary<Frame> = fc.oneof(
  { weight: 6, arbitrary: anyFrame },
  { weight: 2, arbitrary: fc.json({ maxDepth: 4 }).map((data) => ({ data })) },
  { weight: 1, arbitrary: fc.string().map((data) => ({ data })) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(anyFrame, fc.nat())
      .map(([{ data }, at]) => ({ data: data.slice(0, at % (data.length + 1)) })),
  },
  {
    weight: 1,
    arbitrary: fc
      .json({ maxDepth: 3 })
      .map((json) => ({ data: `{"choices":[{"index":0,"delta":${json},"finish_reason":${json}}]}` })),
  },
  {
    weight: 1,
    arbitrary: fc
      .json({ maxDepth: 3 })
      .map((json) => ({ data: `{"choices":${json},"usage":${json},"id":${json}}` })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Frame>(
      { data: "[DONE]" },
      { event: "error", data: "x" },
      { event: "ping", data: "x" },
    ),
  },
);
const anyTraits: fc.Arbitrary<Traits> = fc.constantFrom<Traits>({}, { thinkTags: true });

/** The events of frames, and the error they ended in. */
async function readAll(
  frames: readonly Frame[],
  traits: Traits = {},
  stop: string[] = [],
): Promise<{ events: ChatEvent[]; error?: unknown }> {
  const events: ChatEvent[] = [];
  const request = makeRequest({ stop });
  try {
    for await (const event of upstream.decodeStream(
      fromList(frames),
      makeCall({ model: "gpt-5", traits, request }),
    ))
      events.push(event);
    return { events };
  } catch (error) {
    return { events, error };
  }
}

describe("a stream from an upstream", () => {
  test("F-5, F-11, G-36: whatever order things come in, every promise of the events holds", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyFrame, { maxLength: 12 }),
        anyTraits,
        fc.constantFrom<string[]>([], ["END", "c"]),
        async (frames, traits, stop) => {
          const { events, error } = await readAll([...frames, DONE], traits, stop);
          if (error === undefined) checkEvents(events);
          else {
            expect(error).toMatchObject({ code: "invalid_tool_arguments" });
            checkBrokenEvents(events);
          }
        },
      ),
      { numRuns: 1500 },
    );
  });

  test("F-22: a mangled one ends in a GatewayError or at a real end, and no ending is made up", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(mangledFrame, { maxLength: 10 }), anyTraits, async (frames, traits) => {
        const { events, error } = await readAll(frames, traits);
        if (error === undefined) {
          checkEvents(events);
          expect(
            frames.some(({ data }) => data.includes("[DONE]") || data.includes("finish_reason")),
          ).toBeTrue();
        } else {
          expect(error).toBeInstanceOf(GatewayError);
          checkBrokenEvents(events);
        }
      }),
      { numRuns: 2000 },
    );
  });

  test("cut anywhere before its finish reason it is an error", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyDelta, { maxLength: 8 }), async (deltas) => {
        const { events, error } = await readAll(
          deltas.map((delta) => ({ data: JSON.stringify(chunk(delta as JsonObject)) })),
        );
        expect(error).toMatchObject({ code: "stream_incomplete" });
        checkBrokenEvents(events);
      }),
    );
  });

  test("F-13: how the text is cut into chunks does not change the answer", async () => {
    const pieces = fc.array(
      fc.tuple(fc.constantFrom("content", "reasoning_content"), fc.stringMatching(/^[a-z ]{1,12}$/)),
      { maxLength: 5 },
    );
    await fc.assert(
      fc.asyncProperty(pieces, async (runs) => {
        const whole = runs.map(([field, text]) => chunk({ [field]: text }));
        const single = runs.flatMap(([field, text]) =>
          [...text].map((character) => chunk({ [field]: character })),
        );
        const frames = (bodies: JsonObject[]) =>
          [...bodies, chunk({}, "stop")].map((body) => ({ data: JSON.stringify(body) }));
        expect(merged((await readAll(frames(single))).events)).toEqual(
          merged((await readAll(frames(whole))).events),
        );
      }),
    );
  });
});

describe("a JSON answer from an upstream", () => {
  test("mangled, it is a GatewayError or whole", () => {
    const body = fc.oneof(
      anyChunk.map(({ choices, ...rest }) => ({
        ...rest,
        choices: (choices as JsonObject[]).map(({ delta, ...choice }) => ({ ...choice, message: delta })),
      })),
      fc.object({ maxDepth: 4 }),
      fc
        .json({ maxDepth: 3 })
        .map(
          (json) =>
            JSON.parse(
              `{"choices":[${json},{"message":${json},"finish_reason":${json}}],"usage":${json}}`,
            ) as JsonObject,
        ),
    );
    fc.assert(
      fc.property(body, (value) => {
        try {
          checkEvents([
            ...upstream.decodeAnswer(JSON.parse(JSON.stringify(value)) as JsonObject, makeCall()),
          ]);
        } catch (error) {
          expect(error).toBeInstanceOf(GatewayError);
        }
      }),
      { numRuns: 1500 },
    );
  });

  test("a mangled error body is a GatewayError with a sentence", () => {
    const bodies = fc.oneof(
      fc.json({ maxDepth: 5 }),
      fc.string(),
      fc.json({ maxDepth: 3 }).map((json) => `{"error":${json},"code":${json},"detail":${json}}`),
    );
    fc.assert(
      fc.property(fc.integer({ min: 400, max: 599 }), bodies, (status, body) => {
        const error = upstream.decodeError(status, new Headers(), body);
        expect(error).toBeInstanceOf(GatewayError);
        expect(error.message).toMatch(/\S/);
        expect(error.message.length).toBeLessThanOrEqual(2000);
        expect(error.status).toBeGreaterThanOrEqual(400);
      }),
      { numRuns: 1000 },
    );
  });
});

/** Answers both faces of the format can say: what the client is sent, an upstream may send as well. */
const anyAnswer: fc.Arbitrary<ChatEvent[]> = fc
  .record({
    reasoning: fc.option(fc.stringMatching(/^\S.{0,8}$/), { nil: undefined }),
    text: fc.option(fc.stringMatching(/^\S.{0,8}$/), { nil: undefined }),
    calls: fc.array(
      fc.tuple(
        fc.constantFrom("f", "g"),
        fc.dictionary(fc.string({ maxLength: 3 }), fc.string({ maxLength: 5 }), { maxKeys: 2 }),
      ),
      { maxLength: 3 },
    ),
    cut: fc.boolean(),
    usage: fc.record({
      input: fc.nat(50),
      cacheRead: fc.nat(50),
      cacheWrite: fc.nat(50),
      output: fc.integer({ min: 9, max: 50 }),
      reasoning: fc.nat(9),
    }),
  })
  .map(({ reasoning, text, calls, cut, usage }) => {
    const starts: [BlockStart, string][] = [];
    if (reasoning !== undefined) starts.push([{ type: "reasoning", origin: "vendor" }, reasoning]);
    if (text !== undefined) starts.push([{ type: "text" }, text]);
    for (const [index, [name, args]] of calls.entries())
      starts.push([{ type: "tool-call", id: `call_${index}`, name, kind: "function" }, JSON.stringify(args)]);
    const kind: FinishKind = cut ? "length" : calls.length > 0 ? "tool-calls" : "stop";
    return [
      { type: "message-start", id: "chatcmpl-1", model: "asked-for" },
      ...starts.flatMap(([block, delta], index): ChatEvent[] => [
        { type: "block-start", index, block },
        { type: "block-delta", index, delta },
        { type: "block-end", index },
      ]),
      {
        type: "message-end",
        reason: { kind, raw: cut ? "length" : calls.length > 0 ? "tool_calls" : "stop" },
        usage,
      },
    ];
  });

describe("what is written can be read again", () => {
  const call = () => clientCall({ style: { includeUsage: true } });

  test("a stream: encode, decode, the same events", async () => {
    await fc.assert(
      fc.asyncProperty(anyAnswer, async (events) => {
        checkEvents(events);
        const frames = await stream(events, call());
        const again = await toList(upstream.decodeStream(fromList(frames), makeCall()));
        expect(merged(again)).toEqual(merged(events));
      }),
      { numRuns: 300 },
    );
  });

  test("an answer: encode, decode, the same events; and the same as its stream", async () => {
    await fc.assert(
      fc.asyncProperty(anyAnswer, async (events) => {
        const body = client.encodeAnswer(events, call());
        expect(merged([...upstream.decodeAnswer(body, makeCall())])).toEqual(merged(events));
        const { reasoning_content, reasoning_details, ...message } = messageOf(body);
        const { parsed: _, ...streamed } = messageOf(
          await accumulate(await stream(events, call())),
        ) as JsonObject;
        expect(streamed).toMatchObject({ ...message, content: message.content ?? "" });
        expect((await chunks(events, call())).at(-1)!.usage).toEqual(body.usage!);
      }),
      { numRuns: 100 },
    );
  });
});

/** Deltas of a block put together, without usage on the way: two runs that say the same are equal. */
function merged(events: readonly ChatEvent[]): ChatEvent[] {
  const result: ChatEvent[] = [];
  for (const event of events) {
    const last = result.at(-1);
    if (event.type === "usage") continue;
    if (event.type === "block-delta" && last?.type === "block-delta" && last.index === event.index)
      last.delta += event.delta;
    else result.push({ ...event });
  }
  return result;
}

describe("a request of a client", () => {
  const json = fc.jsonValue({ maxDepth: 3 });
  const seldom = fc.oneof({ weight: 9, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: json });
  const part = fc.oneof(
    fc.record({
      type: fc.constantFrom("text", "image_url", "file", "input_audio", "refusal", "x"),
      text: fc.constant("t"),
      image_url: json,
      file: json,
      input_audio: json,
      refusal: json,
    }),
    fc.constantFrom(
      { type: "text", text: "t", cache_control: null },
      { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
    ),
  );
  const content = fc.oneof(
    { weight: 4, arbitrary: anyText },
    { weight: 4, arbitrary: fc.array(part, { maxLength: 2 }) },
    { weight: 1, arbitrary: fc.constant(null) },
  );
  const message = fc.record(
    {
      role: fc.constantFrom("user", "system", "assistant", "tool", "function"),
      content,
      name: fc.constantFrom("f", "n"),
      tool_call_id: fc.constantFrom("a", "b", ""),
      tool_calls: fc.array(anyFragment, { maxLength: 2 }),
      function_call: fc.oneof(fc.constant({ name: "f", arguments: "{" }), fc.constant(null)),
      reasoning_details: fc.oneof(fc.array(fc.oneof(anyDetail, json), { maxLength: 2 }), json),
      thinking_blocks: seldom,
      extra_content: seldom,
      audio: seldom,
    },
    { requiredKeys: ["role", "content"] },
  );
  const body = fc.record(
    {
      messages: fc.array(message, { minLength: 1, maxLength: 5 }),
      tools: fc.array(
        fc.record({
          type: fc.constantFrom("function", "custom", "x"),
          function: fc.oneof(
            { weight: 9, arbitrary: fc.constant<unknown>({ name: "f" }) },
            { weight: 1, arbitrary: json },
          ),
          custom: json,
        }),
        { maxLength: 2 },
      ),
      tool_choice: seldom,
      functions: fc.constantFrom([{ name: "f" }], null),
      response_format: seldom,
      thinking: seldom,
      reasoning: seldom,
      prompt_cache_options: seldom,
      stream_options: seldom,
      n: seldom,
      modalities: seldom,
    },
    { requiredKeys: ["messages"] },
  );

  test("whatever passes the check is decoded and written, or refused with a sentence", () => {
    let written = 0;
    fc.assert(
      fc.property(body, anyTraits, (parts, traits) => {
        const whole = JSON.parse(JSON.stringify({ model: "m", ...parts })) as JsonObject;
        try {
          client.checkRequest(whole);
          const request = client.decodeRequest(whole, clientCall());
          const sent = upstream.encodeRequest(request, makeCall({ traits, format: "chat-completions" }));
          expect(JSON.parse(JSON.stringify(sent))).toEqual(sent);
          written++;
        } catch (error) {
          expect(error).toBeInstanceOf(GatewayError);
          expect(error).toMatchObject({ status: 400 });
        }
      }),
      { numRuns: 3000 },
    );
    expect(written).toBeGreaterThan(50);
  });
});

describe("words every object knows", () => {
  const words = ["constructor", "toString", "__proto__", "hasOwnProperty", "valueOf"];

  test.each(words)("%s is a word like any other that nobody knows", async (word) => {
    const body = {
      model: "m",
      messages: [
        {
          role: "user",
          content: [
            { type: word, text: "x" },
            { type: "text", text: "hi" },
          ],
        },
        {
          role: "assistant",
          content: "a",
          reasoning_details: [{ type: "reasoning.encrypted", data: "d", format: word }],
        },
        { role: "user", content: [{ type: "file", file: { filename: `a.${word}`, file_data: "AAAA" } }] },
      ],
      tools: [{ type: word }],
      tool_choice: word,
      thinking: { type: word },
      service_tier: word,
      ...(JSON.parse(`{"${word}":1}`) as JsonObject),
    };
    client.checkRequest(body);
    const request = client.decodeRequest(body, clientCall());
    expect(request.turns[0]!.blocks[0]).toEqual({
      type: "foreign",
      format: "chat-completions",
      value: { type: word, text: "x" },
    });
    expect(request.turns[1]!.blocks[0]).toMatchObject({ origin: word });
    expect(request.toolChoice).toBeUndefined();
    const sent = upstream.encodeRequest(
      { ...request, extra: { ...request.extra, messages: body } },
      makeCall({ format: word, traits: { files: true } }),
    );
    expect(sent).toMatchObject({ model: "some-model" });

    const { events } = await readAll([{ data: JSON.stringify(chunk({ content: "a" }, word)) }, DONE]);
    expect(events.at(-1)).toMatchObject({ reason: { kind: "stop", raw: word } });
    const error = upstream.decodeError(
      400,
      new Headers(),
      JSON.stringify({ error: { message: "m", type: word, code: word, status: word } }),
    );
    expect(error).toMatchObject({ kind: "invalid-request", status: 400 });
  });
});
