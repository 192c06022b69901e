/** What weir reads of the requests of Google's clients. */
import { describe, expect, test } from "bun:test";
import type { Block, ChatRequest } from "../../../src/core/chat.ts";
import { GatewayError } from "../../../src/core/error.ts";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { geminiFormat } from "../../../src/formats/gemini/index.ts";
import { withoutPaths } from "../../helpers/client-paths.ts";
import { type ContextOptions, lossesOf, makeContext } from "../../helpers/codec-context.ts";

const { client } = geminiFormat;

function decode(body: JsonObject, options: ContextOptions = {}): ChatRequest & { losses: string[] } {
  const check: (value: Json) => void = client.request.checkRequest;
  check(body);
  const context = makeContext({ askedFor: "asked", ...options });
  return {
    ...client.codec.decodeRequest({ ...body, model: "asked", stream: true }, context),
    losses: lossesOf(context),
  };
}

const user = (...parts: JsonObject[]): JsonObject => ({ role: "user", parts });
const model = (...parts: JsonObject[]): JsonObject => ({ role: "model", parts });
const hello = user({ text: "hi" });
const call = (name: string, more: JsonObject = {}): JsonObject => ({ functionCall: { name, ...more } });
const result = (name: string, response: JsonObject, more: JsonObject = {}): JsonObject => ({
  functionResponse: { name, response, ...more },
});
const seal = (origin: string, payload: string) =>
  Buffer.from(`weir1.${origin}.${Buffer.from(payload).toString("base64url")}`).toString("base64");

/** The blocks of each turn, without paths. */
const turns = (...contents: JsonObject[]): Block[][] =>
  decode({ contents }).turns.map(({ blocks }) => blocks.map((block) => withoutPaths(block)));

/** The error for a body: where, and with which code. */
function fault(body: JsonObject): [param: string | undefined, code: string | undefined] | undefined {
  try {
    decode(body);
    return undefined;
  } catch (thrown) {
    const { param, code } = thrown as GatewayError;
    return [param, code];
  }
}

test("the model and the stream are what the URL says", () => {
  const { model: name, stream } = decode({ contents: [hello] });
  expect([name, stream]).toEqual(["asked", true]);
});

describe("responses", () => {
  const results = (...contents: JsonObject[]): [id: string, text: string][] =>
    turns(...contents)
      .flat()
      .flatMap((block) => (block.type === "tool-result" ? [[block.id, textOf(block.blocks)]] : []));
  const textOf = (blocks: Block[]) =>
    blocks.map((block) => (block.type === "text" ? block.text : block.type)).join();
  const calls = (...contents: JsonObject[]): string[] =>
    turns(...contents)
      .flat()
      .flatMap((block) => (block.type === "tool-call" ? [block.id] : []));

  test("without ids belong to the calls of their names, in order", () => {
    const contents = [
      hello,
      model(call("f"), call("g"), call("f")),
      user(result("f", { output: "1" }), result("f", { output: "2" }), result("g", { output: "3" })),
    ];
    const [first, second, third] = calls(...contents);
    expect(new Set([first, second, third]).size).toBe(3);
    expect(results(...contents)).toEqual([
      [first!, "1"],
      [third!, "2"],
      [second!, "3"],
    ]);
  });

  test("with ids belong to those, in any order, also if only the responses have them", () => {
    const named = [
      model(call("f", { id: "a" }), call("f", { id: "b" })),
      user(result("f", { output: "2" }, { id: "b" }), result("f", { output: "1" }, { id: "a" })),
    ];
    expect(results(hello, ...named)).toEqual([
      ["b", "2"],
      ["a", "1"],
    ]);
    const half = [hello, model(call("f")), user(result("f", { output: "1" }, { id: "x" }))];
    expect(results(...half)[0]![0]).toBe(calls(...half)[0]!);
  });

  test("of an earlier turn do not answer the calls of a later one", () => {
    const contents = [
      hello,
      model(call("f")),
      user({ text: "stop" }),
      model(call("f")),
      user(result("f", { output: "1" })),
    ];
    expect(results(...contents)[0]![0]).toBe(calls(...contents)[1]!);
  });

  test("minted ids do not change when a turn is added", () => {
    const start = [hello, model(call("f"), call("f")), user(result("f", {}), result("f", {}))];
    expect(calls(...start, model(call("f")))).toEqual([...calls(...start), expect.any(String)]);
  });

  const CONTENTS: [string, JsonObject, string, boolean][] = [
    ["output", { output: "text" }, "text", false],
    ["result", { result: "text" }, "text", false],
    ["content", { content: "text" }, "text", false],
    ["an object as output", { output: { a: 1 } }, '{"a":1}', false],
    ["several members", { output: "a", more: 1 }, '{"output":"a","more":1}', false],
    ["another member", { temperature: 20 }, '{"temperature":20}', false],
    ["an error", { error: "no such city" }, "no such city", true],
    ["an error that is an object", { error: { code: 4 } }, '{"code":4}', true],
    ["an error that is null", { error: null, output: "fine" }, "fine", false],
  ];
  for (const [name, response, text, isError] of CONTENTS)
    test(`${name} is read as text`, () => {
      const [block] = turns(hello, model(call("f")), user(result("f", response)))[2]!;
      expect(block).toMatchObject({ type: "tool-result", blocks: [{ type: "text", text }] });
      expect(block!.type === "tool-result" && block!.error === true).toBe(isError);
    });
});

describe("a thought signature", () => {
  const SIGNED = "c2lnbmVk";

  test("is reasoning in front of its part, with the thoughts before it", () => {
    expect(
      turns(
        hello,
        model({ text: "hm", thought: true }, { ...call("f", { id: "a" }), thoughtSignature: SIGNED }),
      )[1],
    ).toMatchObject([
      { type: "reasoning", text: "hm", signature: SIGNED, origin: "google" },
      { type: "tool-call", id: "a" },
    ]);
    expect(turns(hello, model({ text: "a", thoughtSignature: SIGNED }))[1]).toMatchObject([
      { type: "reasoning", text: "", signature: SIGNED },
      { type: "text", text: "a" },
    ]);
  });

  test("in a content of its own, as the SDK keeps the records of a stream, belongs to the thoughts of the content before", () => {
    const records = [
      model({ text: "hm", thought: true }),
      model({ ...call("f", { id: "a" }), thoughtSignature: SIGNED }),
    ];
    const [, turn, ...others] = turns(hello, ...records);
    expect(others).toEqual([]);
    expect(turn).toMatchObject([{ type: "reasoning", text: "hm", signature: SIGNED }, { type: "tool-call" }]);
  });

  test("of another vendor, which weir wrapped, names that vendor", () => {
    expect(turns(hello, model({ text: "a", thoughtSignature: seal("anthropic", "SIG") }))[1]![0]).toEqual({
      type: "reasoning",
      text: "",
      signature: "SIG",
      origin: "anthropic",
    });
  });

  test("that holds text brings it back, also if the client dropped its thoughts", () => {
    const sealed = seal("deepseek", "weir:text:I look it up.");
    expect(turns(hello, model({ ...call("f"), thoughtSignature: sealed }))[1]![0]).toEqual({
      type: "reasoning",
      text: "I look it up.",
      origin: "deepseek",
    });
  });

  test("on an empty part is encrypted reasoning of its own", () => {
    expect(turns(hello, model({ text: "", thoughtSignature: SIGNED }, { text: "a" }))[1]).toMatchObject([
      { type: "reasoning", text: "", redacted: SIGNED, origin: "google" },
      { type: "text", text: "a" },
    ]);
  });

  test("that stands for a lost one is none", () => {
    const placeholder = "skip_thought_signature_validator";
    expect(turns(hello, model({ ...call("f"), thoughtSignature: placeholder }))[1]).toMatchObject([
      { type: "tool-call" },
    ]);
  });
});

describe("media", () => {
  const PNG =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
  const block = (part: JsonObject) => turns(user(part))[0]![0]!;

  test("inline bytes are images, documents, text and audio; the bytes tell the type", () => {
    expect(block({ inlineData: { mimeType: "image/jpeg", data: PNG } })).toMatchObject({
      type: "image",
      source: { mediaType: "image/png", data: PNG },
    });
    expect(block({ inlineData: { mimeType: "application/pdf", data: "JVBERi0xLjQK" } })).toMatchObject({
      type: "document",
      source: { mediaType: "application/pdf" },
    });
    expect(block({ inlineData: { mimeType: "text/csv", data: "YSxi", displayName: "t.csv" } })).toMatchObject(
      { type: "document", title: "t.csv", source: { type: "text", text: "a,b" } },
    );
    expect(block({ inlineData: { mimeType: "audio/mpeg", data: "AAAA" } })).toEqual({
      type: "audio",
      data: "AAAA",
      format: "mp3",
    });
  });

  test("the URL alphabet of base64 is read", () => {
    expect(block({ inlineData: { mimeType: "image/png", data: "-_-_" } })).toMatchObject({
      source: { data: "+/+/" },
    });
  });

  test("public files are read by URL, files that only Google reads stay as they are", () => {
    expect(block({ fileData: { mimeType: "image/png", fileUri: "https://example.com/a" } })).toMatchObject({
      type: "image",
      source: { type: "url" },
    });
    expect(block({ fileData: { fileUri: "https://example.com/a.pdf?x=1" } })).toMatchObject({
      type: "document",
    });
    for (const fileUri of [
      "gs://bucket/a.png",
      "https://generativelanguage.googleapis.com/v1beta/files/a",
      "https://youtu.be/a",
    ])
      expect(block({ fileData: { mimeType: "image/png", fileUri } })).toMatchObject({
        type: "foreign",
        format: "gemini",
      });
  });

  test("details of media are reported as lost", () => {
    const part = { inlineData: { mimeType: "image/png", data: PNG }, mediaResolution: { level: "LOW" } };
    expect(decode({ contents: [user(part)] }).losses).toEqual([
      "dropped:contents[0].parts[0].mediaResolution",
    ]);
  });
});

describe("schemas", () => {
  const parameters = (schema: JsonObject, member = "parameters") =>
    decode({ contents: [hello], tools: [{ functionDeclarations: [{ name: "f", [member]: schema }] }] })
      .tools[0]!.parameters;

  test("in the subset of OpenAPI become JSON schemas, and property names stay", () => {
    const schema = {
      type: "OBJECT",
      properties: {
        type: { type: "STRING", nullable: true, format: "enum", enum: ["A"] },
        nullable: { type: "BOOLEAN" },
        format: { type: "ARRAY", items: { type: "INTEGER", format: "int32" }, maxItems: "3" },
        any: { anyOf: [{ type: "NUMBER" }, { type: "TYPE_UNSPECIFIED" }] },
      },
      required: ["type"],
      propertyOrdering: ["type"],
    };
    expect(parameters(schema)).toEqual({
      type: "object",
      properties: {
        type: { type: ["string", "null"], enum: ["A", null] },
        nullable: { type: "boolean" },
        format: { type: "array", items: { type: "integer", format: "int32" }, maxItems: 3 },
        any: { anyOf: [{ type: "number" }, {}] },
      },
      required: ["type"],
    });
  });

  test("that are JSON schemas pass as the same object", () => {
    const schema: JsonObject = {
      type: "object",
      properties: { a: { $ref: "#/$defs/A" } },
      $defs: { A: { const: "X" } },
    };
    expect(parameters(schema, "parametersJsonSchema")).toBe(schema);
  });
});

describe("options", () => {
  test("are read from `generationConfig`, and what has no place stays under the format's name", () => {
    const request = decode({
      contents: [hello],
      generationConfig: {
        temperature: 0.1,
        topP: 0.2,
        topK: 3,
        maxOutputTokens: 4,
        stopSequences: ["A"],
        seed: 5,
      },
      toolConfig: {
        functionCallingConfig: { mode: "AUTO", streamFunctionCallArguments: true },
        retrievalConfig: {},
      },
      safetySettings: [],
      someday: 1,
    });
    expect(request).toMatchObject({
      temperature: 0.1,
      topP: 0.2,
      topK: 3,
      maxTokens: 4,
      stop: ["A"],
      toolChoice: { type: "auto" },
    });
    expect(request.extra.gemini).toEqual({
      generationConfig: { seed: 5 },
      toolConfig: { retrievalConfig: {}, functionCallingConfig: { streamFunctionCallArguments: true } },
      safetySettings: [],
      someday: 1,
    });
  });

  const THINKING: [JsonObject, ChatRequest["reasoning"]][] = [
    [{ includeThoughts: true }, undefined],
    [{ thinkingBudget: 0 }, { mode: "off", display: "omitted" }],
    [{ thinkingBudget: -1, includeThoughts: true }, { mode: "adaptive" }],
    [
      { thinkingBudget: 100, includeThoughts: true },
      { mode: "budget", budget: 100 },
    ],
    [{ thinkingLevel: "LOW", includeThoughts: true }, { effort: "low" }],
  ];
  for (const [thinkingConfig, reasoning] of THINKING)
    test(`thinkingConfig ${JSON.stringify(thinkingConfig)}`, () => {
      const request = decode({ contents: [hello], generationConfig: { thinkingConfig } });
      expect(request.reasoning).toEqual(reasoning);
      expect(request.style.hideReasoning).toBe(thinkingConfig.includeThoughts !== true);
    });

  const CHOICES: [JsonObject, ChatRequest["toolChoice"]][] = [
    [{ mode: "AUTO" }, { type: "auto" }],
    [{ mode: "NONE" }, { type: "none" }],
    [{ mode: "ANY" }, { type: "required" }],
    [
      { mode: "ANY", allowedFunctionNames: ["f"] },
      { type: "tool", name: "f" },
    ],
    [
      { mode: "ANY", allowedFunctionNames: ["f", "g"] },
      { type: "allowed", names: ["f", "g"], required: true },
    ],
    [{ mode: "VALIDATED" }, { type: "auto" }],
    [
      { mode: "VALIDATED", allowedFunctionNames: ["f"] },
      { type: "allowed", names: ["f"], required: false },
    ],
    [{ mode: "MODE_UNSPECIFIED" }, undefined],
  ];
  for (const [functionCallingConfig, choice] of CHOICES)
    test(`functionCallingConfig ${JSON.stringify(functionCallingConfig)}`, () => {
      expect(decode({ contents: [hello], toolConfig: { functionCallingConfig } }).toolChoice).toEqual(choice);
    });
});

describe("a body in snake case", () => {
  const snake: JsonObject = {
    system_instruction: { parts: [{ text: "s" }] },
    contents: [
      hello,
      model({ function_call: { name: "f", args: { some_arg: 1 } }, thought_signature: "c2lnbmVk" }),
      user({ function_response: { name: "f", response: { some_result: 2 } } }),
    ],
    tools: [
      {
        function_declarations: [{ name: "f", parameters_json_schema: { type: "object" } }],
        google_search: {},
      },
    ],
    generation_config: {
      max_output_tokens: 5,
      thinking_config: { thinking_budget: 1024, include_thoughts: true },
    },
  };
  const camel: JsonObject = {
    systemInstruction: { parts: [{ text: "s" }] },
    contents: [
      hello,
      model({ functionCall: { name: "f", args: { some_arg: 1 } }, thoughtSignature: "c2lnbmVk" }),
      user({ functionResponse: { name: "f", response: { some_result: 2 } } }),
    ],
    tools: [
      { functionDeclarations: [{ name: "f", parametersJsonSchema: { type: "object" } }], googleSearch: {} },
    ],
    generationConfig: { maxOutputTokens: 5, thinkingConfig: { thinkingBudget: 1024, includeThoughts: true } },
  };

  test("says the same as one in camel case, and words of the client's tools stay", () => {
    expect(withoutPaths(decode(snake))).toEqual(withoutPaths(decode(camel)));
    const [, turn] = decode(snake).turns.slice(1);
    expect(turn!.blocks[1]).toMatchObject({ input: '{"some_arg":1}' });
  });

  test("has paths in its own spelling, in losses and in errors", () => {
    const { paths, tools, turns: read } = decode(snake);
    expect(paths!.maxTokens).toBe("generation_config.max_output_tokens");
    expect(tools[0]!.memberPaths!.parameters).toBe(
      "tools[0].function_declarations[0].parameters_json_schema",
    );
    expect(read[2]!.blocks[1]).toMatchObject({ inputPath: "contents[1].parts[0].function_call.args" });
    expect(fault({ contents: [hello], generation_config: { top_p: 2 } })).toEqual([
      "generation_config.top_p",
      "invalid_value",
    ]);
  });

  test("with a member in both spellings is refused", () => {
    expect(fault({ contents: [hello], generationConfig: {}, generation_config: {} })).toEqual([
      "generation_config",
      "invalid_value",
    ]);
  });
});

describe("is refused with the path of the fault:", () => {
  const FAULTS: [string, JsonObject, [string, string]][] = [
    ["no contents", {}, ["contents", "missing_required_parameter"]],
    ["empty contents", { contents: [] }, ["contents", "invalid_value"]],
    ["an unknown role", { contents: [{ role: "system", parts: [] }] }, ["contents[0].role", "invalid_value"]],
    ["a part without data", { contents: [user({})] }, ["contents[0].parts[0]", "invalid_value"]],
    ["text that is none", { contents: [user({ text: 1 })] }, ["contents[0].parts[0].text", "invalid_value"]],
    [
      "a call without a name",
      { contents: [model({ functionCall: {} })] },
      ["contents[0].parts[0].functionCall.name", "missing_required_parameter"],
    ],
    [
      "media without bytes",
      { contents: [user({ inlineData: { mimeType: "image/png" } })] },
      ["contents[0].parts[0].inlineData.data", "missing_required_parameter"],
    ],
    [
      "a temperature over 2",
      { contents: [hello], generationConfig: { temperature: 3 } },
      ["generationConfig.temperature", "invalid_value"],
    ],
    [
      "another letter case",
      { contents: [hello], generationConfig: { TopP: 1 } },
      ["generationConfig.TopP", "unknown_parameter"],
    ],
    [
      "a function without a name",
      { contents: [hello], tools: [{ functionDeclarations: [{}] }] },
      ["tools[0].functionDeclarations[0].name", "missing_required_parameter"],
    ],
    [
      "tools of Google alone",
      { contents: [hello], tools: [{ googleSearch: {} }] },
      ["tools[0].googleSearch", "unsupported_tool"],
    ],
    [
      "a computer of Google",
      { contents: [hello], tools: [{ computerUse: {} }, { functionDeclarations: [{ name: "f" }] }] },
      ["tools[0].computerUse", "unsupported_tool"],
    ],
  ];
  for (const [name, body, expected] of FAULTS) test(name, () => expect(fault(body)).toEqual(expected));

  test("tools of Google pass to Google", () => {
    expect(
      decode({ contents: [hello], tools: [{ googleSearch: {} }] }, { sameFormat: true }).tools,
    ).toMatchObject([{ kind: "foreign", searchesWeb: true, value: { googleSearch: {} } }]);
  });
});
