import { describe, expect, test } from "bun:test";
import type { Block, Tool } from "../../../src/core/chat.ts";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { wrap } from "../../../src/core/provenance.ts";
import { decode, failure } from "./make.ts";

const user = (content: Json): JsonObject => ({ role: "user", content });

function blocksOf(content: Json, role = "user"): Block[] {
  return decode({ messages: [{ role, content }] }).request.turns[0]!.blocks;
}

describe("top-level fields", () => {
  test("everything with a canonical place", () => {
    const { request } = decode({
      system: "be brief",
      messages: [user("hi")],
      max_tokens: 7,
      temperature: 0.5,
      top_p: 0.9,
      top_k: 3,
      stop_sequences: ["END"],
      stream: true,
      service_tier: "standard_only",
      cache_control: { type: "ephemeral", ttl: "1h" },
      metadata: { user_id: "u1" },
      tool_choice: { type: "any", disable_parallel_tool_use: true },
      tools: [{ name: "f", input_schema: { type: "object" } }],
    });
    expect(request).toMatchObject({
      maxTokens: 7,
      temperature: 0.5,
      topP: 0.9,
      topK: 3,
      stop: ["END"],
      stream: true,
      serviceTier: "standard_only",
      cache: { ttl: "1h" },
      user: "u1",
      toolChoice: { type: "required" },
      parallelToolCalls: false,
      extra: { messages: {} },
    });
    expect(request.turns[0]).toEqual({ role: "system", blocks: [{ type: "text", text: "be brief" }] });
  });

  test("F-57: system as text and as blocks is the same", () => {
    const text = decode({ system: "x", messages: [user("hi")] }).request.turns;
    const blocks = decode({ system: [{ type: "text", text: "x" }], messages: [user("hi")] }).request.turns;
    expect(text).toEqual(blocks);
  });

  test("fields without a place travel under the format's name, whole", () => {
    const { request } = decode({
      messages: [user("hi")],
      context_management: { edits: [{ type: "clear_thinking_20251015" }] },
      container: "c1",
      speed: "fast",
      future: { a: [1] },
      output_config: { effort: "low", task_budget: { total: 5 } },
      metadata: { user_id: "u", tenant: "t" },
      ignored: null,
    });
    expect(request.extra).toEqual({
      messages: {
        context_management: { edits: [{ type: "clear_thinking_20251015" }] },
        container: "c1",
        speed: "fast",
        future: { a: [1] },
        output_config: { task_budget: { total: 5 } },
        metadata: { tenant: "t" },
      },
    });
  });

  const WISHES: [string, JsonObject, unknown][] = [
    ["disabled", { thinking: { type: "disabled" } }, { mode: "off" }],
    [
      "adaptive, omitted",
      { thinking: { type: "adaptive", display: "omitted" } },
      { mode: "adaptive", display: "omitted" },
    ],
    ["enabled", { thinking: { type: "enabled", budget_tokens: 2000 } }, { mode: "budget", budget: 2000 }],
    ["between tools", { thinking: { type: "between_tools" } }, { mode: "between-tools" }],
    ["effort alone", { output_config: { effort: "high" } }, { effort: "high" }],
    ["nothing", {}, undefined],
  ];
  for (const [name, parts, wish] of WISHES)
    test(`thinking: ${name}`, () => {
      const { request } = decode({ messages: [user("hi")], ...parts });
      expect(request.reasoning as unknown).toEqual(wish);
      expect(request.style.hideReasoning).toBe(request.reasoning?.display === "omitted");
    });

  test("thinking of a kind nobody knows, and its unknown members, are kept", () => {
    expect(decode({ messages: [user("hi")], thinking: { type: "dreaming" } }).request.extra.messages).toEqual(
      {
        thinking: { type: "dreaming" },
      },
    );
    const bound = { type: "adaptive", block_binding: { prefix_mismatch_behavior: "error" } };
    expect(decode({ messages: [user("hi")], thinking: bound }).request.extra.messages).toEqual({
      thinking: { block_binding: { prefix_mismatch_behavior: "error" } },
    });
  });

  test("a schema, under its name and its old one", () => {
    const format = { type: "json_schema", schema: { type: "object" } };
    const wish = { type: "json-schema" as const, schema: { type: "object" } };
    expect(decode({ messages: [user("hi")], output_config: { format } }).request.answerFormat).toEqual(wish);
    expect(decode({ messages: [user("hi")], output_format: format }).request.answerFormat).toEqual(wish);
  });

  test("F-91: the session, from the header, from the JSON, and from the older spelling", () => {
    const session = (user_id: string, headers = {}) =>
      decode({ messages: [user("hi")], metadata: { user_id } }, { headers }).request.session;
    expect(session(JSON.stringify({ device_id: "d", session_id: "s-1" }))).toBe("s-1");
    expect(session("user_ab12_account__session_0b-1f")).toBe("0b-1f");
    expect(session("plain")).toBeUndefined();
    expect(session("{broken")).toBeUndefined();
    expect(session("plain", { "x-claude-code-session-id": "h-1" })).toBe("h-1");
  });
});

describe("blocks", () => {
  test("text with a cache mark keeps lifetime and nothing else", () => {
    expect(
      blocksOf([{ type: "text", text: "a", cache_control: { type: "ephemeral", ttl: "1h", scope: "x" } }]),
    ).toEqual([{ type: "text", text: "a", cache: { ttl: "1h" } }]);
    expect(blocksOf([{ type: "text", text: "a", cache_control: { type: "ephemeral" } }])).toEqual([
      { type: "text", text: "a", cache: {} },
    ]);
  });

  test("images from bytes, place and file; the bytes tell the type", () => {
    const png = Buffer.from("\x89PNG\r\n\x1a\n....", "latin1").toString("base64");
    expect(
      blocksOf([
        { type: "image", source: { type: "base64", media_type: "image/jpeg", data: png } },
        { type: "image", source: { type: "url", url: "https://example.com/a.png" } },
        { type: "image", source: { type: "file", file_id: "file_1" } },
      ]),
    ).toEqual([
      { type: "image", source: { type: "base64", mediaType: "image/png", data: png } },
      { type: "image", source: { type: "url", url: "https://example.com/a.png" } },
      { type: "image", source: { type: "file", id: "file_1" } },
    ]);
  });

  test("documents in all five sources", () => {
    const document = (source: Json) =>
      blocksOf([{ type: "document", source, title: "t", context: "c", citations: { enabled: true } }])[0];
    const about = { type: "document", title: "t", context: "c", citations: true } as const;
    expect(document({ type: "text", media_type: "text/plain", data: "x" })).toEqual({
      ...about,
      source: { type: "text", mediaType: "text/plain", text: "x" },
    });
    expect(document({ type: "content", content: "x" })).toEqual({
      ...about,
      source: { type: "blocks", blocks: [{ type: "text", text: "x" }] },
    });
    expect(document({ type: "base64", media_type: "application/pdf", data: "AA==" })).toMatchObject({
      source: { type: "base64", mediaType: "application/pdf" },
    });
    expect(document({ type: "url", url: "https://e.org/a.pdf" })).toMatchObject({ source: { type: "url" } });
    expect(document({ type: "file", file_id: "f" })).toMatchObject({ source: { type: "file", id: "f" } });
  });

  test("F-46, F-49: reasoning keeps its signature and who made it, also without text", () => {
    const sealed = wrap("gemini", "GEM");
    expect(
      blocksOf(
        [
          { type: "thinking", thinking: "a", signature: "SIG" },
          { type: "thinking", thinking: "", signature: "SIG2" },
          { type: "thinking", thinking: "b", signature: sealed },
          { type: "thinking", thinking: "c" },
          { type: "thinking", thinking: "d", signature: "" },
          { type: "redacted_thinking", data: "RED" },
          { type: "redacted_thinking", data: wrap("openai", "ENC") },
        ],
        "assistant",
      ),
    ).toEqual([
      { type: "reasoning", text: "a", signature: "SIG", origin: "anthropic" },
      { type: "reasoning", text: "", signature: "SIG2", origin: "anthropic" },
      { type: "reasoning", text: "b", signature: "GEM", origin: "gemini" },
      { type: "reasoning", text: "c" },
      { type: "reasoning", text: "d" },
      { type: "reasoning", text: "", redacted: "RED", origin: "anthropic" },
      { type: "reasoning", text: "", redacted: "ENC", origin: "openai" },
    ]);
  });

  test("calls and results, with an image and a PDF inside (what Claude Code's Read gives)", () => {
    const { request } = decode({
      messages: [
        user("read it"),
        { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "Read", input: { path: "a" } }] },
        user([
          {
            type: "tool_result",
            tool_use_id: "t1",
            content: [
              { type: "text", text: "here" },
              { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } },
              {
                type: "document",
                source: { type: "base64", media_type: "application/pdf", data: "JVBERi0=" },
              },
            ],
            cache_control: { type: "ephemeral" },
          },
        ]),
      ],
    });
    expect(request.turns[1]!.blocks).toEqual([
      { type: "tool-call", id: "t1", name: "Read", input: '{"path":"a"}', kind: "function" },
    ]);
    expect(request.turns[2]!.blocks).toMatchObject([
      {
        type: "tool-result",
        id: "t1",
        cache: {},
        blocks: [{ type: "text" }, { type: "image" }, { type: "document" }],
      },
    ]);
  });

  test("results: text, nothing, and failure", () => {
    const result = (parts: JsonObject) => blocksOf([{ type: "tool_result", tool_use_id: "t", ...parts }])[0];
    expect(result({ content: "ok", is_error: false })).toEqual({
      type: "tool-result",
      id: "t",
      blocks: [{ type: "text", text: "ok" }],
    });
    expect(result({})).toEqual({ type: "tool-result", id: "t", blocks: [] });
    expect(result({ content: "no", is_error: true })).toMatchObject({ error: true });
  });

  test("server tools travel whole, with what they said for others to read", () => {
    const search = {
      type: "web_search_tool_result",
      tool_use_id: "s",
      content: [{ type: "web_search_result", title: "Bun", url: "https://bun.sh", encrypted_content: "x" }],
    };
    expect(blocksOf([search], "assistant")).toEqual([
      { type: "foreign", format: "messages", value: search, text: "[web search: Bun - https://bun.sh]" },
    ]);
    const read = (block: JsonObject) => (blocksOf([block]) as { text?: string }[])[0]!.text;
    expect(read({ type: "server_tool_use", name: "web_search", input: { query: "q" } })).toBe(
      '[web_search: {"query":"q"}]',
    );
    expect(read({ type: "web_search_tool_result", content: { error_code: "max_uses" } })).toBe(
      "[web search failed: max_uses]",
    );
    expect(
      read({ type: "search_result", title: "T", source: "S", content: [{ type: "text", text: "x" }] }),
    ).toBe("T\nS\nx");
    expect(
      read({ type: "code_execution_tool_result", content: { stdout: "1\n", stderr: "", content: [] } }),
    ).toBe("[code execution: 1\n]");
    expect(
      read({
        type: "web_fetch_tool_result",
        content: { url: "u", content: { type: "document", source: { type: "text", data: "page" } } },
      }),
    ).toBe("[web fetch: u\npage]");
    expect(read({ type: "tool_reference", tool_name: "f" })).toBe("[tool: f]");
    expect(read({ type: "mcp_tool_result", content: [{ type: "text", text: "r" }] })).toBe(
      "[tool result: r]",
    );
  });

  test("F-66: a stream fragment replayed as a block is a foreign block without a reading", () => {
    const fragment = { type: "input_json_delta", partial_json: "{" };
    expect(blocksOf([fragment], "assistant")).toEqual([
      { type: "foreign", format: "messages", value: fragment },
    ]);
  });

  test("G-42, F-65: every block an answer can hold is accepted in a request", () => {
    const blocks = [
      "text",
      "thinking",
      "redacted_thinking",
      "tool_use",
      "server_tool_use",
      "compaction",
      "fallback",
    ];
    const value = (type: string) => ({
      type,
      text: "t",
      thinking: "t",
      signature: "s",
      data: "d",
      id: "i",
      name: "n",
    });
    expect(blocksOf(blocks.map(value), "assistant")).toHaveLength(blocks.length);
  });

  const BROKEN: [string, JsonObject, string][] = [
    ["text without text", { type: "text" }, "messages.0.content.0.text"],
    ["an image without source", { type: "image" }, "messages.0.content.0.source"],
    [
      "bytes without type",
      { type: "image", source: { type: "base64", data: "" } },
      "messages.0.content.0.source.media_type",
    ],
    ["a call without name", { type: "tool_use", id: "x" }, "messages.0.content.0.name"],
    ["a call without id", { type: "tool_use", name: "x" }, "messages.0.content.0.id"],
    ["a result without id", { type: "tool_result" }, "messages.0.content.0.tool_use_id"],
    ["redacted without data", { type: "redacted_thinking" }, "messages.0.content.0.data"],
  ];
  for (const [name, block, param] of BROKEN)
    test(`${name} is refused, with its path`, async () => {
      const error = await failure(() => decode({ messages: [user([block])] }));
      expect(error.kind).toBe("invalid-request");
      expect(error.param).toBe(param);
      expect(error.message).toBe(`${param}: Field required`);
    });

  test("citations inside sent text are told as lost", () => {
    const { losses } = decode({
      messages: [
        user("q"),
        { role: "assistant", content: [{ type: "text", text: "a", citations: [{ url: "u" }] }] },
        user("x"),
      ],
    });
    expect(losses).toEqual(["dropped:messages[1].content[0].citations"]);
  });
});

describe("system turns", () => {
  const assistant = { role: "assistant", content: "a" };

  test("F-54: text, blocks and effort are kept in place", () => {
    const { request } = decode({
      messages: [user("hi"), { role: "system", content: "note", output_config: { effort: "medium" } }],
    });
    expect(request.turns).toEqual([
      { role: "user", blocks: [{ type: "text", text: "hi" }] },
      { role: "system", blocks: [{ type: "text", text: "note" }], effort: "medium" },
    ]);
  });

  test("clear_at: gone once the user has spoken again, not for a tool result", () => {
    const note = { role: "system", content: "note", clear_at: "next_user_message" };
    const blocks = (messages: Json[]) => decode({ messages }).request.turns[1]!.blocks;
    expect(blocks([user("hi"), note])).toHaveLength(1);
    expect(
      blocks([user("hi"), note, assistant, user([{ type: "tool_result", tool_use_id: "t" }])]),
    ).toHaveLength(1);
    expect(blocks([user("hi"), note, assistant, user("next")])).toHaveLength(0);
    expect(blocks([user("hi"), { ...note, clear_at: "never" }, assistant, user("next")])).toHaveLength(1);
  });
});

describe("tools", () => {
  const tools = (list: Json[], messages: Json[] = [user("hi")]): Tool[] =>
    decode({ tools: list, messages }).request.tools;

  test("custom tools, with the members only this format has kept apart", () => {
    expect(
      tools([
        {
          name: "f",
          description: "d",
          input_schema: { type: "object" },
          strict: true,
          eager_input_streaming: true,
        },
        { type: "custom", name: "g", cache_control: { type: "ephemeral" } },
      ]),
    ).toEqual([
      {
        kind: "function",
        name: "f",
        description: "d",
        parameters: { type: "object" },
        strict: true,
        format: "messages",
        value: { eager_input_streaming: true },
      },
      { kind: "function", name: "g", cache: {} },
    ]);
  });

  test("examples of the input stand in the description", () => {
    const [tool] = tools([{ name: "f", description: "d", input_examples: [{ a: 1 }] }]);
    expect(tool!.description).toBe('d\n\nExamples of its input:\n{"a":1}');
    expect(tool!.value).toEqual({ input_examples: [{ a: 1 }], description: "d" });
  });

  test("F-73: a deferred tool is a tool; behind a tool search only once it was found", () => {
    const deferred = { name: "f", input_schema: { type: "object" }, defer_loading: true };
    const search = { type: "tool_search_tool_regex_20251119", name: "tool_search_tool_regex" };
    expect(tools([deferred]).map(({ kind }) => kind)).toEqual(["function"]);
    expect(tools([deferred, search]).map(({ kind }) => kind)).toEqual(["foreign", "foreign"]);
    const found = [
      user("hi"),
      {
        role: "assistant",
        content: [
          {
            type: "tool_search_tool_result",
            content: { tool_references: [{ type: "tool_reference", tool_name: "f" }] },
          },
        ],
      },
      user("go"),
    ];
    expect(tools([deferred, search], found).map(({ kind }) => kind)).toEqual(["function", "foreign"]);
  });

  test("typed tools the client runs have the documented input; server tools are foreign", () => {
    const list = tools([
      { type: "bash_20250124", name: "bash" },
      { type: "text_editor_20250728", name: "str_replace_based_edit_tool" },
      { type: "memory_20250818", name: "memory" },
      { type: "web_search_20260209", name: "web_search" },
      { type: "computer_toolset_20260801" },
    ]);
    expect(list.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      "function bash",
      "function str_replace_based_edit_tool",
      "function memory",
      "foreign web_search",
      "foreign computer_toolset_20260801",
    ]);
    expect(list[0]!.parameters!.properties).toHaveProperty("command");
    expect(list[0]!.value).toEqual({ type: "bash_20250124", name: "bash" });
  });

  test("tool changes in system turns are applied in order", () => {
    const change = (type: string, tool: Json) => ({ role: "system", content: [{ type, tool }] });
    const named = (name: string) => ({ type: "tool_reference", name });
    const declared = [{ name: "a" }, { name: "b" }, { name: "c", defer_loading: true }];
    const history = [
      user("hi"),
      change("tool_removal", named("a")),
      change("tool_removal", named("b")),
      change("tool_addition", named("a")),
      change("tool_addition", named("c")),
      change("tool_addition", { type: "tool_definition", definition: { name: "d" } }),
    ];
    const { request } = decode({ tools: declared, messages: history });
    expect(request.tools.map(({ name, value }) => [name, value])).toEqual([
      ["c", {}],
      ["a", undefined],
      ["d", undefined],
    ]);
    expect(request.turns.slice(1).flatMap(({ blocks }) => blocks)).toEqual([]);
  });

  test("a tool without a name is refused", async () => {
    expect((await failure(() => tools([{ description: "x" }]))).param).toBe("tools.0.name");
  });

  test("every choice", () => {
    const choice = (tool_choice: Json) => decode({ messages: [user("hi")], tool_choice }).request;
    expect(choice({ type: "auto" }).toolChoice).toEqual({ type: "auto" });
    expect(choice({ type: "none" }).toolChoice).toEqual({ type: "none" });
    expect(choice({ type: "tool", name: "f" }).toolChoice).toEqual({ type: "tool", name: "f" });
    expect(choice({ type: "perhaps" }).toolChoice).toBeUndefined();
    expect(choice({ type: "perhaps" }).extra.messages).toEqual({ tool_choice: { type: "perhaps" } });
    expect(choice({ type: "auto", disable_parallel_tool_use: true }).parallelToolCalls).toBe(false);
    expect(choice({ type: "auto" }).parallelToolCalls).toBeUndefined();
  });
});
