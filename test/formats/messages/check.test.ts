import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { GatewayError } from "../../../src/core/error.ts";
import type { Json } from "../../../src/core/json.ts";
import { createMessagesFormat } from "../../../src/formats/messages/index.ts";
import { client } from "./make.ts";
import { withinBudget } from "../../helpers/within-budget.ts";

const VALID = { model: "m", max_tokens: 5, messages: [{ role: "user", content: "hi" }] };

function fault(body: Json, codec = client): { message: string; param?: string } | undefined {
  try {
    const check: (body: Json) => void = codec.request.checkRequest;
    check(body);
    return undefined;
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    expect(thrown.kind).toBe("invalid-request");
    expect(thrown.status).toBe(400);
    return { message: thrown.message, param: thrown.param };
  }
}

const with_ = (parts: Record<string, Json>): Json => ({ ...VALID, ...parts });

describe("what is required", () => {
  const CASES: [string, Json, string, string | undefined][] = [
    ["no object", [], "The request body must be a JSON object.", undefined],
    ["no model", { ...VALID, model: null }, "model: Field required", "model"],
    ["an empty model", with_({ model: "" }), "model: String should have at least 1 character", "model"],
    ["a model that is no text", with_({ model: 3 }), "model: Input should be a valid string", "model"],
    ["no messages", with_({ messages: null }), "messages: Field required", "messages"],
    ["an empty list", with_({ messages: [] }), "messages: at least one message is required", "messages"],
    ["no max_tokens", { model: "m", messages: VALID.messages }, "max_tokens: Field required", "max_tokens"],
    ["max_tokens null", with_({ max_tokens: null }), "max_tokens: Field required", "max_tokens"],
    [
      "max_tokens as text",
      with_({ max_tokens: "5" }),
      "max_tokens: Input should be a valid integer",
      "max_tokens",
    ],
    [
      "a broken max_tokens",
      with_({ max_tokens: 1.5 }),
      "max_tokens: Input should be a valid integer",
      "max_tokens",
    ],
    [
      "max_tokens 0",
      with_({ max_tokens: 0 }),
      "max_tokens: Input should be greater than or equal to 1",
      "max_tokens",
    ],
    [
      "negative max_tokens",
      with_({ max_tokens: -1 }),
      "max_tokens: Input should be greater than or equal to 1",
      "max_tokens",
    ],
  ];
  for (const [name, body, message, param] of CASES)
    test(name, () => expect(fault(body)).toEqual({ message, param }));
});

describe("messages", () => {
  const message = (value: Json) => with_({ messages: [value] });
  const CASES: [string, Json, string][] = [
    [
      "another role",
      message({ role: "tool", content: "x" }),
      "messages.0.role: Input should be 'user' or 'assistant'",
    ],
    ["no role", message({ content: "x" }), "messages.0.role: Field required"],
    ["no content", message({ role: "user" }), "messages.0.content: Field required"],
    ["content null", message({ role: "user", content: null }), "messages.0.content: Field required"],
    [
      "content of another kind",
      message({ role: "user", content: 5 }),
      "messages.0.content: Input should be a valid string or a list of blocks",
    ],
    [
      "a block that is text",
      message({ role: "user", content: ["x"] }),
      "messages.0.content.0: Input should be an object",
    ],
    [
      "a block without type",
      message({ role: "user", content: [{ text: "x" }] }),
      "messages.0.content.0.type: Field required",
    ],
    ["no object", message("hi"), "messages.0: Input should be an object"],
    [
      "a system that is no text",
      with_({ system: 3 }),
      "system: Input should be a valid string or a list of blocks",
    ],
  ];
  for (const [name, body, sentence] of CASES)
    test(name, () => {
      const found = fault(body)!;
      expect(found.message).toBe(sentence);
      expect(found.param).toBe(sentence.split(":")[0]);
    });
});

describe("system turns", () => {
  const first = with_({ messages: [{ role: "system", content: "x" }, ...VALID.messages] });
  const later = with_({ messages: [...VALID.messages, { role: "system", content: "x" }] });

  test("first: refused, naming the top-level field", () => {
    const found = fault(first)!;
    expect(found.param).toBe("messages.0.role");
    expect(found.message).toContain("top-level `system` field");
  });

  test("later: accepted, with text, blocks, or only an effort", () => {
    expect(fault(later)).toBeUndefined();
    expect(
      fault(with_({ messages: [...VALID.messages, { role: "system", output_config: { effort: "low" } }] })),
    ).toBeUndefined();
  });

  test("reject: refused wherever it stands", () => {
    const strict = createMessagesFormat({ systemTurns: "reject" }).client;
    expect(fault(later, strict)!.param).toBe("messages.1.role");
    expect(fault(first, strict)!.param).toBe("messages.0.role");
    expect(fault(VALID, strict)).toBeUndefined();
  });
});

describe("optional fields", () => {
  const FIELDS: Record<string, { good: Json; bad: [Json, string][] }> = {
    system: { good: [{ type: "text", text: "x" }], bad: [[true, "system"]] },
    stream: { good: true, bad: [["yes", "stream"]] },
    temperature: {
      good: 2,
      bad: [
        [2.1, "temperature"],
        [-0.1, "temperature"],
        ["1", "temperature"],
      ],
    },
    top_p: {
      good: 1,
      bad: [
        [1.5, "top_p"],
        ["x", "top_p"],
      ],
    },
    top_k: {
      good: 0,
      bad: [
        [1.5, "top_k"],
        [-1, "top_k"],
      ],
    },
    stop_sequences: {
      good: ["a"],
      bad: [
        ["a", "stop_sequences"],
        [[1], "stop_sequences.0"],
      ],
    },
    tools: {
      good: [{ name: "f" }],
      bad: [
        [{}, "tools"],
        [["x"], "tools.0"],
      ],
    },
    tool_choice: {
      good: { type: "auto" },
      bad: [
        ["auto", "tool_choice"],
        [{}, "tool_choice.type"],
      ],
    },
    thinking: { good: { type: "adaptive" }, bad: [[{ type: 1 }, "thinking.type"]] },
    output_config: { good: { effort: "low" }, bad: [["low", "output_config"]] },
    metadata: { good: { user_id: "u" }, bad: [["u", "metadata"]] },
    service_tier: { good: "auto", bad: [[1, "service_tier"]] },
    cache_control: { good: { type: "ephemeral" }, bad: [["x", "cache_control"]] },
  };
  for (const [field, { good, bad }] of Object.entries(FIELDS))
    test(field, () => {
      expect(fault(with_({ [field]: good }))).toBeUndefined();
      expect(fault(with_({ [field]: null }))).toBeUndefined();
      for (const [value, param] of bad) expect(fault(with_({ [field]: value }))?.param).toBe(param);
    });

  test("fields, block types and tool types nobody knows pass at every level", () => {
    const open = with_({
      new_field: { a: 1 },
      system: [{ type: "hologram", x: 1 }],
      messages: [{ role: "user", content: [{ type: "smell", odour: "rose" }], extra: true }],
      tools: [{ type: "web_search_29991231", name: "web_search" }, { type: "mcp_toolset" }],
      thinking: { type: "dreaming" },
      tool_choice: { type: "perhaps" },
    });
    expect(fault(open)).toBeUndefined();
  });
});

test("the compiled check and the walk that words its faults agree", () => {
  const value = fc.oneof(
    fc.constant(null),
    fc.boolean(),
    fc.integer({ min: -2, max: 3 }),
    fc.double({ min: -1, max: 3, noNaN: true }),
    fc.constantFrom("", "auto", "user", "system", "assistant"),
    fc.constant({ type: "text", text: "x" }),
    fc.constant([{ type: "text" }]),
    fc.constant([{ role: "user", content: "x" }]),
    fc.constant([{ role: "system" }, {}]),
    fc.constant(["x", null]),
  );
  const keys = ["model", "messages", "max_tokens", "system", "stream", "temperature", "top_p", "top_k"];
  const others = [
    "stop_sequences",
    "tools",
    "tool_choice",
    "thinking",
    "metadata",
    "cache_control",
    "output_config",
  ];
  withinBudget(
    fc.property(fc.dictionary(fc.constantFrom(...keys, ...others), value), fc.boolean(), (parts, sound) => {
      const found = fault((sound ? { ...VALID, ...parts } : parts) as Json);
      // The sentence for a fault the walk does not find would be the general one.
      expect(found?.message ?? "").not.toContain("does not have the shape");
    }),
  );
});

test("the schema is plain JSON and open", () => {
  expect(client.request.schema).toEqual(JSON.parse(JSON.stringify(client.request.schema)));
  expect(client.request.schema.additionalProperties).toBe(true);
  expect(client.routes.path).toBe("/v1/messages");
});
