import { describe, expect, test } from "bun:test";
import type { ChatEvent } from "../../../src/core/events.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { isWrapped } from "../../../src/core/provenance.ts";
import {
  answer,
  client,
  dataOf,
  decode,
  makeRequest,
  reasoning,
  stream,
  text,
  tool,
  writeAnswer,
} from "./make.ts";
import { accumulate } from "./sdk.ts";
import { content, own, sketch } from "./sketch.ts";

describe("reasoning behind a text", () => {
  const sealed = (index: number): ChatEvent[] => [
    { type: "block-start", index, block: { type: "reasoning", origin: "google" } },
    { type: "block-end", index, signature: "SIG" },
  ];

  test("is no block if it ends the answer and has no text, because programs take the last block for the answer", async () => {
    const context = own();
    const events = answer([...text(0, "a"), ...sealed(1)]);
    expect(content(writeAnswer(events, context)).map(({ type }) => type)).toEqual(["text"]);
    expect(context.losses).toMatchObject([{ code: "dropped", path: "content[1]" }]);
    expect(content(await accumulate(stream(events, own()))).map(({ type }) => type)).toEqual(["text"]);
  });

  test("is a block in its place if a call follows, or if it has a text", () => {
    const call = answer([...text(0, "a"), ...sealed(1), ...tool(2, "f", ["{}"])], { kind: "tool-calls" });
    const types = (events: readonly ChatEvent[]) =>
      content(writeAnswer(events, own())).map(({ type }) => type);
    expect(types(call)).toEqual(["text", "thinking", "tool_use"]);
    expect(types(answer([...text(0, "a"), ...reasoning(1, ["r"])]))).toEqual(["text", "thinking"]);
  });
});

describe("blocks", () => {
  const three = answer([...text(0, "a"), ...reasoning(1, ["b"]), ...text(2, "c")]);

  test("a change of kind closes the block before", () => {
    expect(sketch(three).filter((line) => /start \d|stop \d/.test(line))).toEqual([
      "content_block_start 0 text",
      "content_block_stop 0",
      "content_block_start 1 thinking",
      "content_block_stop 1",
      "content_block_start 2 text",
      "content_block_stop 2",
    ]);
  });

  test("indexes count blocks, whatever they are", () => {
    const six = answer(
      [
        ...reasoning(0, ["r"]),
        ...text(1, "t"),
        ...reasoning(2, ["r"]),
        ...tool(3, "f", ["{}"]),
        ...text(4, "t"),
        ...tool(5, "g", ["{}"]),
      ],
      { kind: "tool-calls" },
    );
    expect(content(writeAnswer(six, own())).map(({ type }) => type)).toEqual([
      "thinking",
      "text",
      "thinking",
      "tool_use",
      "text",
      "tool_use",
    ]);
    const indexes = sketch(six).flatMap((line) => /start (\d)/.exec(line)?.[1] ?? []);
    expect(indexes).toEqual(["0", "1", "2", "3", "4", "5"]);
  });

  test("blank text is no block; it stands in front of real text that follows", () => {
    const blank = answer([...tool(0, "f", ["{}"]), ...text(1, "\n"), ...tool(2, "g", ["{}"])], {
      kind: "tool-calls",
    });
    expect(sketch(blank).some((line) => line.includes("text"))).toBe(false);
    expect(content(writeAnswer(answer([...text(0, "\n", " x")]), own()))).toEqual([
      { type: "text", text: "\n x" },
    ]);
    expect(
      content(writeAnswer(answer([...text(0, "a"), ...text(1, "\n\n"), ...text(2, "b")]), own())),
    ).toEqual([
      { type: "text", text: "a" },
      { type: "text", text: "\n\nb" },
    ]);
  });

  test("a call without a usable name is no block, and the answer no tool call", () => {
    const nameless = answer([...tool(0, " ", ["{}"])], { kind: "tool-calls" });
    const message = writeAnswer(nameless, own());
    expect(message.content).toEqual([]);
    expect(message.stop_reason).toBe("end_turn");
    expect(sketch(nameless)).toEqual(["message_start", "message_delta end_turn", "message_stop"]);
  });

  test("fragments of two calls that arrive in turns end in two blocks, nothing lost", async () => {
    const fragments: ChatEvent[] = [
      { type: "block-start", index: 0, block: { type: "tool-call", id: "a", name: "f", kind: "function" } },
      { type: "block-start", index: 1, block: { type: "tool-call", id: "b", name: "g", kind: "function" } },
      { type: "block-delta", index: 0, delta: '{"a"' },
      { type: "block-delta", index: 1, delta: '{"b"' },
      { type: "block-delta", index: 0, delta: ":1}" },
      { type: "block-delta", index: 1, delta: ":2}" },
      { type: "block-end", index: 0 },
      { type: "block-end", index: 1 },
    ];
    const message = await accumulate(stream(answer(fragments, { kind: "tool-calls" }), own()));
    expect(content(message).map(({ name, input }) => [name, input])).toEqual([
      ["f", { a: 1 }],
      ["g", { b: 2 }],
    ]);
  });

  test("a whole call makes room for the next one before its end has come", () => {
    const call = own();
    const late: ChatEvent[] = [
      { type: "message-start", id: "x", model: "m" },
      { type: "block-start", index: 0, block: { type: "tool-call", id: "a", name: "f", kind: "function" } },
      { type: "block-delta", index: 0, delta: '{"a":1}' },
      { type: "block-start", index: 1, block: { type: "tool-call", id: "b", name: "g", kind: "function" } },
      { type: "block-delta", index: 1, delta: '{"b":' },
    ];
    const writer = client.codec.writeStream(call);
    const frames = late.flatMap((event) => writer.push(event)).map(({ data }) => data);
    expect(frames.at(-1)).toContain('{\\"b\\":');
  });

  test("reasoning has its text and exactly one signature, last and never empty", () => {
    const data = dataOf(stream(three, own()));
    const deltas = data
      .filter(({ index, delta }) => index === 1 && delta)
      .map(({ delta }) => delta as JsonObject);
    expect(deltas.map(({ type }) => type)).toEqual(["thinking_delta", "signature_delta"]);
    const thinking = content(writeAnswer(three, own()))[1]!;
    expect(thinking.thinking).toBe("b");
    expect(isWrapped(String(thinking.signature))).toBe(true);
    expect(String(thinking.signature)).toStartWith("weir1.deepseek.");
  });

  test("signatures of the vendor stay as they are, with and without text; redacted likewise", () => {
    const events = answer([
      ...reasoning(0, ["a"], "SIG", "anthropic"),
      ...reasoning(1, [], "SIG2", "anthropic"),
      { type: "block-start", index: 2, block: { type: "reasoning", redacted: "RED", origin: "anthropic" } },
      { type: "block-end", index: 2 },
    ]);
    expect(content(writeAnswer(events, own()))).toEqual([
      { type: "thinking", thinking: "a", signature: "SIG" },
      { type: "thinking", thinking: "", signature: "SIG2" },
      { type: "redacted_thinking", data: "RED" },
    ]);
  });

  test("reasoning that says nothing is no block", () => {
    expect(content(writeAnswer(answer(reasoning(0, [])), own()))).toEqual([]);
  });

  test("an unsigned end of Anthropic's own reasoning never looks like its signature", () => {
    const [block] = content(
      writeAnswer(answer(reasoning(0, ["cut"], undefined, "anthropic"), { kind: "length" }), own()),
    );
    expect(isWrapped(String(block!.signature))).toBe(true);
  });

  test("display omitted: no text, and the signature brings it back for the provider that wants it", () => {
    const request = makeRequest({ style: { hideReasoning: true } });
    const [block] = content(writeAnswer(answer(reasoning(0, ["se", "cret"])), own({ request })));
    expect(block!.thinking).toBe("");
    const back = decode({ messages: [{ role: "assistant", content: [block!] }] });
    expect(back.request.turns[0]!.blocks).toEqual([
      { type: "reasoning", text: "secret", origin: "deepseek" },
    ]);
  });

  test("ids that fit are kept, others and repeated ones are replaced", () => {
    const ids = content(
      writeAnswer(
        answer(
          [...tool(0, "f", [], "ok_1"), ...tool(1, "f", [], "ok_1"), ...tool(2, "f", [], "functions.f:0")],
          {
            kind: "tool-calls",
          },
        ),
        own(),
      ),
    ).map(({ id }) => String(id));
    expect(ids[0]).toBe("ok_1");
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  });

  test("a free-form call's text stands in the member `input`, streamed and whole", async () => {
    const custom = answer(
      [
        {
          type: "block-start",
          index: 0,
          block: { type: "tool-call", id: "c", name: "patch", kind: "custom" },
        },
        { type: "block-delta", index: 0, delta: 'say "hi"\n\ud83d' },
        { type: "block-delta", index: 0, delta: "\ude00" },
        { type: "block-end", index: 0 },
      ],
      { kind: "tool-calls" },
    );
    const input = { input: 'say "hi"\n😀' };
    expect(content(writeAnswer(custom, own()))[0]!.input).toEqual(input);
    expect(content(await accumulate(stream(custom, own())))[0]!.input).toEqual(input);
  });

  test("blocks of this format pass whole, calls of server tools with their input as a delta; others are left out", async () => {
    const search = { type: "server_tool_use", id: "s", name: "web_search", input: { query: "q" } };
    const foreign = (index: number, format: string, value: JsonObject): ChatEvent[] => [
      { type: "block-start", index, block: { type: "foreign", format, value } },
      { type: "block-end", index },
    ];
    const events = answer([
      ...foreign(0, "messages", search),
      ...foreign(1, "chat-completions", { type: "x" }),
    ]);
    expect(content(writeAnswer(events, own()))).toEqual([search]);
    expect(content(await accumulate(stream(events, own())))).toEqual([search]);
  });
});
