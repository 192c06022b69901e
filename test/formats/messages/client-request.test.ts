import { describe, expect, test } from "bun:test";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { decode } from "./make.ts";

const user = (content: Json): JsonObject => ({ role: "user", content });

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
      serviceTier: "standard",
      cache: { ttl: "1h" },
      user: "u1",
      toolChoice: { type: "required" },
      parallelToolCalls: false,
      extra: { messages: {} },
    });
    expect(request.turns[0]).toEqual({ role: "system", blocks: [{ type: "text", text: "be brief" }] });
  });

  test("system as text and as blocks is the same", () => {
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

  test("the session, from the header, from the JSON, and from the older spelling", () => {
    const session = (user_id: string, headers = {}) =>
      decode({ messages: [user("hi")], metadata: { user_id } }, { headers }).request.session;
    expect(session(JSON.stringify({ device_id: "d", session_id: "s-1" }))).toBe("s-1");
    expect(session("user_ab12_account__session_0b-1f")).toBe("0b-1f");
    expect(session("plain")).toBeUndefined();
    expect(session("{broken")).toBeUndefined();
    expect(session("plain", { "x-claude-code-session-id": "h-1" })).toBe("h-1");
  });
});

test("names every object has are types nobody knows", () => {
  const content = [{ type: "constructor" }, { type: "toString" }];
  const body = {
    messages: [user(content)],
    thinking: { type: "constructor" },
    tool_choice: { type: "valueOf" },
  };
  const { request } = decode({ ...body, ...(JSON.parse('{"__proto__":{"a":1}}') as JsonObject) });
  expect(request.turns[0]!.blocks).toEqual(
    content.map((value) => ({ type: "foreign", format: "messages", value })),
  );
  expect(request.reasoning).toBeUndefined();
  expect(Object.keys(request.extra.messages!)).toEqual(["__proto__", "thinking", "tool_choice"]);
});

describe("system turns", () => {
  const assistant = { role: "assistant", content: "a" };

  test("text, blocks and effort are kept in place", () => {
    const { request } = decode({
      messages: [user("hi"), { role: "system", content: "note", output_config: { effort: "medium" } }],
    });
    expect(request.turns).toEqual([
      { role: "user", blocks: [{ type: "text", text: "hi" }] },
      { role: "system", blocks: [{ type: "text", text: "note" }], effort: "medium" },
    ]);
  });

  test("the billing line of Claude Code is for providers of this format only, in system prompts", () => {
    const line = "x-anthropic-billing-header: cc_version=2";
    const { request } = decode({
      system: [
        { type: "text", text: line },
        { type: "text", text: "be kind" },
      ],
      messages: [user(line), { role: "system", content: line }],
    });
    const marks = request.turns.map(({ blocks }) => blocks.map((block) => "onlyFor" in block));
    expect(marks).toEqual([[true, false], [false], [true]]);
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
