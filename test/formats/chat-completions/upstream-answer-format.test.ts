import { describe, expect, test } from "bun:test";
import type { AnswerFormat, ChatRequest } from "../../../src/core/chat.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { type CallOptions, encode } from "./make.ts";

describe("answer formats", () => {
  const schema = {
    type: "object",
    properties: { a: { type: "string" } },
    required: ["a"],
    additionalProperties: false,
  };
  const format: AnswerFormat = { type: "json-schema", schema };
  const field = (answerFormat: AnswerFormat, options: CallOptions = {}) =>
    encode({ answerFormat }, options).body.response_format;

  test("a schema has a name, and is strict when it can be", () => {
    expect(field(format)).toEqual({
      type: "json_schema",
      json_schema: { name: "response", schema, strict: true },
    });
    const loose = { ...schema, required: [] };
    expect(field({ ...format, schema: loose })).toMatchObject({ json_schema: { strict: false } });
    expect(field({ ...format, schema: { ...schema, additionalProperties: true } })).toMatchObject({
      json_schema: { strict: false },
    });
    expect(field({ ...format, name: "my schema!" }, { format: "chat-completions" })).toEqual({
      type: "json_schema",
      json_schema: { name: "my_schema_", schema },
    });
    expect(field({ type: "json" })).toEqual({ type: "json_object" });
    expect(field({ type: "text" })).toBeUndefined();
  });

  test("where the provider cannot be bound to a schema it is asked for in the prompt", () => {
    for (const jsonSchema of ["json-object", "prompt"] as const) {
      const { body, messages, losses } = encode({ answerFormat: format }, { traits: { jsonSchema } });
      expect(body.response_format).toEqual(jsonSchema === "prompt" ? undefined : { type: "json_object" });
      expect(messages[0]).toEqual({
        role: "system",
        content: expect.stringContaining(JSON.stringify(schema)),
      } as unknown as JsonObject);
      expect(losses).toEqual(["downgraded:output_config.format"]);
    }
    const turns: ChatRequest["turns"] = [
      { role: "system", blocks: [{ type: "text", text: "S" }] },
      { role: "user", blocks: [{ type: "text", text: "hi" }] },
    ];
    const { messages } = encode(
      { answerFormat: { type: "json" }, turns },
      { traits: { jsonSchema: "prompt" } },
    );
    expect(messages[0]!.content).toStartWith("S\n\n");
    expect(messages).toHaveLength(2);
  });
});
