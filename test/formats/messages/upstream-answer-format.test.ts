import { describe, expect, test } from "bun:test";
import type { ChatRequest } from "../../../src/core/chat.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { encode } from "./make.ts";

const HAIKU = { model: "claude-haiku-4-5" };

function fields(parts: Partial<ChatRequest>, options: Parameters<typeof encode>[1] = HAIKU) {
  const { body, losses } = encode(parts, options);
  const { model, messages, max_tokens, ...rest } = body;
  return { rest, losses };
}

describe("answers with a schema", () => {
  const schema: JsonObject = {
    type: "object",
    properties: { a: { type: "integer", minimum: 1 } },
    required: ["a"],
  };
  const wish = { type: "json-schema", name: "x", schema } as const;

  test("the native way, without a tool, where the model has it", () => {
    for (const model of ["claude-opus-5-5", "claude-sonnet-4-5", "claude-opus-4-1"]) {
      const { body, losses } = encode({ answerFormat: wish }, { model });
      expect(body.output_config).toEqual({
        format: {
          type: "json_schema",
          schema: {
            type: "object",
            properties: { a: { type: "integer", description: "{minimum: 1}" } },
            required: ["a"],
            additionalProperties: false,
          },
        },
      });
      expect(body).not.toHaveProperty("tools");
      expect(losses).toEqual(["converted:response_format"]);
    }
  });

  test("else through a tool: forced when it is alone and may be, else asked for", () => {
    const alone = encode({ answerFormat: wish }, { model: "kimi-k3" });
    expect(alone.body).toMatchObject({
      tools: [{ name: "respond", input_schema: schema }],
      tool_choice: { type: "tool", name: "respond" },
    });
    expect(alone.losses).toEqual(["downgraded:response_format"]);
    const among = encode(
      { answerFormat: wish, tools: [{ kind: "function", name: "f" }] },
      { model: "kimi-k3" },
    );
    expect(among.body).not.toHaveProperty("tool_choice");
    expect((among.body.tools as JsonObject[]).map(({ name }) => name)).toEqual(["f", "respond"]);
    expect(JSON.stringify(among.body.system)).toContain("calling the tool respond");
  });

  test("else by asking: the provider's trait, or a tool of that name", () => {
    const asked = encode({ answerFormat: wish }, { model: "kimi-k3", traits: { jsonSchema: "prompt" } });
    expect(asked.body).not.toHaveProperty("tools");
    expect(JSON.stringify(asked.body.system)).toContain("follows this JSON schema");
    const taken = encode(
      { answerFormat: wish, tools: [{ kind: "function", name: "respond" }] },
      { model: "kimi-k3" },
    );
    expect(taken.body.tools).toHaveLength(1);
  });

  test("a schema that refers to itself cannot be compiled", () => {
    const recursive: JsonObject = {
      $defs: { n: { type: "object", properties: { next: { $ref: "#/$defs/n" } } } },
      $ref: "#/$defs/n",
    };
    const { body } = encode(
      { answerFormat: { type: "json-schema", schema: recursive } },
      { model: "claude-opus-5-5" },
    );
    expect(body).not.toHaveProperty("output_config");
    expect(body.tools).toMatchObject([{ name: "respond" }]);
    expect(body).not.toHaveProperty("tool_choice");
  });

  test("plain JSON is asked for, and told; text is what it is anyway", () => {
    expect(fields({ answerFormat: { type: "json" } })).toEqual({
      rest: { system: [{ type: "text", text: "Respond with one JSON object only." }] },
      losses: ["downgraded:response_format"],
    });
    expect(fields({ answerFormat: { type: "text" } })).toEqual({ rest: {}, losses: [] });
  });
});
