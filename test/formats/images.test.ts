/** Images that a model generates: what clients of each format get, and what becomes of them in the history. */
import { describe, expect, test } from "bun:test";
import type { Block, Turn } from "../../src/core/chat.ts";
import type { BlockStart, ChatEvent } from "../../src/core/events.ts";
import { NO_USAGE } from "../../src/core/events.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { chatCompletionsFormat } from "../../src/formats/chat-completions/index.ts";
import { messagesFormat } from "../../src/formats/messages/index.ts";
import { responsesFormat } from "../../src/formats/responses/index.ts";
import { moveImages } from "../../src/formats/shared/assistant-images.ts";
import { EventRules } from "../../src/gateway/plugins/event-rules.ts";
import { readAll, writeAll } from "../helpers/answer-codecs.ts";
import { lossesOf, makeContext } from "../helpers/codec-context.ts";
import { checkEvents } from "../helpers/describe-events.ts";
import { judgeResponses } from "../helpers/judge-responses.ts";

const PNG = Buffer.from("\x89PNG\r\n\x1a\n and 8 more", "latin1").toString("base64");
const URI = `data:image/png;base64,${PNG}`;
const IMAGE: BlockStart = { type: "image", mediaType: "image/png", data: PNG };

function answerOf(...blocks: (BlockStart | string)[]): ChatEvent[] {
  return [
    { type: "message-start", id: "x", model: "m" },
    ...blocks.flatMap((block, index): ChatEvent[] => [
      { type: "block-start", index, block: typeof block === "string" ? { type: "text" } : block },
      ...(typeof block === "string" ? [{ type: "block-delta", index, delta: block } as const] : []),
      { type: "block-end", index },
    ]),
    { type: "message-end", reason: { kind: "stop" }, usage: NO_USAGE },
  ];
}

/** The blocks of a checked answer, text as a string. */
function blocksOf(events: readonly ChatEvent[]): (BlockStart | string)[] {
  checkEvents(events);
  const blocks: (BlockStart | string)[] = [];
  for (const event of events)
    if (event.type === "block-start") blocks.push(event.block.type === "text" ? "" : event.block);
    else if (event.type === "block-delta")
      blocks[event.index] = `${String(blocks[event.index])}${event.delta}`;
  return blocks;
}

const chunk = (delta: JsonObject, end?: string) => ({
  data: JSON.stringify({ id: "c", model: "m", choices: [{ index: 0, delta, finish_reason: end ?? null }] }),
});
const image = (url: string) => ({ type: "image_url", image_url: { url } });

describe("an image in the answer of a chat-completions provider", () => {
  const read = (...deltas: JsonObject[]) =>
    blocksOf(
      readAll(chatCompletionsFormat.upstream.codec.readStream(makeContext()), [
        ...deltas.map((delta) => chunk(delta)),
        chunk({}, "stop"),
      ]),
    );

  test("is a block of its own between texts, streamed and whole", () => {
    expect(read({ content: "a" }, { images: [image(URI)] }, { content: "b" })).toEqual(["a", IMAGE, "b"]);
    const message = { role: "assistant", content: "a", images: [image(URI), image(URI)] };
    const body = { id: "c", model: "m", choices: [{ index: 0, message, finish_reason: "stop" }] };
    const events = chatCompletionsFormat.upstream.codec.readAnswer(body, makeContext());
    expect(blocksOf(events)).toEqual(["a", IMAGE, IMAGE]);
  });

  test("is also read from a list of content parts, in its place", () => {
    const content = [{ type: "text", text: "a" }, image(URI), { type: "text", text: "b" }];
    expect(read({ content })).toEqual(["a", IMAGE, "b"]);
  });

  test("alone is a complete answer, also without a finish reason before [DONE]", () => {
    const frames = [chunk({ images: [image(URI)] }), { data: "[DONE]" }];
    expect(blocksOf(readAll(chatCompletionsFormat.upstream.codec.readStream(makeContext()), frames))).toEqual(
      [IMAGE],
    );
  });

  test("that comes inside a tool call follows it", () => {
    const call = (piece: string) => ({
      tool_calls: [{ index: 0, id: "c1", function: { name: "f", arguments: piece } }],
    });
    const blocks = read(call('{"a":'), { images: [image(URI)] }, call("1}"));
    expect(blocks.map((block) => (typeof block === "string" ? block : block.type))).toEqual([
      '[object Object]{"a":1}',
      "image",
    ]);
  });

  test("that is only an address becomes a line with the address", () => {
    expect(read({ images: [image("https://example.com/cat.png")] })).toEqual([
      "[image: https://example.com/cat.png]",
    ]);
  });
});

test("an image from a responses provider is read once, from the end of its item", () => {
  const item = { type: "image_generation_call", id: "ig", status: "completed", result: PNG };
  const frames = [
    {
      type: "response.output_item.added",
      output_index: 0,
      item: { ...item, status: "in_progress", result: null },
    },
    { type: "response.image_generation_call.partial_image", output_index: 0, partial_image_b64: "AAAA" },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: { status: "completed", output: [item] } },
  ].map((event) => ({ data: JSON.stringify(event) }));
  expect(blocksOf(readAll(responsesFormat.upstream.codec.readStream(makeContext()), frames))).toEqual([
    IMAGE,
  ]);
});

describe("an image in an answer", () => {
  const events = answerOf("a", IMAGE, "b");

  test("is in `images` for chat-completions clients, streamed and whole", () => {
    const { choices } = chatCompletionsFormat.client.codec.writeAnswer(events, makeContext());
    const expected = { type: "image_url", index: 0, image_url: { url: URI } };
    expect((choices as JsonObject[])[0]!.message).toMatchObject({ content: "ab", images: [expected] });
    const frames = writeAll(chatCompletionsFormat.client.codec.writeStream(makeContext()), events);
    const deltas = frames.flatMap(({ data }) =>
      data.includes("images") ? [JSON.parse(data) as JsonObject] : [],
    );
    expect(deltas.map((data) => (data.choices as JsonObject[])[0]!.delta)).toEqual([{ images: [expected] }]);
  });

  test("is an image_generation_call for responses clients, and the stream keeps all rules", () => {
    const frames = writeAll(responsesFormat.client.codec.writeStream(makeContext()), events);
    expect(judgeResponses(frames)).toEqual([]);
    const { output } = responsesFormat.client.codec.writeAnswer(events, makeContext());
    expect((output as JsonObject[]).map(({ type, result }) => [type, result])).toEqual([
      ["message", undefined],
      ["image_generation_call", PNG],
      ["message", undefined],
    ]);
  });

  test("is named in a text for messages clients, and reported", () => {
    const context = makeContext();
    const { content } = messagesFormat.client.codec.writeAnswer(events, context);
    expect((content as JsonObject[]).map(({ text }) => text)).toEqual([
      "a",
      `[image: image/png, ${Buffer.from(PNG, "base64").length} bytes]`,
      "b",
    ]);
    expect(lossesOf(context)).toEqual(["converted:content[1]"]);
  });
});

describe("in the history, an image of the assistant", () => {
  const block: Block = { type: "image", source: { type: "base64", mediaType: "image/png", data: PNG } };
  const said = (text: string): Block => ({ type: "text", text });
  const result: Block = { type: "tool-result", id: "c", blocks: [said("r")] };
  const call: Block = { type: "tool-call", id: "c", name: "f", input: "{}", kind: "function" };
  const user = (...blocks: Block[]): Turn => ({ role: "user", blocks, path: "u" });
  const assistant = (...blocks: Block[]): Turn => ({ role: "assistant", blocks, path: "a" });
  const heading = said("[image from the assistant's last answer]");

  function moved(turns: Turn[], sameFormat = false) {
    const context = makeContext({ sameFormat });
    const request = { model: "m", turns, tools: [], stop: [], stream: false, style: {}, extra: {} };
    return { turns: moveImages(request, "messages", context).turns, losses: lossesOf(context) };
  }

  test("goes to the next user turn, behind its tool results, and is reported", () => {
    const { turns, losses } = moved([
      user(said("q")),
      assistant(said("a"), block, call),
      user(result, said("next")),
    ]);
    expect(turns).toEqual([
      user(said("q")),
      assistant(said("a"), call),
      user(result, heading, block, said("next")),
    ]);
    expect(losses).toEqual(["converted:a"]);
  });

  test("leaves a word in a turn that has nothing else", () => {
    const { turns } = moved([user(said("q")), assistant(block), user(said("next"))]);
    expect(turns[1]).toEqual(assistant(said("[image]")));
  });

  test("is dropped and reported if no user turn follows", () => {
    const { turns, losses } = moved([user(said("q")), assistant(said("a"), block)]);
    expect([turns[1], losses]).toEqual([assistant(said("a")), ["dropped:a"]]);
  });

  test("stays where it is for a provider of the client's format", () => {
    const turns = [user(said("q")), assistant(block), user(said("next"))];
    expect(moved(turns, true)).toEqual({ turns, losses: [] });
  });

  test("goes along too if it is the equivalent of a foreign block", () => {
    const foreign: Block = { type: "foreign", format: "responses", value: {}, instead: block };
    const { turns } = moved([user(said("q")), assistant(foreign), user(said("next"))]);
    expect(turns[2]).toEqual(user(heading, block, said("next")));
  });
});

describe("an event of a plugin", () => {
  const start = (block: JsonObject) => ({ type: "block-start", index: 0, block }) as unknown as ChatEvent;

  function check(...events: ChatEvent[]): void {
    const rules = new EventRules();
    for (const event of [answerOf()[0]!, ...events]) rules.check(event);
  }

  test("may be an image, which needs its type and data and has no deltas", () => {
    check(start({ type: "image", mediaType: "image/png", data: PNG }), { type: "block-end", index: 0 });
    expect(() => check(start({ type: "image", data: PNG }))).toThrow("an image without mediaType or data");
    const delta: ChatEvent = { type: "block-delta", index: 0, delta: "x" };
    expect(() => check(start({ ...IMAGE }), delta)).toThrow("an image, which is whole from its start");
  });
});
