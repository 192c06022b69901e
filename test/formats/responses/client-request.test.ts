/** What the codec reads from a request. */
import { describe, expect, test } from "bun:test";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { wrap } from "../../../src/core/provenance.ts";
import { sealSummary } from "../../../src/formats/responses/compaction.ts";
import { bare, decode, requestWith } from "./make.ts";

const user = (content: Json) => ({ role: "user", content });
const call = (call_id: string, name = "f") => ({ type: "function_call", call_id, name, arguments: "{}" });
const result = (call_id: string, output: Json = "ok") => ({ type: "function_call_output", call_id, output });

/** One word for each block: its role, and what it is about. */
function sketch(input: Json): string[] {
  return decode(input).request.turns.flatMap(({ role, blocks }) =>
    blocks.map((block) => {
      if (block.type === "tool-call" || block.type === "tool-result")
        return `${role} ${block.type} ${block.id}`;
      return `${role} ${block.type === "text" ? block.text : block.type}`;
    }),
  );
}

describe("input", () => {
  test("as a text is one turn of the user, behind the instructions", () => {
    const { turns } = decode("hi", { instructions: "Be brief." }).request;
    expect(turns.map(({ role, path }) => [role, path])).toEqual([
      ["system", "instructions"],
      ["user", "input"],
    ]);
    expect(decode("hi", { instructions: "" }).request.turns).toHaveLength(1);
  });

  test("may leave out the type of messages, and hold null for any member", () => {
    const items = [
      { role: "user", content: "a", id: null, status: null },
      { type: null, role: "assistant", content: [{ type: "output_text", text: "b" }], id: null },
      { type: "message", role: "user", content: null },
      {
        type: "function_call",
        id: null,
        call_id: "c",
        name: "f",
        arguments: "{}",
        status: null,
        namespace: null,
      },
      { type: "function_call_output", id: null, call_id: "c", output: null, status: null },
      { type: "reasoning", id: null, summary: [], content: null, encrypted_content: null, status: null },
    ];
    expect(sketch(items)).toEqual(["user a", "assistant b", "assistant tool-call c", "user tool-result c"]);
  });

  test("has roles that the format knows", () => {
    expect(
      sketch([{ role: "developer", content: "d" }, { role: "system", content: "s" }, user("u")]),
    ).toEqual(["system d", "system s", "user u"]);
    expect(() => decode([{ role: "narrator", content: "x" }])).toThrow("input[0].role");
    expect(() => decode([{ content: "x" }])).toThrow("input[0].role");
  });

  test("has its images, files and audio as blocks", () => {
    const parts = [
      { type: "input_image", image_url: "data:image/png;base64,iVBORw0KGgo=", detail: "low" },
      { type: "input_image", image_url: "https://a.example/x.png" },
      { type: "input_file", filename: "a.txt", file_data: "data:text/plain;base64,aGk=" },
      { type: "input_file", file_url: "https://a.example/x.pdf" },
      { type: "input_file", file_id: "file_1" },
      { type: "input_audio", input_audio: { data: "AAAA", format: "mp3" } },
    ];
    expect(decode([user(parts)]).request.turns[0]!.blocks).toMatchObject([
      { type: "image", source: { type: "base64", mediaType: "image/png" }, detail: "low" },
      { type: "image", source: { type: "url", url: "https://a.example/x.png" } },
      { type: "document", source: { type: "text", text: "hi" }, title: "a.txt" },
      { type: "document", source: { type: "url" } },
      { type: "document", source: { type: "file", id: "file_1" } },
      { type: "audio", format: "mp3", path: "input[0].content[5]" },
    ]);
  });

  test("names the member that a part lacks", () => {
    expect(() => decode([user([{ type: "input_text" }])])).toThrow("input[0].content[0].text");
    expect(() => decode([user([{ type: "input_image" }])])).toThrow("input[0].content[0].image_url");
  });
});

describe("calls and results", () => {
  test("that stand together keep their order: calls, then results", () => {
    expect(
      sketch([user("u"), call("a"), call("b"), call("c"), result("a"), result("b"), result("c")]),
    ).toEqual([
      "user u",
      "assistant tool-call a",
      "assistant tool-call b",
      "assistant tool-call c",
      "user tool-result a",
      "user tool-result b",
      "user tool-result c",
    ]);
  });

  test("have messages between them behind the results, and text of the assistant before them", () => {
    const items = [
      call("a"),
      { role: "developer", content: "d" },
      call("b"),
      result("a"),
      { role: "assistant", content: "x" },
      result("b"),
      user("u"),
    ];
    expect(sketch(items)).toEqual([
      "assistant tool-call a",
      "assistant tool-call b",
      "assistant x",
      "user tool-result a",
      "user tool-result b",
      "system d",
      "user u",
    ]);
  });

  test("without each other stay at their place", () => {
    expect(sketch([result("x"), user("u"), call("a"), user("v")])).toEqual([
      "user tool-result x",
      "user u",
      "assistant tool-call a",
      "user v",
    ]);
  });

  test("with the same id belong together in pairs", () => {
    expect(sketch([call("a"), result("a"), user("u"), call("a"), user("v"), result("a")])).toEqual([
      "assistant tool-call a",
      "user tool-result a",
      "user u",
      "assistant tool-call a",
      "user tool-result a",
      "user v",
    ]);
  });

  test("may have images in the result, and say that the call failed", () => {
    const parts = [{ type: "input_image", image_url: "https://a.example/x.png" }];
    const { turns } = decode([call("a"), { ...result("a", parts), status: "incomplete" }]).request;
    expect(turns[1]!.blocks[0]).toMatchObject({ error: true, blocks: [{ type: "image" }] });
  });

  test("of own item types become calls of the declared functions, and their results text", () => {
    const items = [
      {
        type: "local_shell_call",
        id: "lsh_1",
        call_id: "a",
        action: { type: "exec", command: ["ls"], env: {} },
      },
      { type: "local_shell_call_output", id: "lsh_1", output: "x" },
      { type: "shell_call", call_id: "b", action: { commands: ["ls"] } },
      {
        type: "shell_call_output",
        call_id: "b",
        output: [{ stdout: "out", stderr: "err", outcome: { type: "exit", exit_code: 2 } }],
      },
      { type: "apply_patch_call", call_id: "c", operation: { type: "delete_file", path: "p" } },
      { type: "apply_patch_call_output", call_id: "c", status: "failed", output: "no such file" },
      { type: "tool_search_call", call_id: "d", execution: "client", arguments: { query: "q" } },
      {
        type: "tool_search_output",
        call_id: "d",
        execution: "client",
        tools: [{ type: "function", name: "g" }],
      },
    ];
    const { request } = decode(items);
    const blocks = request.turns.flatMap((turn) => turn.blocks);
    expect(blocks).toMatchObject([
      { name: "local_shell", input: '{"command":["ls"]}', id: "a" },
      { id: "a", blocks: [{ text: "x" }] },
      { name: "shell", input: '{"commands":["ls"]}' },
      { id: "b", blocks: [{ text: "out\nerr\nExit code: 2" }] },
      { name: "apply_patch", input: '{"type":"delete_file","path":"p"}' },
      { id: "c", error: true, blocks: [{ text: "no such file" }] },
      { name: "tool_search", input: '{"query":"q"}' },
      { id: "d", blocks: [{ text: "Found tools: g" }] },
    ]);
    expect(request.tools.map(({ name }) => name)).toEqual(["g"]);
  });
});

describe("the assistant", () => {
  test("may have blank messages, which are left out", () => {
    expect(sketch([user("u"), { role: "assistant", content: " \n" }, call("a"), result("a")])).toEqual([
      "user u",
      "assistant tool-call a",
      "user tool-result a",
    ]);
  });

  test("may have two messages in a row, which stay apart; what belongs together is one turn", () => {
    const summary = [{ type: "summary_text", text: "r" }];
    const items = [
      { type: "reasoning", summary },
      { role: "assistant", content: "one" },
      { role: "assistant", content: "two" },
      call("a"),
      result("a"),
    ];
    const { turns } = decode(items).request;
    expect(turns.map(({ blocks }) => blocks.map(({ type }) => type))).toEqual([
      ["reasoning", "text"],
      ["text", "tool-call"],
      ["tool-result"],
    ]);
  });

  test("says in which phase it wrote a text", () => {
    const { turns } = decode([{ role: "assistant", phase: "commentary", content: "x" }]).request;
    expect(turns[0]!.blocks[0]).toMatchObject({ text: "x", phase: "commentary" });
  });

  test("has reasoning with the provider that made it; nothing is left of reasoning without content", () => {
    const summary = [
      { type: "summary_text", text: "a" },
      { type: "summary_text", text: "b" },
    ];
    const items = [
      { type: "reasoning", summary, encrypted_content: wrap("deepseek", "SIG") },
      { type: "reasoning", summary: [], encrypted_content: "gAAA" },
      { type: "reasoning", summary: [], content: [{ type: "reasoning_text", text: "open" }] },
      { type: "reasoning", summary: [] },
    ];
    expect(decode(items).request.turns.flatMap(({ blocks }) => blocks)).toMatchObject([
      { text: "a\n\nb", parts: ["a", "b"], signature: "SIG", origin: "deepseek" },
      { text: "", signature: "gAAA", origin: "openai" },
      { text: "open" },
    ]);
  });
});

describe("items that only the vendor understands", () => {
  test("are blocks of the format, a web search with its words", () => {
    const items = [
      { type: "web_search_call", id: "ws_1", action: { type: "search", query: "bun" } },
      { type: "some_future_type", x: 1 },
    ];
    expect(decode(items).request.turns.flatMap(({ blocks }) => blocks)).toMatchObject([
      { type: "foreign", format: "responses", text: "[web search: bun]" },
      { type: "foreign", format: "responses", value: items[1] },
    ]);
  });

  test("by reference to an unknown item are left out and reported", () => {
    const { request, losses } = decode([user("u"), { id: "rs_1" }, { type: "item_reference", id: "msg_1" }]);
    expect([request.turns.length, losses]).toEqual([1, ["dropped:input[1]", "dropped:input[2]"]]);
  });
});

describe("compaction", () => {
  test("by weir is a message with the summary; that of a vendor is refused where it cannot be read", () => {
    const sealed = sealSummary("We fixed the bug.", "m");
    const own = { type: "compaction", encrypted_content: sealed };
    expect(sketch([own])).toEqual(["user Summary of the conversation so far:\n\nWe fixed the bug."]);
    const foreign = { type: "compaction", encrypted_content: "gAAA" };
    expect(() => decode([own, foreign])).toThrow(
      expect.objectContaining({ kind: "invalid-request", param: "input[1]" }),
    );
  });

  test("is asked for once, at the end", () => {
    const trigger = { type: "compaction_trigger" };
    expect(sketch([user("u"), trigger])).toEqual(["user u"]);
    expect(() => decode([trigger, user("u")])).toThrow("input[0]");
    expect(() => decode([user("u"), trigger, trigger])).toThrow("input[1]");
  });
});

describe("tools", () => {
  test("are functions, flat or nested, and custom tools with their grammar", () => {
    const format = { type: "grammar", syntax: "lark", definition: "start: x" };
    const { tools } = requestWith([
      { type: "function", name: "f", description: "d", parameters: { type: "object" }, strict: true },
      { type: "function", name: "g", parameters: null, strict: null },
      { type: "function", function: { name: "h" } },
      { type: "custom", name: "c", description: "d", format },
    ]);
    expect(bare(tools)).toEqual([
      {
        kind: "function",
        name: "f",
        description: "d",
        parameters: { type: "object" },
        strict: true,
        path: "tools[0]",
      },
      { kind: "function", name: "g", path: "tools[1]" },
      { kind: "function", name: "h", path: "tools[2]" },
      {
        kind: "custom",
        name: "c",
        description: "d",
        grammar: { syntax: "lark", definition: "start: x" },
        path: "tools[3]",
      },
    ]);
  });

  test("in a namespace have joined names, and so have their calls and a choice of one", () => {
    const inner = { type: "function", name: "read" };
    const tools = [{ type: "namespace", name: "docs", description: "d", tools: [inner] }];
    const { request } = decode([{ ...call("a", "read"), namespace: "docs" }], {
      tools,
      tool_choice: { type: "function", name: "read", namespace: "docs" },
    });
    expect(request.tools[0]).toMatchObject({
      name: "docs__read",
      path: "tools[0].tools[0]",
      format: "responses",
      value: { type: "namespace", name: "docs", description: "d", tools: [inner] },
    });
    expect(request.turns[0]!.blocks[0]).toMatchObject({ name: "docs__read" });
    expect(request.toolChoice).toEqual({ type: "tool", name: "docs__read" });
  });

  test("that items add join those of the request", () => {
    const added = { type: "additional_tools", role: "developer", tools: [{ type: "function", name: "g" }] };
    const { tools } = decode([user("u"), added], { tools: [{ type: "function", name: "f" }] }).request;
    expect(tools.map(({ name, path }) => [name, path])).toEqual([
      ["f", "tools[0]"],
      ["g", "input[1].tools[0]"],
    ]);
  });

  test("that only the vendor runs are refused if the model could use no other, or must use them", () => {
    const f = { type: "function", name: "f" };
    const search = { type: "web_search" };
    expect(requestWith([f, search]).tools.map(({ kind }) => kind)).toEqual(["function", "foreign"]);
    const refused: [JsonObject[], JsonObject?][] = [
      [[search]],
      [[{ type: "file_search" }, { type: "mcp" }]],
      [[f, search], { tool_choice: { type: "web_search" } }],
      [[f, { type: "computer" }]],
      [[{ type: "shell", environment: { type: "container_auto" } }]],
    ];
    for (const [tools, more] of refused)
      expect(() => requestWith(tools, more)).toThrow("the provider has no tool of type");
    expect(() => decode("hi", { tools: [search] }, { sameFormat: true })).not.toThrow();
  });

  test.each([
    ["auto", { type: "auto" }],
    ["required", { type: "required" }],
    [
      { type: "function", name: "f" },
      { type: "tool", name: "f" },
    ],
    [
      { type: "function", function: { name: "f" } },
      { type: "tool", name: "f" },
    ],
    [
      { type: "custom", name: "c" },
      { type: "tool", name: "c" },
    ],
    [{ type: "apply_patch" }, { type: "tool", name: "apply_patch" }],
    [
      { type: "allowed_tools", mode: "required", tools: [{ type: "function", name: "f" }] },
      { type: "allowed", names: ["f"], required: true },
    ],
  ])("are chosen by %p", (tool_choice: Json, expected) => {
    expect(decode("hi", { tool_choice }).request.toolChoice).toEqual(expected as never);
  });
});

describe("options", () => {
  test("have their canonical names", () => {
    const { request } = decode("hi", {
      max_output_tokens: 9,
      temperature: 0.5,
      top_p: 0.9,
      parallel_tool_calls: false,
      reasoning: { effort: "high", summary: "auto" },
      text: {
        verbosity: "low",
        format: { type: "json_schema", name: "n", schema: { type: "object" }, strict: true },
      },
      safety_identifier: "s",
      user: "u",
      prompt_cache_key: "k",
      service_tier: "default",
      stream: true,
    });
    expect(request).toMatchObject({
      maxTokens: 9,
      temperature: 0.5,
      topP: 0.9,
      parallelToolCalls: false,
      reasoning: { effort: "high" },
      verbosity: "low",
      answerFormat: { type: "json-schema", name: "n", schema: { type: "object" }, strict: true },
      user: "s",
      session: "k",
      serviceTier: "standard",
      stream: true,
    });
  });

  test("of effort and format are those of the last item that changes them", () => {
    const update = { type: "configuration_update", reasoning: { effort: "low" } };
    const format = { type: "configuration_update", text: { format: { type: "json_object" } } };
    const { request } = decode([user("u"), update, format], { reasoning: { effort: "high" } });
    expect([request.reasoning, request.answerFormat]).toEqual([{ effort: "low" }, { type: "json" }]);
  });

  test("that make no sense are refused with their path", () => {
    expect(() => decode("hi", { max_output_tokens: 0 })).toThrow("'max_output_tokens'");
    expect(() => decode("hi", { Max_output_tokens: 5 })).toThrow("max_output_tokens");
    expect(() => decode([])).toThrow("'input'");
    expect(() => decode([], { previous_response_id: "resp_1" })).not.toThrow();
  });
});
