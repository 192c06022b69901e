import { describe, expect, test } from "bun:test";
import type { Tool } from "../../../src/core/chat.ts";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { decode, failure } from "./make.ts";

const user = (content: Json): JsonObject => ({ role: "user", content });

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

  test("a web search of the vendor is known as one", () => {
    const search = { type: "web_search_20250305", name: "web_search" };
    const fetch = { type: "web_fetch_20250910", name: "web_fetch" };
    expect(tools([search, fetch]).map(({ searchesWeb }) => searchesWeb)).toEqual([true, undefined]);
  });

  test("a description keeps its white space, as some clients write it", () => {
    expect(tools([{ name: "f", description: "\n- Reads.\n" }])[0]!.description).toBe("\n- Reads.\n");
  });

  test("examples of the input stand in the description", () => {
    const [tool] = tools([{ name: "f", description: "d", input_examples: [{ a: 1 }] }]);
    expect(tool!.description).toBe('d\n\nExamples of its input:\n{"a":1}');
    expect(tool!.value).toEqual({ input_examples: [{ a: 1 }], description: "d" });
  });

  test("a deferred tool is a tool; behind a tool search only once it was found", () => {
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
