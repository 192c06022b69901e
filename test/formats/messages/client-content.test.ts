import { describe, expect, test } from "bun:test";
import type { Block } from "../../../src/core/chat.ts";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { wrap } from "../../../src/core/provenance.ts";
import { decode, failure } from "./make.ts";

const user = (content: Json): JsonObject => ({ role: "user", content });

function blocksOf(content: Json, role = "user"): Block[] {
  return decode({ messages: [{ role, content }] }).request.turns[0]!.blocks;
}

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

  test("reasoning keeps its signature and who made it, also without text", () => {
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

  test("a stream fragment replayed as a block is a foreign block without a reading", () => {
    const fragment = { type: "input_json_delta", partial_json: "{" };
    expect(blocksOf([fragment], "assistant")).toEqual([
      { type: "foreign", format: "messages", value: fragment },
    ]);
  });

  test("every block an answer can hold is accepted in a request", () => {
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
