import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { GatewayError } from "../../../src/core/error.ts";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { client } from "./make.ts";
import { withinBudget } from "../../helpers/within-budget.ts";

const HELLO = { role: "user", content: "hi" };

function request(parts: JsonObject = {}): JsonObject {
  return { model: "m", messages: [HELLO], ...parts };
}

/** What is wrong with a body; nothing when it passes. */
function fault(body: Json): GatewayError | undefined {
  try {
    client.request.checkRequest(body);
    return undefined;
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown;
    throw thrown;
  }
}

const withMessage = (message: Json) => request({ messages: [HELLO, message] });

describe("what is refused, and where it says the fault is", () => {
  const cases: [what: string, body: Json, param: string | undefined][] = [
    ["no object", [], undefined],
    ["null", null, undefined],
    ["no model", { messages: [HELLO] }, "model"],
    ["an empty model", request({ model: "" }), "model"],
    ["a model that is no text", request({ model: 5 }), "model"],
    ["null for the model", request({ model: null }), "model"],
    ["no messages", { model: "m" }, "messages"],
    ["messages that are a text", request({ messages: "hi" }), "messages"],
    ["no message", request({ messages: [] }), "messages"],
    ["a message that is a text", withMessage("hi"), "messages[1]"],
    ["a message without a role", withMessage({ content: "hi" }), "messages[1].role"],
    ["an unknown role", withMessage({ role: "bot", content: "hi" }), "messages[1].role"],
    ["a user without content", withMessage({ role: "user" }), "messages[1].content"],
    ["null from a user", withMessage({ role: "user", content: null }), "messages[1].content"],
    ["a number as content", withMessage({ role: "system", content: 5 }), "messages[1].content"],
    ["a text among the parts", withMessage({ role: "user", content: ["hi"] }), "messages[1].content[0]"],
    [
      "a part without a type",
      withMessage({ role: "user", content: [{ text: "hi" }] }),
      "messages[1].content[0].type",
    ],
    [
      "a text part without text",
      withMessage({ role: "user", content: [{ type: "text" }] }),
      "messages[1].content[0].text",
    ],
    ["an assistant that says nothing", withMessage({ role: "assistant" }), "messages[1].content"],
    ["an assistant that says null", withMessage({ role: "assistant", content: null }), "messages[1].content"],
    ["calls that are no list", withMessage({ role: "assistant", tool_calls: {} }), "messages[1].tool_calls"],
    [
      "a call without a name",
      withMessage({ role: "assistant", tool_calls: [{ id: "c", type: "function", function: {} }] }),
      "messages[1].tool_calls[0].function.name",
    ],
    [
      "a tool result without content",
      withMessage({ role: "tool", tool_call_id: "c" }),
      "messages[1].content",
    ],
    ["a function result without a name", withMessage({ role: "function", content: "1" }), "messages[1].name"],
    ["temperature above 2", request({ temperature: 2.01 }), "temperature"],
    ["temperature below 0", request({ temperature: -0.1 }), "temperature"],
    ["temperature as text", request({ temperature: "1" }), "temperature"],
    ["top_p above 1", request({ top_p: 1.1 }), "top_p"],
    ["max_tokens 0", request({ max_tokens: 0 }), "max_tokens"],
    ["max_tokens below 0", request({ max_tokens: -1 }), "max_tokens"],
    ["half a token", request({ max_tokens: 1.5 }), "max_tokens"],
    ["max_completion_tokens 0", request({ max_completion_tokens: 0 }), "max_completion_tokens"],
    ["no choice at all", request({ n: 0 }), "n"],
    ["too many choices", request({ n: 129 }), "n"],
    ["a penalty above 2", request({ frequency_penalty: 2.5 }), "frequency_penalty"],
    ["a penalty below -2", request({ presence_penalty: -3 }), "presence_penalty"],
    ["stream as text", request({ stream: "true" }), "stream"],
    ["stop as a number", request({ stop: 1 }), "stop"],
    ["a number among the stops", request({ stop: ["a", 1] }), "stop[1]"],
    ["tools that are an object", request({ tools: {} }), "tools"],
    ["a tool without a type", request({ tools: [{ name: "f" }] }), "tools[0].function"],
    ["a tool whose type is a number", request({ tools: [{ type: 1 }] }), "tools[0].type"],
    [
      "a function without a name",
      request({ tools: [{ type: "function", function: {} }] }),
      "tools[0].function.name",
    ],
    ["too many logprobs", request({ top_logprobs: 21 }), "top_logprobs"],
  ];
  test.each(cases)("%s", (_what, body, param) => {
    const error = fault(body)!;
    expect(error.kind).toBe("invalid-request");
    expect(error.status).toBe(400);
    expect(error.param).toBe(param);
    expect(error.message).toMatch(/^[A-Z].*\.$/);
    if (param) expect(error.message).toContain(`'${param}'`);
  });

  test("the sentence says what is wanted, and the code what kind of fault it is", () => {
    expect(fault(request({ temperature: 3 }))!.message).toBe(
      "Invalid 'temperature': expected a number from 0 to 2.",
    );
    expect(fault({ messages: [HELLO] })!.message).toBe("Missing required parameter: 'model'.");
    expect(fault({ messages: [HELLO] })!.code).toBe("missing_required_parameter");
    expect(fault(withMessage({ role: "bot", content: "" }))!.message).toContain(
      "one of 'developer', 'system', 'user', 'assistant', 'tool', 'function'",
    );
    expect(fault(request({ stop: 1 }))!.code).toBe("invalid_value");
  });
});

describe("what is accepted", () => {
  test("an explicit null for every optional field", () => {
    const optional = Object.keys(client.request.schema.properties as JsonObject).filter(
      (name) => !["model", "messages"].includes(name),
    );
    expect(optional.length).toBeGreaterThan(25);
    expect(fault(request(Object.fromEntries(optional.map((name) => [name, null]))))).toBeUndefined();
  });

  const cases: [what: string, body: JsonObject][] = [
    [
      "unknown fields at every level",
      {
        ...request({ x: 1, tools: [{ type: "function", y: 1, function: { name: "f", z: 1 } }] }),
        messages: [{ ...HELLO, w: 1 }],
      },
    ],
    [
      "unknown parts and tools",
      {
        ...withMessage({ role: "user", content: [{ type: "hologram", data: 1 }] }),
        tools: [{ type: "namespace", tools: [] }],
      },
    ],
    [
      "every role",
      request({
        messages: ["developer", "system", "user", "assistant", "tool"].map((role) => ({
          role,
          content: "x",
        })),
      }),
    ],
    [
      "an assistant with calls and null",
      withMessage({
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }],
      }),
    ],
    [
      "an assistant with a legacy call",
      withMessage({ role: "assistant", function_call: { name: "f", arguments: "{}" } }),
    ],
    ["an assistant that refused", withMessage({ role: "assistant", content: null, refusal: "no" })],
    [
      "a custom call",
      withMessage({
        role: "assistant",
        tool_calls: [{ id: "c", type: "custom", custom: { name: "f", input: "" } }],
      }),
    ],
    ["a function result of null", withMessage({ role: "function", name: "f", content: null })],
    [
      "bounds",
      request({
        temperature: 2,
        top_p: 0,
        n: 128,
        frequency_penalty: -2,
        presence_penalty: 2,
        max_tokens: 1,
      }),
    ],
    ["a whole number written with a point", request({ max_tokens: 5.0 })],
    ["stop as one text", request({ stop: "END" })],
    ["Mistral's tool without a type", request({ tools: [{ function: { name: "f" } }], tool_choice: "any" })],
    ["empty tools", request({ tools: [] })],
  ];
  test.each(cases)("%s", (_what, body) => expect(fault(body)).toBeUndefined());
});

test("the sentence is found for every fault the compiled check sees, and never for a body it lets pass", () => {
  const anyValue = fc.oneof(
    fc.constantFrom<Json>(null, "", "x", 0, 1, -3, 1.5, 200, true, [], [{}], {}, ["x"], [1]),
    fc.constantFrom<Json>(
      "user",
      "assistant",
      [{ type: "text", text: "x" }],
      [{ type: "function", function: { name: "f" } }],
    ),
  );
  const message = fc.dictionary(
    fc.constantFrom("role", "content", "tool_calls", "name", "refusal", "tool_call_id"),
    anyValue,
  );
  const fields = Object.keys(client.request.schema.properties as JsonObject);
  const body = fc.record({
    base: fc.dictionary(fc.constantFrom(...fields), anyValue, { maxKeys: 4 }),
    messages: fc.array(message, { maxLength: 3 }),
    whole: fc.boolean(),
  });
  withinBudget(
    fc.property(body, ({ base, messages, whole }) => {
      const candidate = whole
        ? { model: "m", ...base, messages: [HELLO, ...messages] }
        : { ...base, messages };
      const error = fault(candidate as Json);
      if (error) expect(error.param).toBeString();
    }),
  );
});
