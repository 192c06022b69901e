/** Canonical requests become requests of the format. */
import { describe, expect, test } from "bun:test";
import type { Block, ChatRequest, Turn } from "../../../src/core/chat.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { lossesOf } from "../../helpers/codec-context.ts";
import { encode } from "./upstream.ts";

const text = (words: string): Block => ({ type: "text", text: words });
const turn = (role: Turn["role"], ...blocks: Block[]): Turn => ({ role, blocks });
const call = (id: string, name: string, input: string, kind: "function" | "custom" = "function"): Block => ({
  type: "tool-call",
  id,
  name,
  input,
  kind,
});
const result = (id: string, ...blocks: Block[]): Block => ({ type: "tool-result", id, blocks });
const look = { kind: "function" as const, name: "look", parameters: { type: "object" } };
const inputOf = (turns: Turn[], more: Partial<ChatRequest> = {}, options = {}) =>
  encode({ turns, ...more }, options).body.input as JsonObject[];

describe("the conversation", () => {
  test("system messages at the beginning are instructions, later ones developer messages at their place", () => {
    const turns = [
      turn("system", text("one")),
      turn("system", text("two")),
      turn("user", text("hello")),
      turn("system", text("three")),
    ];
    const { body } = encode({ turns });
    expect(body.instructions).toBe("one\n\ntwo");
    expect(body.input).toEqual([
      { type: "message", role: "user", content: "hello" },
      { type: "message", role: "developer", content: "three" },
    ]);
  });

  test("with json_object the instructions are input, where the provider looks for the word JSON", () => {
    const turns = [turn("system", text("Answer in JSON.")), turn("user", text("hello"))];
    const { body } = encode({ turns, answerFormat: { type: "json" } });
    expect(body.text).toEqual({ format: { type: "json_object" } });
    expect(body.instructions).toBeUndefined();
    expect(body.input).toEqual([
      { type: "message", role: "developer", content: "Answer in JSON." },
      { type: "message", role: "user", content: "hello" },
    ]);
  });

  test("text of the assistant is output_text; reasoning of this provider stands before what followed it", () => {
    const turns = [
      turn("user", text("hello")),
      turn(
        "assistant",
        { type: "reasoning", text: "a\n\nb", parts: ["a", "b"], signature: "sealed", origin: "openai" },
        { type: "text", text: "I look.", phase: "commentary" },
        call("call_1", "look", '{"at":1}'),
      ),
      turn("user", result("call_1", text("seen")), text("and?")),
    ];
    expect(inputOf(turns, { tools: [look] }).slice(1)).toEqual([
      {
        type: "reasoning",
        summary: [
          { type: "summary_text", text: "a" },
          { type: "summary_text", text: "b" },
        ],
        encrypted_content: "sealed",
      },
      {
        type: "message",
        role: "assistant",
        content: [{ type: "output_text", text: "I look.", annotations: [] }],
        phase: "commentary",
      },
      { type: "function_call", call_id: "call_1", name: "look", arguments: '{"at":1}' },
      { type: "function_call_output", call_id: "call_1", output: "seen" },
      { type: "message", role: "user", content: "and?" },
    ]);
  });

  test("reasoning of another provider is dropped with a report", () => {
    const reasoning: Block = { type: "reasoning", text: "hm", signature: "x", origin: "anthropic" };
    const { body, context } = encode({
      turns: [turn("user", text("a")), turn("assistant", reasoning, text("b")), turn("user", text("c"))],
    });
    expect(JSON.stringify(body.input)).not.toContain("reasoning");
    expect(lossesOf(context)).toEqual(["dropped:turns"]);
  });

  test("a call without a result gets one, and a result without a call becomes text", () => {
    const turns = [
      turn("user", text("a")),
      turn("assistant", call("call_1", "look", "{}")),
      turn("user", result("call_9", text("lost")), text("b")),
    ];
    const { body, context } = encode({ turns, tools: [look] });
    expect(body.input).toEqual([
      { type: "message", role: "user", content: "a" },
      { type: "function_call", call_id: "call_1", name: "look", arguments: "{}" },
      { type: "function_call_output", call_id: "call_1", output: "[tool error] no result was provided" },
      { type: "message", role: "user", content: "[result of tool call_9]\n\nlost\n\nb" },
    ]);
    expect(lossesOf(context).sort()).toEqual(["repaired:turns", "synthesized:turns"]);
  });

  test("images and files are parts, also in a tool result", () => {
    const image: Block = { type: "image", source: { type: "base64", mediaType: "image/png", data: "aGk=" } };
    const pdf: Block = {
      type: "document",
      title: "a.pdf",
      source: { type: "base64", mediaType: "application/pdf", data: "aGk=" },
    };
    const turns = [
      turn("user", text("a"), image, pdf),
      turn("assistant", call("call_1", "look", "{}")),
      turn("user", result("call_1", image)),
    ];
    const input = inputOf(turns, { tools: [look] }, { traits: { files: true } }) as {
      content?: unknown;
      output?: unknown;
    }[];
    const sent = { type: "input_image", image_url: "data:image/png;base64,aGk=" };
    expect(input[0]!.content).toEqual([
      { type: "input_text", text: "a" },
      sent,
      { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,aGk=" },
    ]);
    expect(input[2]!.output).toEqual([sent]);
  });

  test("audio is refused with its place", () => {
    const audio: Block = { type: "audio", data: "aGk=", format: "wav", path: "messages[0].content[0]" };
    expect(() => encode({ turns: [turn("user", audio)] })).toThrow(/messages\[0\]\.content\[0\].*audio/);
  });

  test("a longer conversation begins with the bytes of the shorter one", () => {
    const turns = [
      turn("user", text("a")),
      turn("assistant", call("call_1", "look", "{}")),
      turn("user", result("call_1", text("r"))),
    ];
    const short = JSON.stringify(encode({ turns, tools: [look] }).body);
    const long = JSON.stringify(
      encode({ turns: [...turns, turn("assistant", text("b")), turn("user", text("c"))], tools: [look] })
        .body,
    );
    expect(long.startsWith(short.slice(0, -2))).toBe(true);
  });
});

describe("tools", () => {
  test("strict is always explicit", () => {
    const { body } = encode({ tools: [look, { ...look, name: "see", strict: true }] });
    expect(body.tools).toEqual([
      { type: "function", name: "look", parameters: { type: "object" }, strict: false },
      { type: "function", name: "see", parameters: { type: "object" }, strict: true },
    ]);
  });

  const patch = {
    kind: "custom" as const,
    name: "patch",
    grammar: { syntax: "lark", definition: "start: /x/" },
  };
  const history = [
    turn("user", text("a")),
    turn("assistant", call("call_1", "patch", "raw", "custom")),
    turn("user", result("call_1", text("ok"))),
  ];

  test("a custom tool, its choice, its calls and their results keep their kind", () => {
    const { body } = encode({ turns: history, tools: [patch], toolChoice: { type: "tool", name: "patch" } });
    expect(body.tools).toEqual([
      {
        type: "custom",
        name: "patch",
        format: { type: "grammar", syntax: "lark", definition: "start: /x/" },
      },
    ]);
    expect(body.tool_choice).toEqual({ type: "custom", name: "patch" });
    expect((body.input as object[]).slice(1)).toEqual([
      { type: "custom_tool_call", call_id: "call_1", name: "patch", input: "raw" },
      { type: "custom_tool_call_output", call_id: "call_1", output: "ok" },
    ]);
  });

  test("a host without custom tools gets a function with one text", () => {
    const { body, context } = encode({ turns: history, tools: [patch] }, { traits: { customTools: false } });
    expect(body.tools).toMatchObject([
      { type: "function", name: "patch", parameters: { required: ["input"] } },
    ]);
    expect((body.input as object[]).slice(1)).toEqual([
      { type: "function_call", call_id: "call_1", name: "patch", arguments: '{"input":"raw"}' },
      { type: "function_call_output", call_id: "call_1", output: "ok" },
    ]);
    expect(lossesOf(context)).toEqual(["converted:tools"]);
  });

  test("a chosen function is named flat, and parallel calls are mentioned only with tools", () => {
    const chosen = { toolChoice: { type: "tool", name: "look" } as const, parallelToolCalls: false };
    expect(encode({ tools: [look], ...chosen }).body).toMatchObject({
      tool_choice: { type: "function", name: "look" },
      parallel_tool_calls: false,
    });
    expect(encode({ parallelToolCalls: false }).body).not.toHaveProperty("parallel_tool_calls");
  });
});

describe("fields", () => {
  test("nothing is stored, and encrypted reasoning is asked for", () => {
    expect(encode().body).toMatchObject({
      store: false,
      reasoning: { summary: "auto" },
      include: ["reasoning.encrypted_content"],
    });
  });

  test("a model that does not reason gets no word about reasoning", () => {
    const { body } = encode({}, { model: "gpt-4.1" });
    expect(body).not.toHaveProperty("reasoning");
    expect(body).not.toHaveProperty("include");
  });

  test("tools and effort go together on a model where chat-completions refuses the pair", () => {
    const { body, context } = encode({ tools: [look], reasoning: { effort: "high" } });
    expect(body.reasoning).toEqual({ effort: "high", summary: "auto" });
    expect(lossesOf(context)).toEqual([]);
  });

  test("reasoning that is switched off has no summary, and hidden reasoning none either", () => {
    expect(encode({ reasoning: { mode: "off" } }).body.reasoning).toEqual({ effort: "none" });
    expect(encode({ reasoning: { effort: "low" }, style: { hideReasoning: true } }).body.reasoning).toEqual({
      effort: "low",
    });
  });

  test("the output limit is at least 16", () => {
    const { body, context } = encode({ maxTokens: 1 });
    expect(body.max_output_tokens).toBe(16);
    expect(lossesOf(context)).toEqual(["clamped:maxTokens"]);
  });

  test("a schema is flat, and verbosity stands beside it", () => {
    const schema = { type: "object", properties: {}, additionalProperties: false };
    const answerFormat = { type: "json-schema", name: "one", schema } as const;
    expect(encode({ answerFormat, verbosity: "low" }).body.text).toEqual({
      format: { type: "json_schema", name: "one", schema, strict: true },
      verbosity: "low",
    });
  });

  test("stop sequences are not sent", () => {
    const { body, context } = encode({ stop: ["END"] });
    expect(body).not.toHaveProperty("stop");
    expect(lossesOf(context)).toEqual([]);
  });

  test("a field of another format is reported", () => {
    const ownFields = { other: { seed: { report: () => true } } };
    const { body, context } = encode({ extra: { other: { seed: 1 } }, ownFields });
    expect(body).not.toHaveProperty("seed");
    expect(lossesOf(context)).toEqual(["dropped:seed"]);
  });
});
