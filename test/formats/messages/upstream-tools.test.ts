import { describe, expect, test } from "bun:test";
import type { ChatRequest, Tool, ToolChoice } from "../../../src/core/chat.ts";
import type { ChatEvent } from "../../../src/core/events.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { encode, failure, makeRequest, read, requestContext, upstream } from "./make.ts";

const tool = (name: string, parts: Partial<Tool> = {}): Tool => ({ kind: "function", name, ...parts });
const open: JsonObject = { type: "object", properties: {} };

function encodeTools(
  tools: Tool[],
  parts: Partial<ChatRequest> = {},
  options: Parameters<typeof encode>[1] = {},
) {
  const { body, losses, context: call } = encode({ tools, ...parts }, options);
  return {
    tools: body.tools as JsonObject[] | undefined,
    choice: body.tool_choice as unknown,
    losses,
    body,
    call,
  };
}

describe("declarations", () => {
  test("a function, with and without parameters", () => {
    const parameters = { type: "object", properties: { a: { type: "string" } } };
    expect(
      encodeTools([
        tool("f", { description: "d", parameters }),
        tool("g"),
        tool("h", { parameters: { properties: {} } }),
      ]).tools,
    ).toEqual([
      { name: "f", description: "d", input_schema: parameters },
      { name: "g", input_schema: open },
      { name: "h", input_schema: open },
    ]);
  });

  test("alternatives at the root are merged", () => {
    const branch = (name: string) => ({
      type: "object",
      properties: { [name]: { type: "string" }, both: {} },
      required: ["both", name],
    });
    const { tools, losses } = encodeTools([tool("f", { parameters: { anyOf: [branch("a"), branch("b")] } })]);
    expect(tools![0]!.input_schema).toEqual({
      type: "object",
      properties: { a: { type: "string" }, both: {}, b: { type: "string" } },
      required: ["both"],
    });
    expect(losses).toEqual(["converted:tools[0].function.parameters"]);
    const all = encodeTools([tool("f", { parameters: { allOf: [branch("a"), branch("b")] } })]).tools!;
    expect((all[0]!.input_schema as JsonObject).required).toEqual(["both", "a", "b"]);
  });

  test("illegal and long names go out legal and come back as they were", () => {
    const long = `mcp__${"server".repeat(12)}__tool`;
    const names = ["a.b", "a_b", long, `${long}2`];
    const { tools, call, body } = encodeTools(
      names.map((name) => tool(name)),
      {
        toolChoice: { type: "tool", name: "a.b" },
        turns: [
          { role: "user", blocks: [{ type: "text", text: "q" }] },
          {
            role: "assistant",
            blocks: [{ type: "tool-call", id: "1", name: "a.b", input: "{}", kind: "function" }],
          },
        ],
      },
    );
    const sent = tools!.map(({ name }) => String(name));
    for (const name of sent) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(new Set(sent).size).toBe(4);
    expect(body.tool_choice).toEqual({ type: "tool", name: sent[0]! });
    expect(JSON.stringify(body.messages)).toContain(`"name":"${sent[0]}"`);
    const events = read(
      [
        { type: "message_start", message: { id: "m", usage: {} } },
        ...sent.flatMap((name, index): JsonObject[] => [
          {
            type: "content_block_start",
            index,
            content_block: { type: "tool_use", id: `t${index}`, name, input: {} },
          },
          { type: "content_block_stop", index },
        ]),
        { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: {} },
        { type: "message_stop" },
      ],
      call,
    );
    const back = events.flatMap((event) =>
      event.type === "block-start" && event.block.type === "tool-call" ? [event.block.name] : [],
    );
    expect(back).toEqual(names);
  });

  test("of two tools with one name the last one stays", () => {
    const { tools, losses } = encodeTools([
      tool("f", { description: "old" }),
      tool("g"),
      tool("f", { description: "new" }),
    ]);
    expect(tools!.map(({ name, description }) => [name, description])).toEqual([
      ["g", undefined],
      ["f", "new"],
    ]);
    expect(losses).toEqual(["dropped:tools[2]"]);
  });

  test("no tools, no member", () => {
    const { body } = encodeTools([], { toolChoice: { type: "none" } });
    expect(body).not.toHaveProperty("tools");
    expect(body).not.toHaveProperty("tool_choice");
  });

  test("a free-form tool is a function of one text; its grammar is described and told", () => {
    const custom: Tool = {
      kind: "custom",
      name: "patch",
      description: "d",
      format: "chat-completions",
      grammar: { syntax: "lark", definition: "start: x" },
    };
    const { tools, losses } = encodeTools([custom]);
    expect(tools![0]).toMatchObject({ name: "patch", input_schema: { type: "object", required: ["input"] } });
    expect(tools![0]!.description).toBe("d\n\nThe input must follow this lark grammar:\nstart: x");
    expect(losses).toEqual(["downgraded:tools[0].custom.format"]);
    expect(encodeTools([{ ...custom, grammar: undefined }]).losses).toEqual([]);
  });

  test("tools of this format only: whole for this one, dropped and told from another", () => {
    const value = { type: "web_search_20260209", name: "web_search", max_uses: 3 };
    expect(encodeTools([{ kind: "foreign", name: "web_search", format: "messages", value }]).tools).toEqual([
      value,
    ]);
    const other = encodeTools([
      { kind: "foreign", name: "x", format: "chat-completions", value: {} },
      tool("f"),
    ]);
    expect(other.tools).toHaveLength(1);
    expect(other.losses).toEqual(["dropped:tools[0]"]);
  });

  test("of a mark only type and lifetime go out, and none on a deferred tool", () => {
    const { tools } = encodeTools(
      [
        tool("f", { cache: { ttl: "1h" } }),
        tool("g", { cache: {}, format: "messages", value: { defer_loading: true } }),
      ],
      {},
      { format: "messages" },
    );
    expect(tools!.map(({ cache_control }) => cache_control)).toEqual([
      { type: "ephemeral", ttl: "1h" },
      undefined,
    ]);
  });
});

describe("strict", () => {
  const closed = (name: string): JsonObject => ({
    type: "object",
    properties: { [name]: { type: "string" } },
    required: [name],
  });

  test("its schema is sanitised; what a model cannot enforce is told", () => {
    const { tools, losses } = encodeTools([
      tool("f", { strict: true, parameters: { ...closed("a"), $schema: "x" } }),
    ]);
    expect(tools).toEqual([
      { name: "f", input_schema: { ...closed("a"), additionalProperties: false }, strict: true },
    ]);
    expect(losses).toEqual([]);
    const older = encodeTools(
      [tool("f", { strict: true, parameters: closed("a") })],
      {},
      { model: "claude-sonnet-4-20250514" },
    );
    expect(older.tools![0]).not.toHaveProperty("strict");
    expect(older.losses).toEqual(["dropped:tools[0].function.strict"]);
  });

  test("at most twenty, sixteen unions, twenty-four optional members; recursive ones never", () => {
    const strictOf = (parameters: JsonObject, count: number) =>
      encodeTools(
        Array.from({ length: count }, (_, index) => tool(`f${index}`, { strict: true, parameters })),
      ).tools!.filter((wire) => wire.strict).length;
    expect(strictOf(closed("a"), 25)).toBe(20);
    expect(
      strictOf({ type: "object", properties: { a: { type: ["string", "null"] } }, required: ["a"] }, 20),
    ).toBe(16);
    expect(strictOf({ type: "object", properties: { a: {}, b: {} } }, 20)).toBe(12);
    expect(strictOf({ type: "object", properties: { self: { $ref: "#" } }, required: ["self"] }, 1)).toBe(0);
  });
});

describe("the tool choice is written as the model accepts it", () => {
  const tools = [tool("f"), tool("g")];
  const choose = (
    toolChoice: ToolChoice | undefined,
    parts: Partial<ChatRequest> = {},
    options: Parameters<typeof encode>[1] = {},
  ) => encodeTools(tools, { toolChoice, ...parts }, options);

  test("every wish", () => {
    expect(choose(undefined).choice).toBeUndefined();
    expect(choose({ type: "auto" }).choice).toBeUndefined();
    expect(choose({ type: "none" }).choice).toEqual({ type: "none" });
    expect(choose({ type: "none" }).tools).toHaveLength(2);
    expect(choose({ type: "required" }).choice).toEqual({ type: "any" });
    expect(choose({ type: "tool", name: "g" }).choice).toEqual({ type: "tool", name: "g" });
  });

  test("one call at a time", () => {
    const parallelToolCalls = false;
    expect(choose(undefined, { parallelToolCalls }).choice).toEqual({
      type: "auto",
      disable_parallel_tool_use: true,
    });
    expect(choose({ type: "required" }, { parallelToolCalls }).choice).toEqual({
      type: "any",
      disable_parallel_tool_use: true,
    });
    expect(choose(undefined, { parallelToolCalls: true }).choice).toBeUndefined();
  });

  test("only the allowed tools go out", () => {
    const allowed = choose({ type: "allowed", names: ["g"], required: true });
    expect(allowed.tools!.map(({ name }) => name)).toEqual(["g"]);
    expect(allowed.choice).toEqual({ type: "any" });
    expect(choose({ type: "allowed", names: ["g"], required: false }).choice).toBeUndefined();
  });

  test("a forced tool that does not exist, or none at all, is refused", async () => {
    for (const attempt of [
      () => choose({ type: "tool", name: "x" }),
      () => encodeTools([], { toolChoice: { type: "required" } }),
      () => encodeTools([], { toolChoice: { type: "tool", name: "f" } }),
    ])
      expect(await failure(attempt)).toMatchObject({ kind: "invalid-request", param: "tool_choice" });
  });

  test("models that cannot be forced are asked, and it is told; others are forced", () => {
    const asked = choose({ type: "required" }, {}, { model: "claude-opus-5-5" });
    expect(asked.choice).toEqual({ type: "auto" });
    expect(asked.losses).toEqual(["downgraded:tool_choice"]);
    expect(asked.body.system).toEqual([{ type: "text", text: "You must call one of the tools." }]);
    const named = choose({ type: "tool", name: "g" }, {}, { model: "claude-fable-5-1" });
    expect(named.tools!.map(({ name }) => name)).toEqual(["g"]);
    expect(named.choice).toEqual({ type: "auto" });
    expect(choose({ type: "tool", name: "g" }, {}, { model: "claude-haiku-4-5" })).toMatchObject({
      choice: { type: "tool", name: "g" },
      losses: [],
    });
  });

  test("a provider's trait says the same", () => {
    const told = choose({ type: "required" }, {}, { model: "kimi-k3", traits: { forcedToolChoice: false } });
    expect(told.choice).toEqual({ type: "auto" });
    expect(told.losses).toEqual(["downgraded:tool_choice"]);
  });

  test("a budget and a forced tool never leave together", () => {
    for (const toolChoice of [{ type: "required" }, { type: "tool", name: "f" }] as ToolChoice[]) {
      const { body, losses } = choose(
        toolChoice,
        { reasoning: { effort: "high" }, maxTokens: 32_000 },
        { model: "claude-sonnet-4-5" },
      );
      expect(body).not.toHaveProperty("thinking");
      expect(body.tool_choice).toBeDefined();
      expect(losses).toEqual(["dropped:reasoning_effort"]);
    }
    const adaptive = choose(
      { type: "required" },
      { reasoning: { effort: "high" } },
      { model: "claude-opus-4-6" },
    );
    expect(adaptive.body).toMatchObject({ thinking: { type: "adaptive" }, tool_choice: { type: "any" } });
  });
});

describe("the answer comes back as it was asked for", () => {
  const answerOf = (name: string, pieces: string[]): JsonObject[] => [
    { type: "message_start", message: { id: "m", usage: {} } },
    { type: "content_block_start", index: 0, content_block: { type: "tool_use", id: "t", name, input: {} } },
    ...pieces.map((partial_json): JsonObject => ({
      type: "content_block_delta",
      index: 0,
      delta: { type: "input_json_delta", partial_json },
    })),
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 1 } },
    { type: "message_stop" },
  ];
  const deltas = (events: ChatEvent[]) =>
    events.flatMap((event) => (event.type === "block-delta" ? [event.delta] : []));

  test("a free-form call streams its text as it comes, wherever the pieces are cut", () => {
    const input = 'a "quoted" line\nnext \\ ü 😀';
    const wire = JSON.stringify({ input });
    const request = makeRequest({ tools: [{ kind: "custom", name: "patch" }] });
    for (const size of [1, 2, 3, 7, wire.length]) {
      const pieces = wire.match(new RegExp(`[\\s\\S]{1,${size}}`, "g"))!;
      const events = read(answerOf("patch", pieces), requestContext({ request }));
      expect(events.find(({ type }) => type === "block-start")).toMatchObject({
        block: { type: "tool-call", kind: "custom", name: "patch" },
      });
      expect(deltas(events).join("")).toBe(input);
      if (size === 1) expect(deltas(events).length).toBeGreaterThan(10);
    }
  });

  test("escaped pairs, and objects of another shape", async () => {
    const request = makeRequest({ tools: [{ kind: "custom", name: "patch" }] });
    const textOf = (pieces: string[]) =>
      deltas(read(answerOf("patch", pieces), requestContext({ request }))).join("");
    expect(await textOf(['{"input":"\\ud83d', '\\ude00"}'])).toBe("😀");
    expect(await textOf(['{ "inp', 'ut" : "x" }'])).toBe("x");
    expect(await textOf(['{"other":1}'])).toBe('{"other":1}');
    expect(await textOf(['{"z":1,"input":"late"}'])).toBe("late");
    expect(await textOf([])).toBe("");
  });

  test("a schema through a tool is text, and ends with stop", () => {
    const request = makeRequest({
      answerFormat: { type: "json-schema", schema: { type: "object", properties: { a: {} } } },
    });
    const call = requestContext({ request, model: "claude-sonnet-4-20250514" });
    const body = upstream.codec.encodeRequest(
      request,
      requestContext({ request, model: "claude-sonnet-4-20250514" }),
    );
    expect(body.tools).toMatchObject([{ name: "respond" }]);
    expect(body.tool_choice).toEqual({ type: "tool", name: "respond" });
    const events = read(answerOf("respond", ['{"a":', "1}"]), call);
    expect(events.slice(1, 5)).toEqual([
      { type: "block-start", index: 0, block: { type: "text" } },
      { type: "block-delta", index: 0, delta: '{"a":' },
      { type: "block-delta", index: 0, delta: "1}" },
      { type: "block-end", index: 0 },
    ]);
    expect(events.at(-1)).toMatchObject({ type: "message-end", reason: { kind: "stop", raw: "tool_use" } });
  });
});
