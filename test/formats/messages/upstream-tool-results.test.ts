import { describe, expect, test } from "bun:test";
import type { Block } from "../../../src/core/chat.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { failure } from "./make.ts";
import { assistant, called, messagesOf, result, text, user, wireText } from "./turns.ts";

describe("calls and results", () => {
  test("results come first, in the order of the calls, in one message", () => {
    const { messages } = messagesOf([
      user(text("q")),
      assistant(called("a"), called("b")),
      user(result("b", text("2"))),
      user(text("go on")),
      user(result("a", text("1"))),
    ]);
    expect(messages[2]!.content).toEqual([
      { type: "tool_result", tool_use_id: "a", content: "1" },
      { type: "tool_result", tool_use_id: "b", content: "2" },
      wireText("go on"),
    ]);
  });

  test("orphans become text, missing results are made, doubled ones give the last; each is told", () => {
    const { messages, losses } = messagesOf([
      user(text("q")),
      assistant(called("a"), called("b")),
      user(result("x", text("lost"))),
      user(result("a", text("old")), result("a", text("new"))),
    ]);
    expect(messages[2]!.content).toEqual([
      { type: "tool_result", tool_use_id: "a", content: "new" },
      { type: "tool_result", tool_use_id: "b", content: "no result was provided", is_error: true },
      wireText("[result of tool x] lost"),
    ]);
    expect(losses).toEqual([
      "repaired:messages[2]",
      "repaired:messages[4]",
      "synthesized:messages[1].tool_calls[1]",
    ]);
  });

  test("a call nobody answered is answered the same way next turn", () => {
    const first = messagesOf([user(text("q")), assistant(called("a"))]).messages;
    const next = messagesOf([user(text("q")), assistant(called("a")), user(text("well?"))]).messages;
    expect(first[2]!.content).toEqual([
      { type: "tool_result", tool_use_id: "a", content: "no result was provided", is_error: true },
    ]);
    expect(next[2]!.content).toEqual([...(first[2]!.content as JsonObject[]), wireText("well?")]);
  });

  test("legacy results are found by the name of the function", () => {
    const { messages } = messagesOf([
      user(text("q")),
      assistant(called("call_x", "f"), called("call_y", "g")),
      user(
        { type: "tool-result", id: "", name: "g", blocks: [text("G")] },
        { type: "tool-result", id: "", name: "f", blocks: [text("F")] },
      ),
    ]);
    expect(
      (messages[2]!.content as JsonObject[]).map(({ tool_use_id, content }) => [tool_use_id, content]),
    ).toEqual([
      ["call_x", "F"],
      ["call_y", "G"],
    ]);
  });

  test("ids are made legal, alike in call and result, and stay distinct", () => {
    const long = "x".repeat(64);
    const ids = ["call:1/ä", "a.b", "a_b", `${long}1`, `${long}2`, "functions.Bash:0"];
    const turns = [
      user(text("q")),
      assistant(...ids.map((id) => called(id))),
      user(...ids.map((id) => result(id, text(id)))),
    ];
    const { messages } = messagesOf(turns);
    const sent = (messages[1]!.content as JsonObject[]).map(({ id }) => String(id));
    for (const id of sent) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(new Set(sent).size).toBe(ids.length);
    const answered = messages[2]!.content as JsonObject[];
    expect(answered.map(({ tool_use_id, content }) => [tool_use_id, content])).toEqual(
      sent.map((id, index) => [id, ids[index]]),
    );
  });

  test("an id that comes again in every turn pairs with its own result", () => {
    const turn = (answer: string) => [assistant(called("call_0")), user(result("call_0", text(answer)))];
    const { messages } = messagesOf([user(text("q")), ...turn("one"), ...turn("two")]);
    const [first, second] = [messages[1]!, messages[3]!].map(
      ({ content }) => (content as JsonObject[])[0]!.id,
    );
    expect(first).not.toBe(second);
    expect((messages[2]!.content as JsonObject[])[0]).toMatchObject({ tool_use_id: first, content: "one" });
    expect((messages[4]!.content as JsonObject[])[0]).toMatchObject({ tool_use_id: second, content: "two" });
  });

  test("images in results are blocks, in order", () => {
    const image = (data: string): Block => ({
      type: "image",
      source: { type: "base64", mediaType: "image/png", data },
    });
    const { messages } = messagesOf([
      user(text("q")),
      assistant(called("a"), called("b")),
      user(result("a", text("one"), image("AAAA")), result("b", image("BBBB"))),
    ]);
    const contents = (messages[2]!.content as JsonObject[]).map(({ content }) => content as JsonObject[]);
    expect(contents[0]!.map(({ type }) => type)).toEqual(["text", "image"]);
    expect(contents[1]).toEqual([
      { type: "image", source: { type: "base64", media_type: "image/png", data: "BBBB" } },
    ]);
  });

  test("failure is told; arguments are objects whatever they were", () => {
    const { messages } = messagesOf([
      user(text("q")),
      assistant(called("a", "f", ""), called("b", "f", "[1]"), called("c", "f", "{cut"), {
        ...called("d", "p", "raw"),
        kind: "custom",
      }),
      user({ ...result("a", text("no")), error: true }, result("b"), result("c"), result("d")),
    ]);
    expect((messages[1]!.content as JsonObject[]).map(({ input }) => input as unknown)).toEqual([
      {},
      { value: [1] },
      { __invalid_json: "{cut" },
      { input: "raw" },
    ]);
    expect((messages[2]!.content as JsonObject[])[0]!.is_error).toBe(true);
  });
});
