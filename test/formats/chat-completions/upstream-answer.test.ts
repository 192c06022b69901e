import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../src/core/json.ts";
import { checkEvents } from "../../helpers/describe-events.ts";
import { failure, requestContext, makeRequest, readAnswer, sketch, upstream, readBody } from "./make.ts";

const call = (name: string | undefined, args: unknown, id = "c"): JsonObject => ({
  id,
  type: "function",
  function: { ...(name !== undefined && { name }), arguments: args as string },
});

/** The lines of an answer that holds its promises. */
function lines(message: JsonObject, finish = "stop"): string[] {
  const events = readAnswer(message, finish);
  checkEvents(events);
  return sketch(events).filter((line) => line !== "usage");
}

/** Arguments of the one call of an answer; nothing when it was left out. */
function argumentsOf(args: unknown, finish = "tool_calls"): string | undefined {
  return lines({ tool_calls: [call("f", args)] }, finish)
    .find((line) => line.startsWith("delta"))
    ?.slice("delta 0 ".length);
}

test("reasoning, text, refusal and calls in that order", () => {
  const message = {
    reasoning_content: "r",
    content: "t",
    tool_calls: [call("f", "{}", "a"), call("g", '{"x":1}', "b")],
  };
  expect(lines(message, "tool_calls")).toEqual([
    "start 0 reasoning",
    "delta 0 r",
    "end 0",
    "start 1 text",
    "delta 1 t",
    "end 1",
    "start 2 tool-call f",
    "delta 2 {}",
    "end 2",
    "start 3 tool-call g",
    'delta 3 {"x":1}',
    "end 3",
    "message-end tool-calls",
  ]);
});

test("an answer carries its id, its model and its usage", () => {
  const events = readAnswer({ content: "x" }, "stop", {
    body: {
      usage: { prompt_tokens: 100, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 40 } },
    },
  });
  expect(events[0]).toEqual({ type: "message-start", id: "chatcmpl-up", model: "up" });
  expect(events.at(-1)).toMatchObject({ usage: { input: 60, cacheRead: 40, output: 5 } });
});

test("the sources that Perplexity lists beside the choices are citations of the text", () => {
  const search_results = [
    { title: "Pong", url: "https://example.com/pong", date: null },
    { snippet: "none" },
  ];
  const events = readAnswer({ content: "pong" }, "stop", { body: { search_results } });
  checkEvents(events);
  expect(events.filter(({ type }) => type === "citation")).toEqual([
    { type: "citation", index: 0, citation: { url: "https://example.com/pong", title: "Pong" } },
  ]);
});

test("the words of Zhipu for an ending are known", () => {
  expect(readAnswer({ content: "x" }, "sensitive").at(-1)).toMatchObject({
    reason: { kind: "content-filter" },
  });
  expect(readAnswer({ content: "x" }, "model_context_window_exceeded").at(-1)).toMatchObject({
    reason: { kind: "length" },
  });
  expect(() => readAnswer({ content: "x" }, "network_error")).toThrow("network_error");
});

describe("arguments", () => {
  test("are passed on as they are when they are an object", () => {
    expect(argumentsOf('{ "a":1.0 }')).toBe('{ "a":1.0 }');
    expect(argumentsOf({ a: 1 })).toBe('{"a":1}');
    for (const nothing of ["", " ", null, undefined]) expect((argumentsOf(nothing) ?? "").trim()).toBe("");
  });

  test("that are no object are wrapped, broken ones repaired once, hopeless ones kept under a name", () => {
    expect(argumentsOf("[1]")).toBe('{"value":[1]}');
    expect(argumentsOf('"x"')).toBe('{"value":"x"}');
    expect(argumentsOf('{"a":{"b":["c')).toBe('{"a":{"b":["c"]}}');
    expect(argumentsOf('{"a":}')).toBe('{"__invalid_json":"{\\"a\\":}"}');
  });

  test("a call cut off by the limit is left out, whole ones stay", () => {
    expect(argumentsOf('{"command":"rm -rf /tm', "length")).toBeUndefined();
    const message = { tool_calls: [call("f", '{"a":1}', "a"), call("g", '{"b"', "b")] };
    expect(lines(message, "length")).toEqual([
      "start 0 tool-call f",
      'delta 0 {"a":1}',
      "end 0",
      "message-end length",
    ]);
  });
});

test("a call without a name is left out, and is no reason to report one", () => {
  for (const name of [undefined, "", " "])
    expect(lines({ content: "t", tool_calls: [call(name, "{}")] }, "tool_calls").at(-1)).toBe(
      "message-end stop",
    );
});

test("calls of one id are two calls", () => {
  expect(
    lines({ tool_calls: [call("f", "{}", "same"), call("f", "{}", "same")] }, "tool_calls").filter((line) =>
      line.startsWith("start"),
    ),
  ).toHaveLength(2);
});

test("a call that is written a second time in the legacy form (llama-cpp-python) is one call", () => {
  const message = { tool_calls: [call("f", "{}")], function_call: { name: "f", arguments: "{}" } };
  expect(lines(message, "tool_calls").filter((line) => line.startsWith("start"))).toEqual([
    "start 0 tool-call f",
  ]);
});

test("calls and text in two choices, as Copilot answers, are one answer", () => {
  const choices = [
    { finish_reason: "tool_calls", message: { role: "assistant", content: "t" } },
    { finish_reason: "tool_calls", message: { role: "assistant", tool_calls: [call("f", "{}")] } },
  ];
  const events = readBody({ id: "x", model: "m", choices }, requestContext());
  checkEvents(events);
  expect(sketch(events)).toEqual([
    "start 0 text",
    "delta 0 t",
    "end 0",
    "start 1 tool-call f",
    "delta 1 {}",
    "end 1",
    "message-end tool-calls",
  ]);
});

test("a refusal, null and empty content", () => {
  expect(lines({ content: null, refusal: "no" })).toEqual([
    "start 0 refusal",
    "delta 0 no",
    "end 0",
    "message-end content-filter",
  ]);
  expect(lines({ content: "", tool_calls: [] })).toEqual(["message-end stop"]);
  expect(lines({ content: null }, "content_filter")).toEqual(["message-end content-filter"]);
});

test("an error with status 200, and what is no answer, throw", async () => {
  const bodies: [body: JsonObject, message: string][] = [
    [{ error: { message: "filtered", code: "content_filter" } }, "filtered"],
    [{ error: "boom" }, "boom"],
    [{ choices: [] }, "no choices"],
    [{ hello: "world" }, "no choices"],
    [{ message: "boom", code: 500 }, "boom"],
  ];
  for (const [body, message] of bodies) {
    const error = await failure(() => readBody(body, requestContext()));
    expect(error.message).toContain(message);
    expect(error.kind).toBe("upstream");
  }
});

test("a stop sequence the upstream was not told ends the answer", () => {
  const request = makeRequest({ stop: ["END"] });
  const events = readAnswer({ content: "ab END cd" }, "stop", {
    model: "gpt-5",
    request,
    body: { usage: { prompt_tokens: 3, completion_tokens: 4 } },
  });
  checkEvents(events);
  expect(sketch(events).filter((line) => line !== "usage")).toEqual([
    "start 0 text",
    "delta 0 ab ",
    "end 0",
    "message-end stop-sequence",
  ]);
});

test("the message counts, not an empty delta beside it (Perplexity)", () => {
  const choice = {
    index: 0,
    delta: { role: "assistant", content: "" },
    message: { role: "assistant", content: "pong" },
    finish_reason: "stop",
  };
  const events = readBody({ choices: [choice] }, requestContext());
  expect(sketch(events)).toContain("delta 0 pong");
});
