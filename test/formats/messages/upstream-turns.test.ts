import { describe, expect, test } from "bun:test";
import type { Block, ToolCallBlock, ToolResultBlock, Turn } from "../../../src/core/chat.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { decode, encode, failure, upstream } from "./make.ts";

const text = (value: string): Block => ({ type: "text", text: value });
const user = (...blocks: Block[]): Turn => ({ role: "user", blocks });
const assistant = (...blocks: Block[]): Turn => ({ role: "assistant", blocks });
const system = (...blocks: Block[]): Turn => ({ role: "system", blocks });
const called = (id: string, name = "f", input = "{}"): ToolCallBlock => ({
  type: "tool-call",
  id,
  name,
  input,
  kind: "function",
});
const result = (id: string, ...blocks: Block[]): ToolResultBlock => ({ type: "tool-result", id, blocks });

const wireText = (value: string) => ({ type: "text", text: value });

function messagesOf(turns: Turn[], options?: Parameters<typeof encode>[1]) {
  const { body, losses } = encode({ turns }, options);
  return {
    messages: body.messages as JsonObject[],
    system: body.system as JsonObject[] | undefined,
    losses,
    body,
  };
}

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

  test("G-66: between a call and its result it ends up behind the results", () => {
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
  test("G-64: messages of one role in a row are one", () => {
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

  test("F-58, F-59, G-63: blank text goes, blank messages too, and never a space stands in", () => {
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

  test("E.1.3.8: the first message is the user's", () => {
    const { messages, losses } = messagesOf([assistant(text("hello")), user(text("hi"))]);
    expect(messages[0]).toEqual({ role: "user", content: [wireText("(continue)")] });
    expect(losses).toEqual(["synthesized:messages[0]"]);
  });

  test("E.1.3.11: nothing but a system prompt is refused", async () => {
    const error = await failure(() => messagesOf([system(text("x"))]));
    expect(error).toMatchObject({ kind: "invalid-request", param: "messages" });
    expect(error.message).toContain("at least one non-system message is required");
  });

  test("G-68, F-62: nothing of the assistant's is invented", () => {
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

describe("calls and results", () => {
  test("F-63: results come first, in the order of the calls, in one message", () => {
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

  test("G-65: orphans become text, missing results are made, doubled ones give the last; each is told", () => {
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

  test("G-65: a call nobody answered is answered the same way next turn", () => {
    const first = messagesOf([user(text("q")), assistant(called("a"))]).messages;
    const next = messagesOf([user(text("q")), assistant(called("a")), user(text("well?"))]).messages;
    expect(first[2]!.content).toEqual([
      { type: "tool_result", tool_use_id: "a", content: "no result was provided", is_error: true },
    ]);
    expect(next[2]!.content).toEqual([...(first[2]!.content as JsonObject[]), wireText("well?")]);
  });

  test("E.1.4: legacy results are found by the name of the function", () => {
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

  test("F-70, F-71, G-89, G-90: ids are made legal, alike in call and result, and stay distinct", () => {
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

  test("E.8: an id that comes again in every turn pairs with its own result", () => {
    const turn = (answer: string) => [assistant(called("call_0")), user(result("call_0", text(answer)))];
    const { messages } = messagesOf([user(text("q")), ...turn("one"), ...turn("two")]);
    const [first, second] = [messages[1]!, messages[3]!].map(
      ({ content }) => (content as JsonObject[])[0]!.id,
    );
    expect(first).not.toBe(second);
    expect((messages[2]!.content as JsonObject[])[0]).toMatchObject({ tool_use_id: first, content: "one" });
    expect((messages[4]!.content as JsonObject[])[0]).toMatchObject({ tool_use_id: second, content: "two" });
  });

  test("F-60, F-61, F-64, G-83: images in results are blocks, in order", () => {
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

describe("content", () => {
  const one = (block: Block, options?: Parameters<typeof encode>[1]) => {
    const { messages, losses } = messagesOf([user(text("see"), block)], options);
    return { wire: (messages[0]!.content as JsonObject[])[1], losses };
  };
  const png = Buffer.from("\x89PNG\r\n\x1a\n....", "latin1").toString("base64");

  test("G-81: the bytes tell the type", () => {
    expect(
      one({ type: "image", source: { type: "base64", mediaType: "image/jpg", data: png } }).wire,
    ).toEqual({
      type: "image",
      source: { type: "base64", media_type: "image/png", data: png },
    });
    expect(
      one({ type: "image", source: { type: "base64", mediaType: "image/jpg", data: "AAAA" } }).wire,
    ).toMatchObject({
      source: { media_type: "image/jpeg" },
    });
  });

  test("G-81: public https goes as a URL, the rest is refused", async () => {
    const at = (url: string): Block => ({ type: "image", source: { type: "url", url }, detail: "high" });
    expect(one(at("https://example.com/a.png"))).toEqual({
      wire: { type: "image", source: { type: "url", url: "https://example.com/a.png" } },
      losses: [],
    });
    for (const url of [
      "http://example.com/a.png",
      "https://localhost/a",
      "https://10.0.0.1/a",
      "https://[::1]/a",
      "https://intranet/a",
      "ftp://x.org/a",
      "x",
    ])
      expect(await failure(() => one(at(url)))).toMatchObject({
        kind: "invalid-request",
        param: "messages[0].content[1]",
      });
  });

  test("images of other kinds are refused", async () => {
    const tiff: Block = { type: "image", source: { type: "base64", mediaType: "image/tiff", data: "AAAA" } };
    expect((await failure(() => one(tiff))).message).toContain("unsupported image type image/tiff");
  });

  test("a provider without images gets a word instead, and it is told", () => {
    const told = one(
      { type: "image", source: { type: "base64", mediaType: "image/png", data: png } },
      { traits: { images: false } },
    );
    expect(told).toEqual({ wire: wireText("[image omitted]"), losses: ["dropped:messages[0].content[1]"] });
  });

  test("G-82: PDF and text documents; other files are refused", async () => {
    const file = (mediaType: string, data: string): Block => ({
      type: "document",
      source: { type: "base64", mediaType, data },
      title: "a",
    });
    expect(
      one(file("application/octet-stream", Buffer.from("%PDF-1.7").toString("base64"))).wire,
    ).toMatchObject({
      type: "document",
      title: "a",
      source: { type: "base64", media_type: "application/pdf" },
    });
    expect(one(file("text/csv", Buffer.from("a,b").toString("base64"))).wire).toEqual({
      type: "document",
      title: "a",
      source: { type: "text", media_type: "text/plain", data: "a,b" },
    });
    expect((await failure(() => one(file("application/zip", "AAAA")))).message).toContain(
      "unsupported file type application/zip",
    );
  });

  test("G-87: ids of another vendor's files, and audio, are refused", async () => {
    const file: Block = { type: "document", source: { type: "file", id: "file-1" } };
    expect(await failure(() => one(file))).toMatchObject({
      kind: "invalid-request",
      code: "unsupported_value",
      param: "messages[0].content[1]",
    });
    expect(one(file, { format: "messages" }).wire).toEqual({
      type: "document",
      source: { type: "file", file_id: "file-1" },
    });
    expect((await failure(() => one({ type: "audio", data: "", format: "wav" }))).kind).toBe(
      "invalid-request",
    );
  });

  test("citations are asked for, except where a schema excludes them", () => {
    const source = { type: "text", mediaType: "text/plain", text: "x" } as const;
    const document: Block = { type: "document", source, citations: true };
    expect(one(document).wire).toMatchObject({ citations: { enabled: true } });
    const { body, losses } = encode({
      turns: [user(document)],
      answerFormat: {
        type: "json-schema",
        schema: { type: "object", properties: {}, additionalProperties: false },
      },
    });
    expect(JSON.stringify(body)).not.toContain("citations");
    expect(losses).toEqual(["dropped:messages[0].content[0].citations"]);
  });

  test("blocks of another format: their reading, or nothing, and told either way", () => {
    expect(one({ type: "foreign", format: "chat-completions", value: {}, text: "said" })).toEqual({
      wire: wireText("said"),
      losses: ["converted:messages[0].content[1]"],
    });
    expect(one({ type: "foreign", format: "chat-completions", value: {} })).toEqual({
      wire: undefined,
      losses: ["dropped:messages[0].content[1]"],
    });
  });
});

describe("reasoning in the history (contract E.7.2)", () => {
  const history = (block: Block): Turn[] => [user(text("q")), assistant(block, text("a")), user(text("go"))];
  const sent = (block: Block, options: Parameters<typeof encode>[1] = { model: "claude-opus-4-8" }) => {
    const { messages, losses } = messagesOf(history(block), options);
    return { blocks: (messages[1]!.content as JsonObject[]).slice(0, -1), losses };
  };
  const reasoning = (parts: Partial<Block>): Block => ({ type: "reasoning", text: "r", ...parts }) as Block;

  test("F-49, G-92: Anthropic's own goes back unchanged", () => {
    expect(sent(reasoning({ signature: "S", origin: "anthropic" })).blocks).toEqual([
      { type: "thinking", thinking: "r", signature: "S" },
    ]);
    expect(sent(reasoning({ text: "", signature: "S", origin: "anthropic" })).blocks).toEqual([
      { type: "thinking", thinking: "", signature: "S" },
    ]);
    expect(sent(reasoning({ text: "", redacted: "R", origin: "anthropic" })).blocks).toEqual([
      { type: "redacted_thinking", data: "R" },
    ]);
  });

  test("F-46, F-47, G-93: another vendor's never arrives, with or without signature, and it is told", () => {
    for (const parts of [
      { signature: "S", origin: "gemini" },
      { text: "", redacted: "R", origin: "openai" },
      {},
    ])
      expect(sent(reasoning(parts))).toEqual({ blocks: [], losses: ["dropped:messages[1]"] });
  });

  test("a provider that signs by itself in this format gets its own back and no other's", () => {
    const kimi = { model: "kimi-k3", provider: "moonshot" };
    expect(sent(reasoning({ signature: "S", origin: "moonshot" }), kimi).blocks).toHaveLength(1);
    expect(sent(reasoning({ signature: "S", origin: "anthropic" }), kimi).blocks).toHaveLength(0);
  });

  test("G-97: unsigned text goes only where it is wanted", () => {
    const model = "kimi-k3";
    expect(sent(reasoning({}), { model, traits: { reasoningReplay: "required" } }).blocks).toEqual([
      { type: "thinking", thinking: "r", signature: "" },
    ]);
    expect(sent(reasoning({}), { model }).blocks).toEqual([]);
    expect(
      sent(reasoning({}), { model: "claude-opus-4-8", traits: { reasoningReplay: "required" } }).blocks,
    ).toEqual([]);
  });
});

describe("equal histories, equal bytes (contract E.0.2)", () => {
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

  test("G-62: the same twice is the same", () => expect(bytes(turns)).toBe(bytes(turns)));

  test("G-62: a turn more keeps the bytes in front of it", () => {
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
  const { request, call } = decode(body, { model: "claude-opus-5-5" });
  expect(upstream.encodeRequest(request, call)).toEqual(body);
  expect(call.losses).toEqual([]);
});
