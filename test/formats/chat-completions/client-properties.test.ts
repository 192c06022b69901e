/** What has to hold for anything a client sends, and for words that mean something to the language. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { GatewayError } from "../../../src/core/error.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { chunk, client, DONE, requestContext, upstream } from "./make.ts";
import { anyText, anyFragment, anyDetail, anyTraits, readAll } from "./arbitraries.ts";
import { withinBudget } from "../../helpers/within-budget.ts";

const OWN = requestContext({ format: "chat-completions" });

describe("a request of a client", () => {
  const json = fc.jsonValue({ maxDepth: 3 });
  const seldom = fc.oneof({ weight: 9, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: json });
  const part = fc.oneof(
    fc.record({
      type: fc.constantFrom("text", "image_url", "file", "input_audio", "refusal", "x"),
      text: fc.constant("t"),
      image_url: json,
      file: json,
      input_audio: json,
      refusal: json,
    }),
    fc.constantFrom(
      { type: "text", text: "t", cache_control: null },
      { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
    ),
  );
  const content = fc.oneof(
    { weight: 4, arbitrary: anyText },
    { weight: 4, arbitrary: fc.array(part, { maxLength: 2 }) },
    { weight: 1, arbitrary: fc.constant(null) },
  );
  const message = fc.record(
    {
      role: fc.constantFrom("user", "system", "assistant", "tool", "function"),
      content,
      name: fc.constantFrom("f", "n"),
      tool_call_id: fc.constantFrom("a", "b", ""),
      tool_calls: fc.array(anyFragment, { maxLength: 2 }),
      function_call: fc.oneof(fc.constant({ name: "f", arguments: "{" }), fc.constant(null)),
      reasoning_details: fc.oneof(fc.array(fc.oneof(anyDetail, json), { maxLength: 2 }), json),
      thinking_blocks: seldom,
      extra_content: seldom,
      audio: seldom,
    },
    { requiredKeys: ["role", "content"] },
  );
  const body = fc.record(
    {
      messages: fc.array(message, { minLength: 1, maxLength: 5 }),
      tools: fc.array(
        fc.record({
          type: fc.constantFrom("function", "custom", "x"),
          function: fc.oneof(
            { weight: 9, arbitrary: fc.constant<unknown>({ name: "f" }) },
            { weight: 1, arbitrary: json },
          ),
          custom: json,
        }),
        { maxLength: 2 },
      ),
      tool_choice: seldom,
      functions: fc.constantFrom([{ name: "f" }], null),
      response_format: seldom,
      thinking: seldom,
      reasoning: seldom,
      prompt_cache_options: seldom,
      stream_options: seldom,
      n: seldom,
      modalities: seldom,
    },
    { requiredKeys: ["messages"] },
  );

  test("whatever passes the check is decoded and written, or refused with a sentence", () => {
    let written = 0;
    withinBudget(
      fc.property(body, anyTraits, (parts, traits) => {
        const whole = JSON.parse(JSON.stringify({ model: "m", ...parts })) as JsonObject;
        try {
          client.request.checkRequest(whole);
          const request = client.codec.decodeRequest(whole, OWN);
          const sent = upstream.codec.encodeRequest(
            request,
            requestContext({ traits, format: "chat-completions" }),
          );
          expect(JSON.parse(JSON.stringify(sent))).toEqual(sent);
          written++;
        } catch (error) {
          expect(error).toBeInstanceOf(GatewayError);
          expect(error).toMatchObject({ status: 400 });
        }
      }),
    );
    expect(written).toBeGreaterThan(0);
  });
});

describe("words every object knows", () => {
  const words = ["constructor", "toString", "__proto__", "hasOwnProperty", "valueOf"];

  test.each(words)("%s is a word like any other that nobody knows", (word) => {
    const body = {
      model: "m",
      messages: [
        {
          role: "user",
          content: [
            { type: word, text: "x" },
            { type: "text", text: "hi" },
          ],
        },
        {
          role: "assistant",
          content: "a",
          reasoning_details: [{ type: "reasoning.encrypted", data: "d", format: word }],
        },
        { role: "user", content: [{ type: "file", file: { filename: `a.${word}`, file_data: "AAAA" } }] },
      ],
      tools: [{ type: word }],
      tool_choice: word,
      thinking: { type: word },
      service_tier: word,
      ...(JSON.parse(`{"${word}":1}`) as JsonObject),
    };
    client.request.checkRequest(body);
    const request = client.codec.decodeRequest(body, OWN);
    expect(request.turns[0]!.blocks[0]).toEqual({
      type: "foreign",
      format: "chat-completions",
      value: { type: word, text: "x" },
      path: "messages[0].content[0]",
    });
    expect(request.turns[1]!.blocks[0]).toMatchObject({ origin: word });
    expect(request.toolChoice).toBeUndefined();
    const sent = upstream.codec.encodeRequest(
      { ...request, extra: { ...request.extra, messages: body } },
      requestContext({ format: word, traits: { files: true } }),
    );
    expect(sent).toMatchObject({ model: "some-model" });

    const { events } = readAll([{ data: JSON.stringify(chunk({ content: "a" }, word)) }, DONE]);
    expect(events.at(-1)).toMatchObject({ reason: { kind: "length", raw: word } });
    const error = upstream.codec.decodeError(
      400,
      new Headers(),
      JSON.stringify({ error: { message: "m", type: word, code: word, status: word } }),
    );
    expect(error).toMatchObject({ kind: "invalid-request", status: 400 });
  });
});
