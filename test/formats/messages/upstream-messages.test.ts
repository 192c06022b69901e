import { describe, expect, test } from "bun:test";
import type { Turn } from "../../../src/core/chat.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { decode, encode, failure, upstream } from "./make.ts";
import { assistant, called, messagesOf, result, system, text, user, wireText } from "./turns.ts";

describe("system", () => {
  test("at the head it is the top-level field, a block each, in order", () => {
    const { system: head, messages } = messagesOf([
      system(text("a"), text("b")),
      system(text("c")),
      user(text("hi")),
    ]);
    expect(head).toEqual([wireText("a"), wireText("b"), wireText("c")]);
    expect(messages).toEqual([{ role: "user", content: [wireText("hi")] }]);
  });

  test("later: a system turn where model and place allow it", () => {
    const turns = [user(text("hi")), system(text("note"))];
    expect(messagesOf(turns, { model: "claude-opus-5-5" }).messages).toEqual([
      { role: "user", content: [wireText("hi")] },
      { role: "system", content: [wireText("note")] },
    ]);
    expect(messagesOf(turns, { model: "claude-sonnet-4-5" }).messages).toEqual([
      { role: "user", content: [wireText("hi"), wireText("<system-reminder>\nnote\n</system-reminder>")] },
    ]);
  });

  test("later: in an illegal place the user says it", () => {
    const { messages, losses } = messagesOf([user(text("hi")), system(text("note")), user(text("more"))], {
      model: "claude-opus-5-5",
    });
    expect(messages).toEqual([
      {
        role: "user",
        content: [wireText("hi"), wireText("<system-reminder>\nnote\n</system-reminder>"), wireText("more")],
      },
    ]);
    expect(losses).toEqual([]);
  });

  test("between a call and its result it ends up behind the results", () => {
    for (const model of ["claude-opus-5-5", "claude-haiku-4-5"]) {
      const { messages } = messagesOf(
        [user(text("q")), assistant(called("a")), system(text("note")), user(result("a", text("r")))],
        { model },
      );
      expect((messages[2]!.content as JsonObject[]).map(({ type }) => type)).toEqual(["tool_result", "text"]);
    }
  });

  test("the effort of a turn becomes the request's; a client of this format may keep it in place", () => {
    const turns: Turn[] = [user(text("hi")), { ...system(text("note")), effort: "low" }];
    const chat = encode({ turns }, { model: "claude-opus-5-5" }).body;
    expect(chat.output_config).toEqual({ effort: "low" });
    expect((chat.messages as JsonObject[])[1]).not.toHaveProperty("output_config");
    const own = encode({ turns }, { model: "claude-opus-5-5", format: "messages" }).body;
    expect((own.messages as JsonObject[])[1]!.output_config).toEqual({ effort: "low" });
    expect(own).not.toHaveProperty("output_config");
    const older = encode({ turns }, { model: "claude-opus-4-6", format: "messages" }).body;
    expect(older.output_config).toEqual({ effort: "low" });
    expect(
      encode({ turns: [user(text("hi")), { ...system(), effort: "high" }] }, { model: "claude-opus-4-8" })
        .body.output_config,
    ).toEqual({
      effort: "high",
    });
  });
});

describe("order, merging, blanks", () => {
  test("messages of one role in a row are one", () => {
    const { messages } = messagesOf([
      user(text("a")),
      user(text("b")),
      assistant(text("c")),
      assistant(text("d")),
      user(text("e")),
    ]);
    expect(messages).toEqual([
      { role: "user", content: [wireText("a"), wireText("b")] },
      { role: "assistant", content: [wireText("c"), wireText("d")] },
      { role: "user", content: [wireText("e")] },
    ]);
  });

  test("blank text goes, blank messages too, and never a space stands in", () => {
    const { messages } = messagesOf([
      user(text("q")),
      assistant(text("\n\n"), called("a")),
      user(result("a", text(" ")), text("\t")),
      assistant(text(" ")),
    ]);
    expect(messages).toEqual([
      { role: "user", content: [wireText("q")] },
      { role: "assistant", content: [{ type: "tool_use", id: "a", name: "f", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "a" }] },
    ]);
  });

  test("a user who says nothing where one must speak", () => {
    expect(messagesOf([user(text(" "))]).messages).toEqual([
      { role: "user", content: [wireText("(empty)")] },
    ]);
    expect(messagesOf([user(text("a")), assistant(text("b")), user()]).messages.at(-1)).toEqual({
      role: "user",
      content: [wireText("(empty)")],
    });
    expect(
      messagesOf([assistant(), system(text("x"))], { model: "claude-opus-5-5" }).messages[0],
    ).toMatchObject({ role: "user" });
  });

  test("the first message is the user's", () => {
    const { messages, losses } = messagesOf([assistant(text("hello")), user(text("hi"))]);
    expect(messages[0]).toEqual({ role: "user", content: [wireText("(continue)")] });
    expect(losses).toEqual(["synthesized:messages[0]"]);
  });

  test("nothing but a system prompt is refused", async () => {
    const error = await failure(() => messagesOf([system(text("x"))]));
    expect(error).toMatchObject({ kind: "invalid-request", param: "messages" });
    expect(error.message).toContain("at least one non-system message is required");
  });

  test("nothing of the assistant's is invented", () => {
    const turns = [user(text("q")), assistant(called("a")), user(result("a", text("r"))), user(text("and?"))];
    expect(messagesOf(turns).messages.filter(({ role }) => role === "assistant")).toHaveLength(1);
  });
});

describe("a begun answer (prefill)", () => {
  const turns = [user(text("q")), assistant(text("It is  \n"))];

  test("is kept, trimmed, for models that continue it", () => {
    const { messages, losses } = messagesOf(turns, { model: "claude-sonnet-4-5" });
    expect(messages.at(-1)).toEqual({ role: "assistant", content: [wireText("It is")] });
    expect(losses).toEqual([]);
  });

  test("is followed by the user for those that do not", () => {
    const { messages, losses } = messagesOf(turns, { model: "claude-opus-4-6" });
    expect(messages.at(-1)).toEqual({ role: "user", content: [wireText("(continue)")] });
    expect(losses).toEqual(["synthesized:messages[1]"]);
  });

  test("likewise while the model thinks, and when the answer has a schema", () => {
    const thinking = encode(
      { turns, reasoning: { effort: "low" }, maxTokens: 9000 },
      { model: "claude-sonnet-4-5" },
    );
    expect((thinking.body.messages as JsonObject[]).at(-1)!.role).toBe("user");
    const bound = encode(
      { turns, answerFormat: { type: "json-schema", schema: {} } },
      { model: "claude-sonnet-4-5" },
    );
    expect((bound.body.messages as JsonObject[]).at(-1)!.role).toBe("user");
  });

  test("a turn the vendor paused goes back as it is", () => {
    const value = { type: "server_tool_use", id: "s", name: "web_search", input: {} };
    const paused = [user(text("q")), assistant({ type: "foreign", format: "messages", value })];
    expect(messagesOf(paused, { model: "claude-opus-4-6", format: "messages" }).messages.at(-1)).toEqual({
      role: "assistant",
      content: [value],
    });
  });
});

describe("equal histories, equal bytes", () => {
  const turns = [
    system(text("s")),
    user(text("q")),
    assistant(text("a"), called("bad:id"), called("bad:id2")),
    user(result("bad:id", text("1"))),
    assistant(text("done")),
    user(text("more")),
  ];
  const bytes = (list: Turn[]) =>
    JSON.stringify(encode({ turns: list, cache: {} }, { traits: { topLevelCacheControl: true } }).body);

  test("the same twice is the same", () => expect(bytes(turns)).toBe(bytes(turns)));

  test("a turn more keeps the bytes in front of it", () => {
    for (const length of [2, 6]) {
      const before = bytes(turns.slice(0, length));
      const after = bytes([...turns.slice(0, length), assistant(text("x")), user(text("y"))]);
      // Without the end of the list and of the body.
      expect(after.startsWith(before.slice(0, -2))).toBe(true);
    }
  });
});

test("a request in this format goes round: decoded and encoded, it says the same", () => {
  const body: JsonObject = {
    model: "claude-opus-5-5",
    max_tokens: 64,
    output_config: { effort: "medium" },
    thinking: { type: "adaptive", display: "omitted" },
    metadata: { user_id: '{"session_id":"s"}' },
    context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
    system: [
      wireText("x-anthropic-billing-header: v=1;"),
      { ...wireText("be good"), cache_control: { type: "ephemeral" } },
    ],
    tools: [
      {
        name: "Bash",
        description: "runs",
        input_schema: { type: "object", properties: { command: { type: "string" } } },
      },
      { name: "Later", input_schema: { type: "object" }, defer_loading: true },
      { type: "web_search_20260209", name: "web_search", max_uses: 2 },
    ],
    messages: [
      { role: "user", content: [wireText("hi")] },
      { role: "system", content: [wireText("env")], output_config: { effort: "low" } },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "t", signature: "S" },
          { type: "tool_use", id: "toolu_1", name: "Bash", input: { command: "ls" } },
        ],
      },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "toolu_1",
            content: "ok",
            cache_control: { type: "ephemeral" },
          },
        ],
      },
    ],
  };
  const { request, context } = decode(body, { model: "claude-opus-5-5" });
  expect(upstream.codec.encodeRequest(request, context)).toEqual(body);
  expect(context.losses).toEqual([]);
});
