import { describe, expect, test } from "bun:test";
import type { ChatEvent, FinishReason } from "../../../src/core/events.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import {
  USAGE,
  answer,
  choiceOf,
  chunks,
  client,
  clientCall,
  decode,
  deltasOf,
  failure,
  messageOf,
  reasoning,
  run,
  stream,
  text,
  tool,
  writeAnswer,
} from "./make.ts";
import { accumulate, strictTool } from "./sdk.ts";

const encode = (events: readonly ChatEvent[], call = clientCall()) => writeAnswer(events, call);
const finishes = (bodies: readonly JsonObject[]) =>
  bodies
    .flatMap((body) => (body.choices as JsonObject[]).map((choice) => choice.finish_reason))
    .filter((reason) => reason !== null);

/** Reasoning, text, two calls that overlap. */
const MIXED = answer(
  [
    ...reasoning(0, ["A", "a"]),
    ...text(1, "B"),
    {
      type: "block-start",
      index: 2,
      block: { type: "tool-call", id: "call_f", name: "f", kind: "function" },
    },
    { type: "block-delta", index: 2, delta: '{"x":' },
    {
      type: "block-start",
      index: 3,
      block: { type: "tool-call", id: "call_g", name: "g", kind: "function" },
    },
    { type: "block-delta", index: 2, delta: "1}" },
    { type: "block-end", index: 2 },
    { type: "block-end", index: 3 },
  ],
  { kind: "tool-calls", raw: "tool_use" },
);

describe("the shape of a stream", () => {
  test("a role first, one id, time and model in all chunks", () => {
    const bodies = chunks(MIXED);
    expect(deltasOf(bodies)[0]).toEqual({ role: "assistant", content: "" });
    expect(
      new Set(bodies.map(({ id, created, model, object }) => JSON.stringify([id, created, model, object])))
        .size,
    ).toBe(1);
    expect(bodies[0]).toMatchObject({
      id: "chatcmpl-01",
      object: "chat.completion.chunk",
      model: "asked-for",
    });
    expect(Math.abs((bodies[0]!.created as number) - Date.now() / 1000)).toBeLessThan(5);
  });

  test("dense tool indexes; after the first fragment nothing but index and arguments", () => {
    const calls = deltasOf(chunks(MIXED)).flatMap(
      (delta) => (delta.tool_calls as JsonObject[] | undefined) ?? [],
    );
    expect(calls).toEqual([
      { index: 0, id: "call_f", type: "function", function: { name: "f", arguments: "" } },
      { index: 0, function: { arguments: '{"x":' } },
      { index: 0, function: { arguments: "1}" } },
      { index: 1, id: "call_g", type: "function", function: { name: "g", arguments: "" } },
      { index: 1, function: { arguments: "{}" } },
    ]);
  });

  test("a call without arguments ends with {}", () => {
    expect(messageOf(encode(answer(tool(0, "f", []), { kind: "tool-calls" }))).tool_calls).toEqual([
      { id: "call_0", type: "function", function: { name: "f", arguments: "{}" } },
    ]);
  });

  test("one finish reason, in a chunk with an empty delta", () => {
    const bodies = chunks(MIXED);
    expect(finishes(bodies)).toEqual(["tool_calls"]);
    expect(choiceOf(bodies.at(-1)!).delta).toEqual({});
  });

  test("usage in the last chunk when it is asked for, null in all before, nowhere when not", () => {
    const asked = chunks(MIXED, clientCall({ style: { includeUsage: true } }));
    expect(asked.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 4767 } });
    for (const body of asked.slice(0, -1)) expect(body.usage).toBeNull();
    for (const body of chunks(MIXED)) expect(body).not.toHaveProperty("usage");
  });

  test("[DONE] is last on success, and absent when the events break off", async () => {
    const frames = stream(MIXED);
    expect(frames.at(-1)).toEqual({ data: "[DONE]" });
    for (const frame of frames) expect(frame.event).toBeUndefined();
    const error = await failure(() => stream(MIXED.slice(0, -1)));
    expect(error.code).toBe("stream_incomplete");
  });

  test("[DONE] comes at the end only, behind the finish reason", () => {
    const writer = client.codec.writeStream(clientCall());
    const written = MIXED.flatMap((event) => writer.push(event));
    expect(written.map(({ data }) => data)).not.toContain("[DONE]");
    expect(writer.end()).toEqual([{ data: "[DONE]" }]);
  });

  test("the SDK reads it with strict tools, and the heartbeat in between does not disturb it", async () => {
    const completion = await accumulate(
      stream(MIXED),
      [strictTool("f", { x: { type: "number" } }), strictTool("g")],
      client.codec.framing.heartbeat,
    );
    expect(messageOf(completion)).toMatchObject({
      role: "assistant",
      content: "B",
      tool_calls: [
        { id: "call_f", function: { name: "f", arguments: '{"x":1}', parsed_arguments: { x: 1 } } },
        { id: "call_g", function: { name: "g", arguments: "{}" } },
      ],
    });
  });
});

describe("the JSON answer", () => {
  test("content, refusal and logprobs are always there, an empty list of calls never", () => {
    const body = encode(answer(text(0, "hi")));
    expect(body).toEqual({
      id: "chatcmpl-01",
      object: "chat.completion",
      created: body.created!,
      model: "asked-for",
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: "hi", refusal: null },
          logprobs: null,
          finish_reason: "stop",
        },
      ],
      usage: {
        prompt_tokens: 4751,
        completion_tokens: 16,
        total_tokens: 4767,
        prompt_tokens_details: { cached_tokens: 317, cache_write_tokens: 4425 },
        completion_tokens_details: { reasoning_tokens: 0 },
      },
    });
  });

  test("content is null beside calls and an empty text otherwise", () => {
    expect(messageOf(encode(answer(tool(0, "f", ["{}"]), { kind: "tool-calls" }))).content).toBeNull();
    expect(messageOf(encode(answer([]))).content).toBe("");
  });

  test("streamed and whole, the same events add up to the same message", async () => {
    const whole = messageOf(encode(MIXED));
    const { reasoning_content, reasoning_details, ...known } = whole;
    const streamed = messageOf(await accumulate(stream(MIXED)));
    expect(streamed).toMatchObject({ ...known, refusal: null } as JsonObject);
    expect(reasoning_content).toBe("Aa");
    expect(reasoning_details).toEqual([{ type: "reasoning.text", text: "Aa", index: 0 }]);
  });

  test("ids of other vendors lose their prefix, ids of this format keep theirs, no id is none of the upstream's", () => {
    const idOf = (id: string) =>
      encode([{ type: "message-start", id, model: "m" }, ...answer([]).slice(1)]).id;
    expect(["msg_abc", "chatcmpl-9", "gen-1", ""].map(idOf)).toEqual([
      "chatcmpl-abc",
      "chatcmpl-9",
      "chatcmpl-gen-1",
      "chatcmpl-test",
    ]);
  });

  test("an answer that does not end throws", async () => {
    expect((await failure(() => encode(MIXED.slice(0, -1)))).code).toBe("stream_incomplete");
  });

  test("tool ids the format cannot take, or that repeat, are replaced", () => {
    const calls = [
      ...tool(0, "f", [], "functions.f:0"),
      ...tool(1, "f", [], "same"),
      ...tool(2, "f", [], "same"),
    ];
    const ids = (messageOf(encode(answer(calls, { kind: "tool-calls" }))).tool_calls as JsonObject[]).map(
      ({ id }) => String(id),
    );
    expect(ids[1]).toBe("same");
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  });
});

describe("the finish reason says why the answer ended", () => {
  const call = tool(0, "f", ["{}"]);
  const cases: [what: string, blocks: readonly ChatEvent[], reason: FinishReason, word: string][] = [
    ["stop", text(0, "x"), { kind: "stop" }, "stop"],
    ["a stop sequence", text(0, "x"), { kind: "stop-sequence", stopSequence: "END" }, "stop"],
    ["length", text(0, "x"), { kind: "length" }, "length"],
    ["length inside a call", call, { kind: "length" }, "length"],
    ["calls", call, { kind: "tool-calls", raw: "tool_use" }, "tool_calls"],
    ["calls with stop", call, { kind: "stop" }, "tool_calls"],
    ["tool_use without a call", [], { kind: "tool-calls", raw: "tool_use" }, "stop"],
    ["the filter", text(0, "x"), { kind: "content-filter" }, "content_filter"],
    ["a pause", text(0, "x"), { kind: "pause", raw: "pause_turn" }, "stop"],
    ["a word nobody knows", text(0, "x"), { kind: "stop", raw: "weird" }, "stop"],
  ];
  test.each(cases)("%s", (_what, blocks, reason, word) => {
    expect(choiceOf(encode(answer(blocks, reason))).finish_reason).toBe(word);
    expect(finishes(chunks(answer(blocks, reason)))).toEqual([word]);
  });

  test("the sequence that matched stands beside it", () => {
    const events = answer(text(0, "x"), { kind: "stop-sequence", stopSequence: "END" });
    expect(choiceOf(encode(events)).stop_reason).toBe("END");
    expect(choiceOf(chunks(events).at(-1)!).stop_reason).toBe("END");
  });

  test("a refusal brings its explanation, or a neutral sentence; a filter brings none", () => {
    const refused = answer(text(0, "par"), {
      kind: "content-filter",
      raw: "refusal",
      explanation: "Because.",
    });
    expect(messageOf(encode(refused))).toMatchObject({ content: "par", refusal: "Because." });
    expect(deltasOf(chunks(refused))).toContainEqual({ refusal: "Because." });
    const unexplained = messageOf(encode(answer([], { kind: "content-filter", raw: "refusal" })));
    expect(unexplained).toMatchObject({ content: null, refusal: expect.stringMatching(/\.$/) });
    expect(
      messageOf(encode(answer([], { kind: "content-filter", raw: "content_filter" }))).refusal,
    ).toBeNull();
  });

  test("refusal blocks are the refusal, and are not said twice", () => {
    const events = answer(run(0, { type: "refusal" }, ["I ", "won't."]), {
      kind: "content-filter",
      raw: "refusal",
    });
    expect(messageOf(encode(events))).toMatchObject({ content: null, refusal: "I won't." });
  });
});

describe("reasoning", () => {
  test("text in both fields, a signature and encrypted blocks with who made them", () => {
    const events = answer([
      ...reasoning(0, ["think"], "sig", "anthropic"),
      ...run(1, { type: "reasoning", redacted: "enc", origin: "anthropic" }),
      ...reasoning(2, ["more"], undefined, "deepseek"),
    ]);
    const format = "anthropic-claude-v1";
    expect(messageOf(encode(events))).toMatchObject({
      reasoning_content: "thinkmore",
      reasoning_details: [
        { type: "reasoning.text", text: "think", signature: "sig", format, index: 0 },
        { type: "reasoning.encrypted", data: "enc", format, index: 1 },
        { type: "reasoning.text", text: "more", format: "weir1.deepseek", index: 2 },
      ],
    });
    expect(deltasOf(chunks(events)).slice(1, 4)).toEqual([
      {
        reasoning_content: "think",
        reasoning_details: [{ type: "reasoning.text", text: "think", format, index: 0 }],
      },
      { reasoning_details: [{ type: "reasoning.text", signature: "sig", format, index: 0 }] },
      { reasoning_details: [{ type: "reasoning.encrypted", data: "enc", format, index: 1 }] },
    ]);
  });

  test("a signature without text goes out, and comes back as it was", () => {
    const message = messageOf(encode(answer(reasoning(0, [], "sig", "anthropic"))));
    expect(message.reasoning_details).toEqual([
      { type: "reasoning.text", signature: "sig", format: "anthropic-claude-v1", index: 0 },
    ]);
    const request = decode({ messages: [message] });
    expect(request.turns[0]!.blocks).toEqual([
      { type: "reasoning", text: "", signature: "sig", origin: "anthropic" },
    ]);
  });

  test("a client that excludes reasoning gets none", () => {
    const call = () => clientCall({ style: { hideReasoning: true } });
    const events = answer([...reasoning(0, ["think"], "sig", "anthropic"), ...text(1, "x")]);
    expect(Object.keys(messageOf(encode(events, call())))).toEqual(["role", "content", "refusal"]);
    expect(deltasOf(chunks(events, call()))).toEqual([
      { role: "assistant", content: "" },
      { content: "x" },
      {},
    ]);
  });
});

describe("citations", () => {
  test("stand behind their text, with its place in the whole content", () => {
    const cited = { type: "citation", index: 1, citation: { url: "https://x.test", title: "T" } } as const;
    const second = text(1, "de", "f");
    const events = answer([...text(0, "abc"), ...second.slice(0, 2), cited, ...second.slice(2)]);
    const annotations = [
      {
        type: "url_citation",
        url_citation: { start_index: 3, end_index: 6, title: "T", url: "https://x.test" },
      },
    ];
    expect(messageOf(encode(events))).toMatchObject({ content: "abcdef", annotations });
    expect(deltasOf(chunks(events)).at(-2)).toEqual({ annotations });
  });
});

test("usage of the example, and foreign blocks leave no trace", () => {
  const events = answer(
    [...run(0, { type: "foreign", format: "messages", value: { type: "server_tool_use" } }), ...text(1, "x")],
    { kind: "stop" },
    { ...USAGE, reasoning: 7 },
  );
  const body = encode(events);
  expect(messageOf(body)).toEqual({ role: "assistant", content: "x", refusal: null });
  expect(body.usage).toMatchObject({
    prompt_tokens: 4751,
    total_tokens: 4767,
    completion_tokens_details: { reasoning_tokens: 7 },
  });
});
