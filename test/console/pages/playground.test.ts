/** The playground: bodies in each format, text of answers, and the same request for a shell. */
import { expect, test } from "bun:test";
import { AnswerReader } from "../../../src/console/pages/playground/answer.ts";
import {
  bodyOf,
  curlOf,
  formatNamed,
  type FormatName,
  type FormContent,
} from "../../../src/console/data/request.ts";
import { exceptionOf, readBody } from "../../../src/console/pages/playground/request.ts";

const TRIAL: FormContent = {
  model: "smart",
  format: "chat-completions",
  system: "",
  prompt: "What is a weir?",
  limit: 400,
  stream: true,
};

test("a format that the console does not write, or none, means chat-completions", () => {
  const names = ["messages", "responses", "ollama", "toString", undefined];
  expect(names.map((name) => formatNamed(name))).toEqual([
    ...(["messages", "responses"] as const),
    ...Array<FormatName>(3).fill("chat-completions"),
  ]);
});

test("each format gets its own members for limit and system prompt", () => {
  expect(bodyOf({ ...TRIAL, system: "Be brief." })).toEqual({
    model: "smart",
    max_completion_tokens: 400,
    stream: true,
    stream_options: { include_usage: true },
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "What is a weir?" },
    ],
  });
  expect(bodyOf({ ...TRIAL, format: "messages", stream: false })).toEqual({
    model: "smart",
    max_tokens: 400,
    stream: false,
    messages: [{ role: "user", content: "What is a weir?" }],
  });
  expect(bodyOf({ ...TRIAL, format: "responses", system: "Be brief." })).toEqual({
    model: "smart",
    max_output_tokens: 400,
    stream: true,
    store: false,
    instructions: "Be brief.",
    input: "What is a weir?",
  });
});

test("an edited body is an object or a sentence about what is wrong", () => {
  expect(readBody('{"model":"a"}')).toEqual({ model: "a" });
  expect(readBody("[1]")).toBe("The body is not a JSON object.");
  expect(readBody("{")).toStartWith("The body is not JSON: ");
});

test("the command for a shell quotes the body and names the key by its variable", () => {
  const curl = curlOf("http://127.0.0.1:9347/v1/messages", { prompt: "it's" }, true);
  expect(curl).toContain("http://127.0.0.1:9347/v1/messages");
  expect(curl).toContain('-H "x-api-key: $WEIR_API_KEY"');
  expect(curl).toContain(`it'\\''s`);
  expect(curlOf("http://h/v1/chat/completions", {}, false)).not.toContain("authorization");
});

test("the exception of the SDK follows the status", () => {
  expect(exceptionOf("chat-completions", 429)).toBe("openai.RateLimitError");
  expect(exceptionOf("messages", 529)).toBe("anthropic.InternalServerError");
  expect(exceptionOf("responses", 529)).toBe("openai.InternalServerError");
  expect(exceptionOf("chat-completions", 418)).toBe("openai.APIStatusError");
  expect(exceptionOf("chat-completions", 200)).toBe("openai.APIError");
});

const STREAMS: Record<FormatName, string> = {
  "chat-completions": [
    'data: {"choices":[{"delta":{"role":"assistant","content":""}}]}',
    'data: {"choices":[{"delta":{"reasoning_content":"hm"}}]}',
    'data: {"choices":[{"delta":{"content":"A we"}}]}',
    'data: {"choices":[{"delta":{"content":"ir"}}]}',
    'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"find","arguments":"{\\"a\\""}}]}}]}',
    'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}}]}',
    'data: {"choices":[],"usage":{}}',
    "data: [DONE]",
  ].join("\n\n"),
  messages: [
    'event: message_start\ndata: {"type":"message_start","message":{}}',
    'data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}',
    'data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}',
    'data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"A weir"}}',
    'data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t","name":"find","input":{}}}',
    'data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\\"a\\":1}"}}',
    'data: {"type":"message_stop"}',
  ].join("\n\n"),
  responses: [
    'data: {"type":"response.reasoning_summary_text.delta","delta":"hm"}',
    'data: {"type":"response.output_text.delta","delta":"A weir"}',
    'data: {"type":"response.output_item.added","item":{"type":"function_call","id":"f","name":"find"}}',
    'data: {"type":"response.function_call_arguments.delta","item_id":"f","delta":"{\\"a\\":1}"}',
    'data: {"type":"response.completed","response":{}}',
  ].join("\n\n"),
};

for (const [format, stream] of Object.entries(STREAMS) as [FormatName, string][])
  test(`text, reasoning and calls of tools are read from a stream of ${format}, cut anywhere`, () => {
    for (const size of [1, 7, stream.length]) {
      const reader = new AnswerReader(format);
      const whole = `${stream}\n\n`;
      for (let at = 0; at < whole.length; at += size) reader.push(whole.slice(at, at + size));
      expect(reader.answer).toEqual({
        text: "A weir",
        reasoning: "hm",
        tools: ['find({"a":1})'],
        isWhole: true,
      });
    }
  });

test("frames that end with carriage returns are read, also when a cut separates both characters", () => {
  const reader = new AnswerReader("chat-completions");
  const stream = 'data: {"choices":[{"delta":{"content":"hi"}}]}\r\n\r\ndata: [DONE]\r\n\r\n';
  for (const character of stream) reader.push(character);
  expect(reader.answer.text).toBe("hi");
  expect(reader.answer.isWhole).toBe(true);
});

test("an error within a stream is shown with its message", () => {
  const reader = new AnswerReader("messages");
  reader.push(
    'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"busy"}}\n\n',
  );
  expect(reader.answer).toMatchObject({ error: "busy", isWhole: false });
  const failed = new AnswerReader("responses");
  failed.push('data: {"type":"response.failed","response":{"error":{"message":"broken"}}}\n\n');
  expect(failed.answer.error).toBe("broken");
});

test("a body without a stream is read in each format", () => {
  const read = (format: FormatName, body: unknown) => {
    const reader = new AnswerReader(format);
    reader.body(JSON.stringify(body));
    return reader.answer;
  };
  expect(read("chat-completions", { choices: [{ message: { content: "hi" } }] }).text).toBe("hi");
  expect(read("messages", { content: [{ type: "text", text: "hi" }] }).text).toBe("hi");
  expect(
    read("responses", { output: [{ type: "message", content: [{ type: "output_text", text: "hi" }] }] }).text,
  ).toBe("hi");
  expect(read("messages", { type: "error", error: { message: "no" } }).error).toBe("no");
  const page = new AnswerReader("messages");
  page.body("<html>bad gateway</html>");
  expect(page.answer.error).toBe("<html>bad gateway</html>");
});
