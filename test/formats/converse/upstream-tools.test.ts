/** `toolConfig`, cache points, the format of the answer. */
import { describe, expect, test } from "bun:test";
import type { ChatRequest, Tool } from "../../../src/core/chat.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import {
  assistant,
  called,
  CLAUDE,
  encode,
  LLAMA,
  messagesOf,
  NOVA,
  readStream,
  result,
  start,
  begin,
  delta,
  stop,
  end,
  metadata,
  system,
  text,
  told,
  tool,
  user,
} from "./make.ts";

const HISTORY = [user(text("u")), assistant(called("a", "old")), user(result("a", text("r")))];
const EMPTY_SCHEMA = { json: { type: "object", properties: {} } };

const namesIn = (body: JsonObject) =>
  ((body.toolConfig as JsonObject | undefined)?.tools as JsonObject[] | undefined)?.flatMap(({ toolSpec }) =>
    toolSpec ? [(toolSpec as JsonObject).name] : [],
  );
const systemText = (body: JsonObject) =>
  (body.system as JsonObject[] | undefined)?.map(({ text: said }) => said);

describe("tools", () => {
  test("without tools and calls there is no toolConfig", () => {
    expect(encode().body).not.toHaveProperty("toolConfig");
  });

  test("a history with calls declares their tools even if the request declares none", () => {
    const { body, losses } = encode({ turns: HISTORY });
    expect(body.toolConfig).toEqual({ tools: [{ toolSpec: { name: "old", inputSchema: EMPTY_SCHEMA } }] });
    expect(systemText(body)).toEqual(["Do not call any tools."]);
    expect(losses).toEqual(["synthesized:turns"]);
  });

  test("with the choice none only tools of the history are declared", () => {
    const tools = [tool("old", { description: "Old." }), tool("new")];
    const { body, losses } = encode({ tools, toolChoice: { type: "none" }, turns: HISTORY });
    expect(namesIn(body)).toEqual(["old"]);
    expect(body.toolConfig).toMatchObject({ tools: [{ toolSpec: { description: "Old." } }] });
    expect(losses).toEqual(["downgraded:toolChoice"]);
    const plain = encode({ tools, toolChoice: { type: "none" } });
    expect(plain.body).not.toHaveProperty("toolConfig");
    expect(plain.losses).toEqual(["downgraded:toolChoice"]);
  });

  test("a choice goes to models that take it, and is a sentence for others", () => {
    const tools = [tool("f"), tool("g")];
    const choose = (toolChoice: ChatRequest["toolChoice"], model: string) =>
      encode({ tools, toolChoice }, { model });
    for (const model of [CLAUDE, NOVA, "mistral.mistral-large-2402-v1:0"]) {
      expect(choose({ type: "required" }, model).body.toolConfig).toHaveProperty("toolChoice", { any: {} });
      expect(choose({ type: "tool", name: "g" }, model).body.toolConfig).toHaveProperty("toolChoice", {
        tool: { name: "g" },
      });
      expect(choose({ type: "auto" }, model).body.toolConfig).not.toHaveProperty("toolChoice");
    }
    const { body, losses } = choose({ type: "tool", name: "g" }, LLAMA);
    expect(namesIn(body)).toEqual(["g"]);
    expect(body.toolConfig).not.toHaveProperty("toolChoice");
    expect(systemText(body)).toEqual(["You must call one of the tools."]);
    expect(losses).toEqual(["downgraded:toolChoice"]);
    expect(() => choose({ type: "tool", name: "h" }, CLAUDE)).toThrow(/declares no tool named 'h'/);
  });

  test("a name of 90 characters goes out with 64 and comes back whole", () => {
    const name = `mcp__${"server_".repeat(12)}x`;
    const { body, context } = encode({ tools: [tool(name)] });
    const [sent] = namesIn(body)!;
    expect(String(sent)).toMatch(/^[a-zA-Z0-9_-]{64}$/);
    const events = readStream(
      [
        start,
        begin(0, { toolUse: { toolUseId: "t", name: String(sent) } }),
        stop(0),
        end("tool_use"),
        metadata,
      ],
      {
        toolNames: context.toolNames,
      },
    );
    expect(told(events)).toEqual([`tool-call t ${name} function: `]);
  });

  test("the root of a schema is a plain object", () => {
    const schema = {
      anyOf: [
        { type: "object", properties: { a: {} } },
        { type: "object", properties: { b: {} } },
      ],
    };
    const { body, losses } = encode({ tools: [tool("f", { parameters: schema })] });
    expect(body.toolConfig).toMatchObject({
      tools: [{ toolSpec: { inputSchema: { json: { type: "object", properties: { a: {}, b: {} } } } } }],
    });
    expect(losses).toEqual(["converted:tools"]);
  });

  test("strict goes to models that compile schemas, and is reported as lost for others", () => {
    const parameters = {
      type: "object",
      properties: { a: { type: "string" } },
      required: ["a"],
      additionalProperties: false,
    };
    const strict = [tool("f", { parameters, strict: true })];
    const specOf = (model: string) => encode({ tools: strict }, { model });
    expect(specOf(CLAUDE).body.toolConfig).toMatchObject({ tools: [{ toolSpec: { strict: true } }] });
    for (const model of ["us.anthropic.claude-opus-4-8-v1:0", NOVA]) {
      expect(JSON.stringify(specOf(model).body)).not.toContain("strict");
      expect(specOf(model).losses).toEqual(["dropped:tools"]);
    }
  });

  test("a server tool of another vendor is left out; if a web search is all there is, the request is refused", () => {
    const search: Tool = {
      kind: "foreign",
      name: "web_search",
      format: "other",
      value: { type: "web_search" },
      searchesWeb: true,
    };
    const { body, losses } = encode({ tools: [tool("f"), search] });
    expect(namesIn(body)).toEqual(["f"]);
    expect(losses).toEqual(["dropped:tools"]);
    expect(() => encode({ tools: [search] })).toThrow(/has no web search/);
  });

  test("a custom tool has one text argument, and its calls are unwrapped", () => {
    const tools: Tool[] = [{ kind: "custom", name: "shell" }];
    const { body, context } = encode({ tools });
    expect(body.toolConfig).toMatchObject({
      tools: [{ toolSpec: { inputSchema: { json: { required: ["input"] } } } }],
    });
    const events = readStream(
      [
        start,
        begin(0, { toolUse: { toolUseId: "t", name: "shell" } }),
        delta(0, { toolUse: { input: '{"inp' } }),
        delta(0, { toolUse: { input: 'ut":"ls"}' } }),
        stop(0),
        end("tool_use"),
        metadata,
      ],
      { request: context.request },
    );
    expect(told(events)).toEqual(["tool-call t shell custom: ls"]);
  });
});

describe("cache points", () => {
  const POINT = { cachePoint: { type: "default" } };

  test("are elements of their own behind what they mark, in tools, system prompt and messages", () => {
    const { body } = encode({
      tools: [tool("f", { cache: {} }), tool("g")],
      turns: [system(text("s", {})), user(text("u", {}), text("v"))],
    });
    expect((body.toolConfig as JsonObject).tools).toEqual([
      { toolSpec: { name: "f", inputSchema: EMPTY_SCHEMA } },
      POINT,
      { toolSpec: { name: "g", inputSchema: EMPTY_SCHEMA } },
    ]);
    expect(body.system).toEqual([{ text: "s" }, POINT]);
    expect(messagesOf(body)[0]).toEqual(["user", { text: "u" }, POINT, { text: "v" }]);
  });

  test("only the last four stay", () => {
    const { body } = encode({
      turns: [system(text("s", {})), user(...["a", "b", "c", "d", "e"].map((word) => text(word, {})))],
    });
    expect(JSON.stringify(body).split("cachePoint")).toHaveLength(5);
    expect(body.system).toEqual([{ text: "s" }]);
    expect(messagesOf(body)[0]!.slice(1, 4)).toEqual([{ text: "a" }, { text: "b" }, POINT]);
  });

  test("Nova takes none in tools, and other models take none", () => {
    const marked: Partial<ChatRequest> = { tools: [tool("f", { cache: {} })], turns: [user(text("u", {}))] };
    expect(JSON.stringify(encode(marked, { model: NOVA }).body).split("cachePoint")).toHaveLength(2);
    expect(JSON.stringify(encode(marked, { model: LLAMA }).body)).not.toContain("cachePoint");
  });

  test("none stands behind a document that is no PDF: it moves before it, with a loss", () => {
    const document = {
      type: "document" as const,
      cache: {},
      source: { type: "text" as const, mediaType: "text/markdown", text: "# A" },
    };
    const { body, losses } = encode({ turns: [user(text("a"), document, text("b"))] });
    expect(messagesOf(body)[0]!.slice(1)).toEqual([
      { text: "a" },
      POINT,
      { document: { format: "md", name: "Document 1", source: { text: "# A" } } },
      { text: "b" },
    ]);
    expect(losses).toEqual(["converted:turns"]);
    expect(messagesOf(encode({ turns: [user(document, text("b"))] }).body)[0]![1]).toHaveProperty("document");
  });

  test("an earlier one lives as long as a later one", () => {
    const { body } = encode({ turns: [system(text("s", {})), user(text("u", { ttl: "1h" }))] });
    expect(body.system).toEqual([{ text: "s" }, { cachePoint: { type: "default", ttl: "1h" } }]);
  });

  test("a request to cache all marks the ends of tools, system prompt and the last user message", () => {
    const { body } = encode({
      cache: {},
      tools: [tool("f")],
      turns: [system(text("s")), user(text("a")), assistant(text("b")), user(text("c"))],
    });
    expect((body.toolConfig as JsonObject).tools).toEqual([
      { toolSpec: { name: "f", inputSchema: EMPTY_SCHEMA } },
      POINT,
    ]);
    expect(body.system).toEqual([{ text: "s" }, POINT]);
    expect(messagesOf(body).map((message) => message.length)).toEqual([2, 2, 3]);
  });
});

describe("the format of the answer", () => {
  const schema = {
    type: "object",
    properties: { a: { type: "string" } },
    required: ["a"],
    additionalProperties: false,
  };
  const answerFormat = { type: "json-schema" as const, name: "my answer", schema };

  test("is a schema as JSON text for models that compile it", () => {
    for (const model of [CLAUDE, "qwen.qwen3-32b-v1:0", "openai.gpt-oss-20b-1:0"]) {
      const { body, losses } = encode({ answerFormat }, { model });
      const { jsonSchema } = (body.outputConfig as { textFormat: { structure: { jsonSchema: JsonObject } } })
        .textFormat.structure;
      expect(JSON.parse(String(jsonSchema.schema))).toEqual(schema);
      expect(jsonSchema.name).toBe("my_answer");
      expect(losses).toEqual([]);
    }
  });

  test("is a forced tool for other models, whose input is the answer", () => {
    const { body, losses, context } = encode({ answerFormat }, { model: NOVA });
    expect(body.toolConfig).toMatchObject({
      tools: [{ toolSpec: { name: "respond" } }],
      toolChoice: { tool: { name: "respond" } },
    });
    expect(losses).toEqual(["downgraded:answerFormat"]);
    const events = readStream(
      [
        start,
        begin(0, { toolUse: { toolUseId: "t", name: "respond" } }),
        delta(0, { toolUse: { input: '{"a":"b"}' } }),
        stop(0),
        end("tool_use"),
        metadata,
      ],
      { model: NOVA, request: context.request },
    );
    expect(told(events)).toEqual(['text: {"a":"b"}']);
    expect(events.at(-1)).toMatchObject({ reason: { kind: "stop" } });
  });

  test("is a sentence if the client has a tool of that name, or the provider is told so", () => {
    const own = encode({ answerFormat, tools: [tool("respond")] }, { model: NOVA });
    expect(systemText(own.body)!.at(-1)).toMatch(/follows this JSON schema/);
    const told = encode({ answerFormat }, { traits: { jsonSchema: "prompt" } });
    expect(told.body).not.toHaveProperty("outputConfig");
  });
});
