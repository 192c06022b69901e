/** Tools and tool choice for a provider of the format. */
import { describe, expect, test } from "bun:test";
import type { Tool, ToolChoice } from "../../../src/core/chat.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { answerContext, contentOf, encode, PLAIN, readRecords, record } from "./make.ts";

const SCHEMA: JsonObject = { type: "object", properties: { city: { type: "string" } } };
const tool = (name: string, more: Partial<Tool> = {}): Tool => ({
  kind: "function",
  name,
  parameters: SCHEMA,
  ...more,
});
const declarations = (tools: Tool[], options = {}) => {
  const [first] = encode({ tools }, options).body["tools"] as JsonObject[];
  return first!["functionDeclarations"] as JsonObject[];
};

describe("declarations", () => {
  test("empty descriptions and empty schemas are left out", () => {
    const empty: JsonObject[] = [
      { type: "object" },
      { type: "object", properties: {}, additionalProperties: false },
      { $schema: "x", type: "object", properties: {}, required: [] },
    ];
    for (const parameters of [undefined, ...empty])
      expect(declarations([tool("f", { description: "", parameters })])).toEqual([{ name: "f" }]);
    expect(declarations([tool("f", { description: "Asks." })])).toEqual([
      { name: "f", description: "Asks.", parametersJsonSchema: SCHEMA },
    ]);
  });

  test("a host that knows only the subset of OpenAPI gets it", () => {
    expect(declarations([tool("f")], { traits: { jsonSchema: "openapi" } })).toEqual([
      { name: "f", parameters: { type: "OBJECT", properties: { city: { type: "STRING" } } } },
    ]);
  });

  test("a custom tool is a function with one text argument, and its calls come back as text", () => {
    const tools: Tool[] = [{ kind: "custom", name: "patch", description: "Patches." }];
    const { body, losses } = encode({ tools });
    expect(JSON.stringify(body["tools"])).toContain('"input"');
    expect(losses).toEqual(["converted:tools"]);
    const events = readRecords(
      [record([{ functionCall: { name: "patch", args: { input: "*** Begin" } } }], "STOP")],
      answerContext({ request: { ...PLAIN, tools } }),
    );
    expect(contentOf(events).blocks).toMatchObject([
      { block: { name: "patch", kind: "custom" }, text: "*** Begin" },
    ]);
  });

  test("names that Google refuses are replaced, and calls come back with the client's names", () => {
    const names = ["1tool", "x".repeat(100), "a.b:c", "ok", "-dash"];
    const toolNames = new Map<string, string>();
    const sent = declarations(
      names.map((name) => tool(name)),
      { toolNames },
    ).map(({ name }) => String(name));
    for (const name of sent) expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/);
    expect(new Set(sent).size).toBe(names.length);
    expect(sent[0]).toBe("_1tool");
    const events = readRecords(
      sent.map((name, at) => record([{ functionCall: { name } }], at === 4 ? "STOP" : undefined)),
      answerContext({ toolNames }),
    );
    expect(contentOf(events).blocks.map(({ block }) => block.type === "tool-call" && block.name)).toEqual(
      names,
    );
  });

  test("of two tools with one name the last one is sent, with a loss", () => {
    const { body, losses } = encode({
      tools: [tool("f", { description: "A" }), tool("f", { description: "B" })],
    });
    expect(body["tools"]).toEqual([
      { functionDeclarations: [{ name: "f", description: "B", parametersJsonSchema: SCHEMA }] },
    ]);
    expect(losses).toEqual(["dropped:tools"]);
  });
});

describe("tool choice", () => {
  const tools = [tool("f"), tool("g.h")];
  const choices: [ToolChoice, JsonObject | undefined][] = [
    [{ type: "auto" }, undefined],
    [{ type: "none" }, { mode: "NONE" }],
    [{ type: "required" }, { mode: "ANY" }],
    [
      { type: "tool", name: "g.h" },
      { mode: "ANY", allowedFunctionNames: ["g_h"] },
    ],
    [
      { type: "allowed", names: ["f", "g.h"], required: true },
      { mode: "ANY", allowedFunctionNames: ["f", "g_h"] },
    ],
    [
      { type: "allowed", names: ["f"], required: false },
      { mode: "VALIDATED", allowedFunctionNames: ["f"] },
    ],
  ];
  test.each(choices)("%j", (toolChoice, config) => {
    const { body } = encode({ tools, toolChoice });
    expect(body["toolConfig"]).toEqual(config && { functionCallingConfig: config });
    expect((body["tools"] as JsonObject[]).length).toBe(1);
  });

  test("a forced tool that the request does not declare is refused", () => {
    expect(() => encode({ tools, toolChoice: { type: "tool", name: "x" } })).toThrow("no tool named 'x'");
    expect(() => encode({ toolChoice: { type: "required" } })).toThrow("the request declares none");
  });

  test("one call at a time cannot be asked for", () => {
    expect(encode({ tools, parallelToolCalls: false }).losses).toEqual(["dropped:parallelToolCalls"]);
  });
});

describe("tools of vendors", () => {
  const search: Tool = { kind: "foreign", name: "web_search", format: "messages", searchesWeb: true };
  const own: Tool = { kind: "foreign", name: "", format: "gemini", value: { codeExecution: {} } };

  test("a web search alone becomes Google's, with a loss; beside functions it is left out", () => {
    const alone = encode({ tools: [search] });
    expect(alone.body["tools"]).toEqual([{ googleSearch: {} }]);
    expect(alone.losses).toEqual(["converted:tools"]);
    expect(encode({ tools: [search, tool("f")] }).losses).toEqual(["dropped:tools"]);
  });

  test("Google's own tools go with functions to Gemini 3, with the flag that it wants, and to no older model", () => {
    const { body } = encode({ tools: [own, tool("f")] });
    expect((body["tools"] as JsonObject[])[1]).toEqual({ codeExecution: {} });
    expect(body["toolConfig"]).toEqual({ includeServerSideToolInvocations: true });
    const older = encode({ tools: [own, tool("f")] }, { model: "gemini-2.5-flash" });
    expect(older.body["tools"]).toHaveLength(1);
    expect(older.losses).toEqual(["dropped:tools"]);
    expect(encode({ tools: [own] }, { model: "gemini-2.5-flash" }).body["tools"]).toEqual([
      { codeExecution: {} },
    ]);
  });
});
