/** Arguments of a tool call are one JSON object for every reader: in streams, in JSON answers and in history. */
import { describe, expect, test } from "bun:test";
import type { CodecContext } from "../../../src/core/context.ts";
import type { ChatEvent, FinishKind } from "../../../src/core/events.ts";
import { NO_USAGE } from "../../../src/core/events.ts";
import type { ClientCodec, UpstreamCodec } from "../../../src/core/format.ts";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { isObject } from "../../../src/core/json.ts";
import { chatCompletionsFormat } from "../../../src/formats/chat-completions/index.ts";
import { messagesFormat } from "../../../src/formats/messages/index.ts";
import { lossesOf, makeContext } from "../../helpers/codec-context.ts";
import { writeAll } from "../../helpers/answer-codecs.ts";
import * as chat from "../chat-completions/make.ts";
import * as messages from "../messages/make.ts";

interface Side {
  client: ClientCodec;
  upstream: UpstreamCodec;
  /** The arguments in the frames of a streamed answer, put together. */
  streamed(frames: readonly JsonObject[]): string;
  /** The arguments in a JSON answer, as an object; `undefined` when the call is not there. */
  whole(answer: JsonObject): Json | undefined;
  /** The arguments of the one call in an encoded request. */
  history(body: JsonObject): Json | undefined;
  /** Where the loss of a repaired argument stands in an answer. */
  answerPath: string;
  /** A request of a client of this format whose history holds one call with these arguments. */
  request(input: string): JsonObject;
  requestPath: string;
}

/** What stands at a path of a JSON value. */
function at(value: Json | undefined, ...path: (string | number)[]): Json | undefined {
  let found = value;
  for (const step of path) found = (found as Record<string | number, Json> | undefined)?.[step];
  return found;
}

const objects = (value: Json | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

const parse = (value: Json | undefined): Json | undefined =>
  typeof value === "string" ? (JSON.parse(value) as Json) : value;

const SIDES: Record<string, Side> = {
  "chat-completions": {
    client: chatCompletionsFormat.client,
    upstream: chatCompletionsFormat.upstream,
    streamed: (frames) =>
      frames
        .flatMap(({ choices }) => objects(choices))
        .map((choice) => at(choice, "delta", "tool_calls", 0, "function", "arguments") ?? "")
        .join(""),
    whole: (answer) => parse(at(answer, "choices", 0, "message", "tool_calls", 0, "function", "arguments")),
    history: (body) => {
      const message = objects(body.messages).find(({ tool_calls }) => tool_calls);
      return parse(at(message, "tool_calls", 0, "function", "arguments"));
    },
    answerPath: "choices[0].message.tool_calls[0].function.arguments",
    request: (input) => ({
      model: "m",
      messages: [
        { role: "user", content: "go" },
        {
          role: "assistant",
          content: "I will.",
          tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: input } }],
        },
        { role: "tool", tool_call_id: "c1", content: "done" },
      ],
    }),
    requestPath: "messages[1].tool_calls[0].function.arguments",
  },
  messages: {
    client: messagesFormat.client,
    upstream: messagesFormat.upstream,
    streamed: (frames) => frames.map((frame: any) => frame.delta?.partial_json ?? "").join(""),
    whole: (answer: any) => answer.content.find((block: any) => block.type === "tool_use")?.input,
    history: (body: any) =>
      body.messages.flatMap((message: any) => message.content).find((block: any) => block.type === "tool_use")
        ?.input,
    answerPath: "content[0].input",
    request: (input) => ({
      model: "m",
      max_tokens: 9,
      messages: [
        { role: "user", content: "go" },
        {
          role: "assistant",
          content: [
            { type: "text", text: "I will." },
            { type: "tool_use", id: "c1", name: "f", input: JSON.parse(input) as Json },
          ],
        },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "done" }] },
      ],
    }),
    requestPath: "messages[1].content[1].input",
  },
};

/** Arguments that are JSON, what every reader gets of them, and whether weir warns. */
const JSON_ARGUMENTS: [input: string, value: JsonObject, warned: boolean][] = [
  ["", {}, false],
  ["{}", {}, false],
  ["null", {}, false],
  [" null\n", {}, false],
  ['"x"', { value: "x" }, true],
  ["[1]", { value: [1] }, true],
  ["3", { value: 3 }, true],
  ["true", { value: true }, true],
  [' {"a":[1,{"b":null}]}', { a: [1, { b: null }] }, false],
];

/** Arguments that are no JSON, and what is made of them where the whole answer is at hand. */
const BROKEN_ARGUMENTS: [input: string, value: JsonObject][] = [
  ['{"a":1,', { a: 1 }],
  ['{"a":"b', { a: "b" }],
  ['{"a":"b\\', { a: "b" }],
  ['{"a":"b\\u00', { a: "b" }],
  ['{"a":', { a: null }],
  ['{"a"', { a: null }],
  ['{"a":[1,{"b":2', { a: [1, { b: 2 }] }],
  ["nonsense", { __invalid_json: "nonsense" }],
  ['{"a":}', { __invalid_json: '{"a":}' }],
];

function* events(input: string, size: number, kind: FinishKind = "tool-calls"): Generator<ChatEvent> {
  yield { type: "message-start", id: "m1", model: "m" };
  yield {
    type: "block-start",
    index: 0,
    block: { type: "tool-call", id: "c1", name: "f", kind: "function" },
  };
  for (let from = 0; from < input.length; from += size)
    yield { type: "block-delta", index: 0, delta: input.slice(from, from + size) };
  yield { type: "block-end", index: 0 };
  yield { type: "message-end", reason: { kind }, usage: NO_USAGE };
}

function stream(side: Side, context: CodecContext, list: Iterable<ChatEvent>): JsonObject[] {
  return writeAll(side.client.codec.writeStream(context), list)
    .filter(({ data }) => data !== "[DONE]")
    .map(({ data }) => JSON.parse(data) as JsonObject);
}

for (const [name, side] of Object.entries(SIDES)) {
  describe(`an answer to a ${name} client`, () => {
    test.each(JSON_ARGUMENTS)("%j", (input, value, warned) => {
      const warnings = warned ? [`repaired:${side.answerPath}`] : [];
      for (const size of [1, 3, 100]) {
        const context = makeContext();
        const said = side.streamed(stream(side, context, events(input, size)));
        expect(said === "" ? {} : parse(said)).toEqual(value);
        expect(lossesOf(context)).toEqual(warnings);
      }
      const context = makeContext();
      expect(side.whole(side.client.codec.writeAnswer([...events(input, 3)], context))).toEqual(value);
      expect(lossesOf(context)).toEqual(warnings);
    });

    test.each(BROKEN_ARGUMENTS)("no JSON: %j", async (input, value) => {
      const context = makeContext();
      expect(side.whole(side.client.codec.writeAnswer([...events(input, 3)], context))).toEqual(value);
      expect(lossesOf(context)).toEqual([`repaired:${side.answerPath}`]);
      // A call that was cut off must not be run.
      const cut = side.client.codec.writeAnswer([...events(input, 3, "length")], makeContext());
      expect(side.whole(cut)).toBeUndefined();
      // In a stream the arguments are with the client already.
      const failed = await chat.failure(() => stream(side, makeContext(), events(input, 3)));
      expect(failed.code).toBe("invalid_tool_arguments");
    });

    test("arguments that are an object stream as they come", () => {
      const frames = stream(side, makeContext(), events('{"a":1}', 1));
      expect(frames.filter((frame) => side.streamed([frame]) !== "").length).toBeGreaterThanOrEqual(7);
    });
  });

  for (const [from, client] of Object.entries(SIDES))
    describe(`history of a ${from} client for a ${name} upstream`, () => {
      const encode = (input: string) => {
        const context = makeContext({ sameFormat: from === name });
        const request = client.client.codec.decodeRequest(client.request(input), context);
        return {
          value: side.history(side.upstream.codec.encodeRequest(request, context)),
          lost: lossesOf(context),
        };
      };
      const sendable = JSON_ARGUMENTS.filter(([input]) => from !== "messages" || input.trim() !== "");
      test.each(sendable)("%j", (input, value, warned) => {
        expect(encode(input)).toEqual({ value, lost: warned ? [`repaired:${client.requestPath}`] : [] });
      });
      // A messages client has no way to send arguments that are no JSON.
      if (from !== "messages")
        test.each(BROKEN_ARGUMENTS)("no JSON: %j", (input, value) => {
          expect(encode(input)).toEqual({ value, lost: [`repaired:${client.requestPath}`] });
        });
    });
}

describe("JSON answers of an upstream", () => {
  const ARGUMENTS: [Json, JsonObject][] = [
    [null, {}],
    ["x", { value: "x" }],
    [[1], { value: [1] }],
    [{ a: 1 }, { a: 1 }],
  ];
  test.each(ARGUMENTS)("%j of a messages upstream reaches both clients", (input, value) => {
    const body = {
      ...{ type: "message", id: "msg_1", role: "assistant", model: "m", stop_reason: "tool_use" },
      content: [{ type: "tool_use", id: "t", name: "f", input }],
    };
    for (const { client, whole } of Object.values(SIDES))
      expect(whole(client.codec.writeAnswer(messages.readBody(body, makeContext()), makeContext()))).toEqual(
        value,
      );
  });
  test.each(ARGUMENTS)("%j of a chat-completions upstream reaches both clients", (input, value) => {
    const call = { id: "t", type: "function", function: { name: "f", arguments: JSON.stringify(input) } };
    const message = { role: "assistant", content: null, tool_calls: [call] };
    const body = { id: "c", model: "m", choices: [{ index: 0, message, finish_reason: "tool_calls" }] };
    for (const { client, whole } of Object.values(SIDES))
      expect(whole(client.codec.writeAnswer(chat.readBody(body, makeContext()), makeContext()))).toEqual(
        value,
      );
  });
});
