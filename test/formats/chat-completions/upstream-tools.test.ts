import { describe, expect, test } from "bun:test";
import type { ChatRequest, Tool, ToolChoice } from "../../../src/core/chat.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import type { Traits } from "../../../src/core/provider.ts";
import {
  type CallOptions,
  choiceOf,
  decode,
  deltasOf,
  chunks,
  encode,
  failure,
  messageOf,
  client,
  read,
  readAnswer,
  sketch,
  upstream,
  writeAnswer,
  readBody,
} from "./make.ts";

const schema = { type: "object", properties: { a: { type: "string" } } };
const f: Tool = { kind: "function", name: "f", parameters: schema };
const g: Tool = { kind: "function", name: "g" };

const withTools = (tools: Tool[], parts: Partial<ChatRequest> = {}, options: CallOptions = {}) =>
  encode({ tools, ...parts }, options);
const choose = (toolChoice: ToolChoice, traits: Traits = {}) => withTools([f, g], { toolChoice }, { traits });

describe("tool declarations are written as the host accepts them", () => {
  test("a function with what the format knows, and nothing of another format's", () => {
    const declared: Tool = {
      ...f,
      description: "d",
      strict: true,
      cache: { ttl: "1h" },
      format: "messages",
      value: { defer_loading: true, eager_input_streaming: true },
    };
    expect(withTools([declared]).body.tools).toEqual([
      { type: "function", function: { name: "f", description: "d", parameters: schema, strict: true } },
    ]);
  });

  test("strict goes only where it is known", () => {
    const { body, losses } = withTools([{ ...f, strict: true }], {}, { traits: { strictTools: false } });
    expect(body.tools).toEqual([{ type: "function", function: { name: "f", parameters: schema } }]);
    expect(losses).toEqual(["dropped:tools[0].strict"]);
  });

  test("without tools there is no tool_choice and no parallel_tool_calls", () => {
    const { body } = withTools([], { toolChoice: { type: "required" }, parallelToolCalls: false });
    expect(Object.keys(body)).toEqual(["model", "messages"]);
  });

  test("of two tools of one name the last is kept", () => {
    const { body, losses } = withTools([f, { ...f, description: "second" }]);
    expect(body.tools).toEqual([
      { type: "function", function: { name: "f", description: "second", parameters: schema } },
    ]);
    expect(losses).toEqual(["dropped:tools[1]"]);
  });

  test("server tools of another vendor are dropped and told; those with documented arguments are functions", () => {
    const search: Tool = {
      kind: "foreign",
      name: "web_search",
      format: "messages",
      searchesWeb: true,
      value: { type: "web_search_20250305" },
    };
    const bash: Tool = {
      kind: "foreign",
      name: "bash",
      format: "messages",
      parameters: schema,
      value: { type: "bash_20250124" },
    };
    const { body, losses } = withTools([search, bash]);
    expect(body.tools).toEqual([{ type: "function", function: { name: "bash", parameters: schema } }]);
    expect(losses).toEqual(["dropped:tools[0]"]);
  });

  test("a search that is the only tool is refused by its place", async () => {
    const search: Tool = {
      kind: "foreign",
      name: "web_search",
      format: "messages",
      searchesWeb: true,
      value: { type: "web_search_20250305" },
    };
    expect(await failure(() => withTools([search]))).toMatchObject({
      kind: "invalid-request",
      param: "tools[0]",
    });
  });

  test("tools of this format that nobody knows are passed on", () => {
    const namespace = { type: "namespace", name: "ns", tools: [] };
    expect(
      withTools([{ kind: "foreign", name: "ns", format: "chat-completions", value: namespace }]).body.tools,
    ).toEqual([namespace]);
  });
});

describe("the tool choice is written as the host accepts it", () => {
  const cases: [choice: ToolChoice, sent: unknown][] = [
    [{ type: "auto" }, "auto"],
    [{ type: "none" }, "none"],
    [{ type: "required" }, "required"],
    [
      { type: "tool", name: "g" },
      { type: "function", function: { name: "g" } },
    ],
    [{ type: "allowed", names: ["g"], required: true }, "required"],
    [{ type: "allowed", names: ["g"], required: false }, "auto"],
  ];
  test.each(cases)("%j", (choice, sent) =>
    expect(choose(choice).body.tool_choice).toEqual(sent as JsonObject),
  );

  test("allowed tools are the only ones that are sent", () => {
    expect(choose({ type: "allowed", names: ["g"], required: true }).body.tools).toEqual([
      { type: "function", function: { name: "g" } },
    ]);
  });

  test("a provider that cannot be forced gets auto, and of a named tool only that one", () => {
    const traits: Traits = { forcedToolChoice: false };
    for (const choice of [{ type: "required" }, { type: "tool", name: "g" }] as ToolChoice[]) {
      const { body, losses } = choose(choice, traits);
      expect(body.tool_choice).toBe("auto");
      expect((body.tools as JsonObject[]).length).toBe(choice.type === "tool" ? 1 : 2);
      expect(losses).toEqual(["downgraded:tool_choice"]);
    }
    expect(choose({ type: "auto" }, traits).losses).toEqual([]);
  });

  test("a tool that is not there is refused", async () => {
    for (const tools of [[f], []]) {
      const error = await failure(() => withTools(tools, { toolChoice: { type: "tool", name: "h" } }));
      expect(error).toMatchObject({ param: "tool_choice", status: 400 });
    }
  });

  test("parallel calls are switched off where that is known, else it is told", () => {
    const parts = { parallelToolCalls: false };
    expect(withTools([f], parts).body.parallel_tool_calls).toBeFalse();
    expect(withTools([f], { parallelToolCalls: true }).body).not.toHaveProperty("parallel_tool_calls");
    for (const options of [{ traits: { parallelToolCalls: false } }, { model: "o3-mini" }]) {
      const { body, losses } = withTools([f], parts, options);
      expect(body).not.toHaveProperty("parallel_tool_calls");
      expect(losses).toEqual(["dropped:tool_choice.disable_parallel_tool_use"]);
    }
  });
});

describe("tool names are legal for the host, and read back as the client's", () => {
  const long = `mcp__server__${"tool".repeat(20)}`;
  const dotted = "files.read";
  const tools: Tool[] = [
    { kind: "function", name: long },
    { kind: "function", name: dotted },
  ];

  test("they are renamed alike in tools, choice and history, and come back in stream and answer", () => {
    const {
      body,
      context: call,
      messages,
    } = withTools(tools, {
      toolChoice: { type: "tool", name: dotted },
      turns: [
        { role: "user", blocks: [{ type: "text", text: "x" }] },
        {
          role: "assistant",
          blocks: [{ type: "tool-call", id: "c", name: long, input: "{}", kind: "function" }],
        },
        { role: "user", blocks: [{ type: "tool-result", id: "c", blocks: [] }] },
      ],
    });
    const [sentLong, sentDotted] = (body.tools as JsonObject[]).map(
      (tool) => (tool.function as JsonObject).name as string,
    );
    for (const name of [sentLong!, sentDotted!]) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(body.tool_choice).toEqual({ type: "function", function: { name: sentDotted! } });
    expect((messages[1]!.tool_calls as JsonObject[])[0]).toMatchObject({ function: { name: sentLong! } });

    const answered = {
      tool_calls: [{ id: "c", type: "function", function: { name: sentLong!, arguments: "{}" } }],
    };
    const events = readBody({ choices: [{ message: answered, finish_reason: "tool_calls" }] }, call);
    expect(sketch(events)[0]).toBe(`start 0 tool-call ${long}`);
  });

  test("names nobody renamed come back as they are", () => {
    const calls = {
      tool_calls: [{ index: 0, id: "c", type: "function", function: { name: "f", arguments: "{}" } }],
    };
    const events = read([{ choices: [{ index: 0, delta: calls, finish_reason: "tool_calls" }] }]);
    expect(sketch(events)[0]).toBe("start 0 tool-call f");
  });
});

describe("custom tools", () => {
  const request = decode({
    tools: [
      {
        type: "custom",
        custom: {
          name: "patch",
          description: "Edits.",
          format: { type: "grammar", grammar: { syntax: "lark", definition: "x" } },
        },
      },
    ],
    tool_choice: { type: "custom", custom: { name: "patch" } },
    messages: [
      { role: "user", content: "go" },
      {
        role: "assistant",
        tool_calls: [{ id: "c", type: "custom", custom: { name: "patch", input: "raw" } }],
      },
      { role: "tool", tool_call_id: "c", content: "done" },
    ],
  });
  const options = { format: "chat-completions", request };

  test("a model that knows them gets them as they are", () => {
    const { body, messages } = encode(request, { ...options, model: "gpt-5" });
    expect(body.tools).toMatchObject([
      { type: "custom", custom: { name: "patch", format: { type: "grammar" } } },
    ]);
    expect(body.tool_choice).toEqual({ type: "custom", custom: { name: "patch" } });
    expect(messages[1]!.tool_calls).toEqual([
      { id: "c", type: "custom", custom: { name: "patch", input: "raw" } },
    ]);
  });

  test("others get a function with one text, and the client still gets a custom call", () => {
    const { body, context: call, messages, losses } = encode(request, options);
    expect(body.tools).toEqual([
      {
        type: "function",
        function: {
          name: "patch",
          description: "Edits.\n\nThe input must follow this lark grammar:\nx",
          parameters: {
            type: "object",
            properties: { input: { type: "string", description: expect.any(String) } },
            required: ["input"],
          },
        },
      },
    ] as unknown as JsonObject[]);
    expect(messages[1]!.tool_calls).toEqual([
      { id: "c", type: "function", function: { name: "patch", arguments: '{"input":"raw"}' } },
    ]);
    expect(losses).toEqual(["converted:tools[0]"]);

    const events = readAnswer(
      {
        tool_calls: [
          { id: "d", type: "function", function: { name: "patch", arguments: '{"input":"new"}' } },
        ],
      },
      "tool_calls",
      options,
    );
    expect(messageOf(writeAnswer(events, call)).tool_calls).toEqual([
      { id: "d", type: "custom", custom: { name: "patch", input: "new" } },
    ]);
    expect(deltasOf(chunks(events, call)).at(-2)).toEqual({
      tool_calls: [{ index: 0, custom: { input: "new" } }],
    });
    expect(choiceOf(writeAnswer(events, call)).finish_reason).toBe("tool_calls");
  });

  test("of a client of another format have their grammar in the shape of this one", () => {
    const tool: Tool = {
      kind: "custom",
      name: "patch",
      grammar: { syntax: "lark", definition: "start: x" },
      format: "responses",
      value: { type: "custom", name: "patch" },
    };
    expect(encode({ tools: [tool] }, { model: "gpt-5.4" }).body.tools).toEqual([
      {
        type: "custom",
        custom: {
          name: "patch",
          format: { type: "grammar", grammar: { syntax: "lark", definition: "start: x" } },
        },
      },
    ]);
    expect(JSON.stringify(encode({ tools: [tool] }).body.tools)).toContain("start: x");
  });

  test("custom calls of an upstream are read as such", () => {
    const events = readAnswer(
      { tool_calls: [{ id: "d", type: "custom", custom: { name: "patch", input: "not json {" } }] },
      "tool_calls",
    );
    expect(events[1]).toMatchObject({ block: { kind: "custom", name: "patch" } });
    expect(events[2]).toMatchObject({ delta: "not json {" });
  });
});
