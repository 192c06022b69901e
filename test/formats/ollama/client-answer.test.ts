/** What clients of Ollama's API get: records, JSON answers and errors. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ChatRequest } from "../../../src/core/chat.ts";
import { type ErrorKind, GatewayError, STATUS } from "../../../src/core/error.ts";
import type { BlockStart, ChatEvent, FinishReason, Usage } from "../../../src/core/events.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { ollamaFormat, ollamaGenerateFormat } from "../../../src/formats/ollama/index.ts";
import { readAll, writeAll } from "../../helpers/answer-codecs.ts";
import { lossesOf, makeContext } from "../../helpers/codec-context.ts";
import { withinBudget } from "../../helpers/within-budget.ts";

const { client } = ollamaFormat;

const USAGE: Usage = { input: 9, cacheRead: 317, cacheWrite: 25, output: 16, reasoning: 4 };

const context = (hideReasoning = false) =>
  makeContext({ askedFor: "asked", request: { style: { hideReasoning } } as unknown as ChatRequest });

interface Part {
  start: BlockStart;
  pieces?: string[];
}

const text = (...pieces: string[]): Part => ({ start: { type: "text" }, pieces });
const reasoning = (...pieces: string[]): Part => ({ start: { type: "reasoning" }, pieces });
const call = (name: string, ...pieces: string[]): Part => ({
  start: { type: "tool-call", id: `id_${name}`, name, kind: "function" },
  pieces,
});

function answer(parts: readonly Part[], reason: FinishReason = { kind: "stop" }): ChatEvent[] {
  return [
    { type: "message-start", id: "r-1", model: "m" },
    ...parts.flatMap(({ start, pieces = [] }, index): ChatEvent[] => [
      { type: "block-start", index, block: start },
      ...pieces.map((delta): ChatEvent => ({ type: "block-delta", index, delta })),
      { type: "block-end", index },
    ]),
    { type: "message-end", reason, usage: USAGE },
  ];
}

interface Record {
  message: { role: string; content: string; thinking?: string; tool_calls?: JsonObject[]; images?: string[] };
  done: boolean;
  [member: string]: unknown;
}

const streamed = (events: readonly ChatEvent[], of = context()): Record[] =>
  writeAll(client.codec.writeStream(of), events).map(({ data }) => JSON.parse(data) as Record);
const whole = (events: readonly ChatEvent[], of = context()) =>
  client.codec.writeAnswer(events, of) as unknown as Record;

/** The message of all records of a stream together. */
function joined(records: readonly Record[]): Record["message"] {
  const joinedText = (name: "content" | "thinking") =>
    records.map(({ message }) => message[name] ?? "").join("");
  const calls = records.flatMap(({ message }) => message.tool_calls ?? []);
  const images = records.flatMap(({ message }) => message.images ?? []);
  const thinking = joinedText("thinking");
  return {
    role: "assistant",
    content: joinedText("content"),
    ...(thinking !== "" && { thinking }),
    ...(images.length > 0 && { images }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

test("each piece is a record, and the last one has the reason, the counts and the durations", () => {
  const records = streamed(answer([reasoning("a"), text("b", "c")]));
  expect(records.map(({ message, done }) => [message, done])).toEqual([
    [{ role: "assistant", content: "", thinking: "a" }, false],
    [{ role: "assistant", content: "b" }, false],
    [{ role: "assistant", content: "c" }, false],
    [{ role: "assistant", content: "" }, true],
  ]);
  expect(records.at(-1)).toMatchObject({
    ...{ model: "asked", done_reason: "stop", prompt_eval_count: 351, eval_count: 16, load_duration: 0 },
    ...{ total_duration: expect.any(Number), eval_duration: expect.any(Number) },
  });
  for (const { done_reason, total_duration } of records.slice(0, -1))
    expect([done_reason, total_duration]).toEqual([undefined, undefined]);
});

test.each([
  ["stop", "stop"],
  ["tool-calls", "stop"],
  ["stop-sequence", "stop"],
  ["pause", "stop"],
  ["length", "length"],
  ["content-filter", "content_filter"],
] as const)("an answer that ended with %s is done by %s", (kind, word) => {
  expect(whole(answer([text("a")], { kind })).done_reason).toBe(word);
  expect(streamed(answer([text("a")], { kind })).at(-1)!.done_reason).toBe(word);
});

test("the explanation of a refusal without text is the text", () => {
  const reason: FinishReason = { kind: "content-filter", explanation: "Not this." };
  expect(whole(answer([], reason)).message.content).toBe("Not this.");
  expect(joined(streamed(answer([], reason))).content).toBe("Not this.");
  expect(whole(answer([text("No.")], reason)).message.content).toBe("No.");
});

test("reasoning is left out for a client that wants none", () => {
  expect(whole(answer([reasoning("a"), text("b")]), context(true)).message).toEqual({
    role: "assistant",
    content: "b",
  });
});

describe("a tool call", () => {
  const called = ({ message }: Pick<Record, "message">) => message.tool_calls;
  const two = answer([call("f", '{"a"', ":1}"), call("g")], { kind: "tool-calls" });

  test("is one piece, with an id, its place and an object of arguments", () => {
    const calls = [
      { id: "id_f", function: { index: 0, name: "f", arguments: { a: 1 } } },
      { id: "id_g", function: { index: 1, name: "g", arguments: {} } },
    ];
    expect(called(whole(two))).toEqual(calls);
    expect(streamed(two).map(called)).toEqual([[calls[0]!], [calls[1]!], undefined]);
  });

  test("keeps its place, although a later one ends first", () => {
    const events = answer([call("f", "{}"), call("g", "{}")]);
    const [start, f, fDelta, fEnd, g, gDelta, gEnd, end] = events as [ChatEvent, ...ChatEvent[]];
    const overlapping = [start, f!, g!, gDelta!, gEnd!, fDelta!, fEnd!, end!];
    const names = joined(streamed(overlapping)).tool_calls!.map(
      ({ function: named }) => (named as JsonObject).name,
    );
    expect(names).toEqual(["f", "g"]);
  });

  test("with arguments that are no JSON fails a stream, and is repaired and reported in a whole answer", () => {
    const broken = answer([call("f", '{"a":')], { kind: "tool-calls" });
    expect(() => streamed(broken)).toThrow("not JSON");
    const of = context();
    expect(called(whole(broken, of))).toHaveLength(1);
    expect(lossesOf(of)).toEqual(["repaired:message.tool_calls"]);
  });

  test("that the output limit cut off is left out: the client must not run it", () => {
    const cut = answer([call("f", '{"a":')], { kind: "length" });
    expect(called(whole(cut))).toBeUndefined();
    expect(joined(streamed(cut)).tool_calls).toBeUndefined();
  });
});

test("images are base64 beside the text, and sources of the text are reported as lost", () => {
  const image: Part = { start: { type: "image", mediaType: "image/png", data: "aW1n" } };
  expect(whole(answer([image])).message.images).toEqual(["aW1n"]);
  const of = context();
  const [start, ...others] = answer([text("a")]);
  const cited = { type: "citation", index: 0, citation: { url: "https://a.example" } } as const;
  whole([start!, others[0]!, cited, ...others.slice(1)], of);
  expect(lossesOf(of)).toEqual(["dropped:citations"]);
});

test("an answer without an end is an error, whole and streamed", () => {
  const cut = answer([text("a")]).slice(0, -1);
  expect(() => whole(cut)).toThrow(GatewayError);
  expect(() => streamed(cut)).toThrow(GatewayError);
});

test("a whole answer and a stream of the same events have the same content", () => {
  const piece = fc.string({ maxLength: 8 });
  const part = fc.oneof(
    fc.array(piece, { maxLength: 3 }).map((pieces) => text(...pieces)),
    fc.array(piece, { maxLength: 3 }).map((pieces) => reasoning(...pieces)),
    fc.dictionary(piece, piece).map((input) => call("f", JSON.stringify(input))),
  );
  withinBudget(
    fc.property(fc.array(part, { maxLength: 5 }), fc.boolean(), (parts, hides) => {
      const events = answer(parts);
      expect(joined(streamed(events, context(hides)))).toEqual(whole(events, context(hides)).message);
    }),
  );
});

test("what weir wrote is read as the same answer, for tapes", () => {
  const image: Part = { start: { type: "image", mediaType: "image/png", data: "aW1n" } };
  const parts = [reasoning("a", "b"), text("c", "d"), call("f", '{"a":1}'), image];
  for (const kind of ["tool-calls", "length", "content-filter"] as const) {
    const records = writeAll(client.codec.writeStream(context()), answer(parts, { kind }));
    const read = readAll(client.codec.reader!.readStream(context()), records);
    expect(joined(streamed(read))).toEqual(joined(streamed(answer(parts, { kind }))));
    expect(read.at(-1)).toMatchObject({ reason: { kind }, usage: { input: 351, output: 16 } });
    const body = client.codec.writeAnswer(answer(parts, { kind }), context());
    expect(whole(client.codec.reader!.readAnswer(body, context())).message).toEqual(
      whole(answer(parts, { kind })).message,
    );
  }
  expect(() => readAll(client.codec.reader!.readStream(context()), [{ data: '{"error":"Why."}' }])).toThrow(
    "Why.",
  );
});

test("an answer to a prompt has its text in `response`", () => {
  const events = answer([reasoning("why"), text("a", "b")]);
  const generate = ollamaGenerateFormat.client;
  expect(generate.codec.writeAnswer(events, context())).toMatchObject({
    ...{ response: "ab", thinking: "why", done: true, done_reason: "stop", eval_count: 16 },
  });
  const records = writeAll(generate.codec.writeStream(context()), events).map(({ data }) => JSON.parse(data));
  expect(records.map(({ response, thinking, done }) => [response, thinking, done])).toEqual([
    ["", "why", false],
    ["a", undefined, false],
    ["b", undefined, false],
    ["", undefined, true],
  ]);
});

test("every error is a sentence with its status", () => {
  for (const kind of Object.keys(STATUS) as ErrorKind[]) {
    const { status, body } = client.codec.encodeError(new GatewayError(kind, "Why."), "req_1");
    expect([kind, status, body]).toEqual([kind, STATUS[kind], { error: "Why." }]);
  }
  const [frame] = client.codec.encodeStreamError(new GatewayError("upstream", "Why."), "req_1");
  expect(frame).toEqual({ data: '{"error":"Why."}' });
});

test.each([
  [{ keep_alive: 0 }, "unload"],
  [{ keep_alive: "0" }, "unload"],
  [{ keep_alive: "0s" }, "unload"],
  [{ keep_alive: "0.0m" }, "unload"],
  [{ keep_alive: "10m" }, "load"],
  [{ keep_alive: -1 }, "load"],
  [{ keep_alive: "0.5s" }, "load"],
  [{}, "load"],
])("a request without content and with %j is answered with %s", (more, word) => {
  const { idle } = client.request;
  expect(idle!.answer({ model: "m", ...more })).toMatchObject({ model: "m", done: true, done_reason: word });
  expect(idle!.answer({ model: "m", messages: [], ...more })).toMatchObject({ done_reason: word });
  expect(idle!.answer({ model: "m", messages: [{ role: "user", content: "x" }], ...more })).toBeUndefined();
});
