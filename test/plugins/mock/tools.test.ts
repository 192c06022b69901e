import { describe, expect, test } from "bun:test";
import type { Tool, ToolResultBlock } from "../../../src/core/chat.ts";
import { checkEvents, textOf } from "../../helpers/describe-events.ts";
import { askAll, assistant, callsOf, endOf, request, user } from "./ask.ts";

function tool(name: string, parameters?: Tool["parameters"]): Tool {
  return { kind: "function", name, parameters: parameters ?? { type: "object", properties: {} } };
}

const weather = tool("get_weather", {
  type: "object",
  properties: { city: { type: "string" }, unit: { enum: ["C", "F"] } },
  required: ["city"],
});
const tools = [weather, tool("get_time"), tool("search")];

async function namesCalled(text: string, more: Parameters<typeof request>[2] = {}): Promise<string[]> {
  const events = await askAll(request("chat", text, { tools, ...more }));
  checkEvents(events);
  const calls = callsOf(events);
  expect(endOf(events).reason.kind).toBe(calls.length > 0 ? "tool-calls" : "stop");
  return calls.map((call) => call.name);
}

describe("the mock calls", () => {
  const cases: [string, string, string[]][] = [
    ["nothing when no tool is named", "Hello", []],
    ["the tool that is named", "Please use get_weather.", ["get_weather"]],
    ["in any case and with spaces", "Now Get Time, please", ["get_time"]],
    ["several in the order they are named", "search, then get_weather", ["search", "get_weather"]],
    ["nothing for a longer name", "What does get_weather_v2 do? And research?", []],
    ["one tool once", "search search search", ["search"]],
  ];
  for (const [what, text, called] of cases)
    test(what, async () => expect(await namesCalled(text)).toEqual(called));

  test("one tool only when parallel calls are off", async () => {
    expect(await namesCalled("search and get_time", { parallelToolCalls: false })).toEqual(["search"]);
  });

  test("something when a call is required", async () => {
    expect(await namesCalled("Hello", { toolChoice: { type: "required" } })).toEqual(["get_weather"]);
    expect(await namesCalled("get_time", { toolChoice: { type: "required" } })).toEqual(["get_time"]);
  });

  test("the tool that is forced, and no other", async () => {
    const toolChoice = { type: "tool", name: "search" } as const;
    expect(await namesCalled("get_time", { toolChoice })).toEqual(["search"]);
  });

  test("only what is allowed", async () => {
    const allow = (required: boolean) => ({
      toolChoice: { type: "allowed" as const, names: ["search"], required },
    });
    expect(await namesCalled("get_time and search", allow(false))).toEqual(["search"]);
    expect(await namesCalled("Hello", allow(false))).toEqual([]);
    expect(await namesCalled("Hello", allow(true))).toEqual(["search"]);
  });

  test("nothing when calls are forbidden", async () => {
    expect(await namesCalled("get_weather", { toolChoice: { type: "none" } })).toEqual([]);
  });

  test("no tool it cannot know", async () => {
    const foreign: Tool = { kind: "foreign", name: "web_search", format: "messages" };
    expect(await namesCalled("web_search", { tools: [foreign] })).toEqual([]);
  });

  test("everything it is offered as mock/tools", async () => {
    const events = await askAll(request("tools", "Hello", { tools }));
    checkEvents(events);
    expect(callsOf(events).map((call) => call.name)).toEqual(["get_weather", "get_time", "search"]);
  });
});

describe("arguments", () => {
  test("fit the schema, and are the same again", async () => {
    const asked = request("chat", "get_weather", { tools });
    const [call] = callsOf(await askAll(asked));
    expect(JSON.parse(call!.input)).toEqual({ city: "mock city" });
    expect(callsOf(await askAll(asked))).toEqual([call!]);
  });

  test("are an object even where the schema says nothing", async () => {
    const [call] = callsOf(
      await askAll(request("chat", "ping", { tools: [{ kind: "function", name: "ping" }] })),
    );
    expect(call!.input).toBe("{}");
  });

  test("can be dictated", async () => {
    const given = '{"city": "São {Paulo}", "unit": "C"}';
    const dictated = [`get_weather(${given})`, `get_weather ${given} please`, `\`get_weather\` ${given}}`];
    for (const text of dictated) {
      const [call] = callsOf(await askAll(request("chat", text, { tools })));
      expect(call!.input).toBe(given);
    }
  });

  test("that are dictated wrongly are made up", async () => {
    const [call] = callsOf(await askAll(request("chat", 'get_weather({"city": ', { tools })));
    expect(JSON.parse(call!.input)).toEqual({ city: "mock city" });
  });

  test("come in pieces", async () => {
    const events = await askAll(request("chat", "get_weather", { tools }));
    expect(events.filter((event) => event.type === "block-delta").length).toBeGreaterThan(3);
  });

  test("of a custom tool are the fenced block behind its name, if there is one", async () => {
    const custom: Tool = { kind: "custom", name: "apply_patch" };
    const text = "Use apply_patch with\n```\n*** Begin Patch\n*** End Patch\n```\nand stop.";
    const [call] = callsOf(await askAll(request("chat", text, { tools: [custom] })));
    expect(call).toMatchObject({ kind: "custom", input: "*** Begin Patch\n*** End Patch" });
  });

  test("of a custom tool are text", async () => {
    const custom: Tool = { kind: "custom", name: "shell" };
    const [call] = callsOf(await askAll(request("chat", "shell: ls -l", { tools: [custom] })));
    expect(call).toMatchObject({ kind: "custom", name: "shell", input: "shell: ls -l" });
  });

  test("are cut by the limit like any text", async () => {
    const events = await askAll(request("chat", "get_weather", { tools, maxTokens: 2 }));
    checkEvents(events);
    expect(endOf(events)).toMatchObject({ reason: { kind: "length" }, usage: { output: 2 } });
  });
});

describe("after tool results", () => {
  const call = {
    type: "tool-call",
    id: "call_1",
    name: "get_weather",
    input: "{}",
    kind: "function",
  } as const;
  const result = (more: Partial<ToolResultBlock> = {}): ToolResultBlock => ({
    type: "tool-result",
    id: "call_1",
    blocks: [{ type: "text", text: "12 degrees, rain" }],
    ...more,
  });
  const turns = (block: ToolResultBlock) => [user("get_weather"), assistant(call), user(block)];

  test("the mock answers with them", async () => {
    for (const model of ["chat", "tools"]) {
      const events = await askAll(request(model, turns(result()), { tools }));
      checkEvents(events);
      expect(textOf(events)).toContain('get_weather returned "12 degrees, rain"');
      expect(endOf(events).reason.kind).toBe("stop");
    }
  });

  test("a failed one is told as such", async () => {
    const events = await askAll(request("chat", turns(result({ error: true })), { tools }));
    expect(textOf(events)).toContain('get_weather failed and said "12 degrees, rain"');
  });

  test("a legacy result carries its own name", async () => {
    const events = await askAll(request("chat", turns(result({ id: "", name: "old_function" })), { tools }));
    expect(textOf(events)).toContain("old_function returned");
  });

  test("a call that is required is made all the same", async () => {
    const events = await askAll(
      request("chat", turns(result()), { tools, toolChoice: { type: "required" } }),
    );
    expect(callsOf(events)).toHaveLength(1);
  });

  test("results of an earlier round are history", async () => {
    const earlier = [...turns(result()), assistant("It rains."), user("search")];
    const events = await askAll(request("chat", earlier, { tools }));
    expect(callsOf(events).map((made) => made.name)).toEqual(["search"]);
  });
});
