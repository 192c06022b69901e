/** The judges of the translated lanes see what they are there to see: each case is one thing done wrong. */
import { describe, expect, test } from "bun:test";
import { haveDocument, NO_DOCUMENT } from "../formats/chat-completions/openapi.ts";
import { lostPieces } from "./lost.ts";
import { readAnswer, readStream } from "./reading.ts";
import { refusalReason } from "./refusals.ts";
import { requestFaults } from "./request-rules.ts";
import { changedSettings } from "./settings.ts";

const chatRequest = {
  messages: [
    { role: "system", content: "Be brief." },
    {
      role: "user",
      content: [
        { type: "text", text: "Look." },
        { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0K" } },
      ],
    },
    {
      role: "assistant",
      content: "One moment.",
      tool_calls: [{ id: "call_1", type: "function", function: { name: "see", arguments: '{"x": 1}' } }],
    },
    { role: "tool", tool_call_id: "call_1", content: "A cat." },
  ],
  tools: [{ type: "function", function: { name: "see", description: "Sees.", parameters: {} } }],
};

/** The same, as it has to reach a Messages upstream. */
function messagesRequest() {
  return {
    model: "m",
    max_tokens: 100,
    system: [{ type: "text", text: "Be brief." }],
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "Look." },
          { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0K" } },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "text", text: "One moment." },
          { type: "tool_use", id: "call_1", name: "see", input: { x: 1 } },
        ],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "call_1", content: "A cat." }] },
    ] as { role: string; content: Record<string, unknown>[] }[],
    tools: [{ name: "see", description: "Sees.", input_schema: { type: "object" } }],
  };
}

type Request = ReturnType<typeof messagesRequest>;

const nothing: string[] = [];
const lostBy = (change: (request: Request) => void, losses = nothing) => {
  const request = messagesRequest();
  change(request);
  return lostPieces("chat", chatRequest, request, losses);
};

const CLAUDE = "anthropic/claude-sonnet-4-5";
const GPT = "openai/gpt-4.1";

describe("what is lost is seen", () => {
  const cases: Record<string, [(request: Request) => void, string]> = {
    "system text": [(request) => request.system.pop(), 'text lost "Be brief.": messages[0].content'],
    "an image": [(request) => request.messages[0]!.content.pop(), "image lost 6 bytes"],
    "arguments of a call": [
      (request) => (request.messages[1]!.content[1]!["input"] = {}),
      'call lost see {"x":1}: messages[2].tool_calls[0]',
    ],
    "text of a result": [(request) => request.messages.pop(), "result lost of call 0: messages[3].content"],
    "a tool": [(request) => request.tools.pop(), "tool lost see: tools[0]"],
  };
  for (const [name, [change, fault]] of Object.entries(cases))
    test(name, () => expect(lostBy(change).join("\n")).toContain(fault));

  test("nothing is", () => expect(lostBy(() => {})).toEqual([]));
  test("unless a loss says so", () =>
    expect(lostBy((request) => request.tools.pop(), ["tools[0]"])).toEqual([]));
  test("a loss of a whole message excuses nothing", () =>
    expect(lostBy((request) => request.messages.pop(), ["messages[3]"])).toHaveLength(1));
});

describe("what a Messages upstream refuses is seen", () => {
  const cases: Record<string, [(request: Request) => void, string]> = {
    "a call without a result": [(request) => request.messages.pop(), "calls without results at the end"],
    "two turns of one role": [
      (request) => request.messages.push({ role: "user", content: [{ type: "text", text: "x" }] }),
      "two turns of one role",
    ],
    "a result that is not first": [
      (request) => request.messages[2]!.content.unshift({ type: "text", text: "x" }),
      "tool results do not come first",
    ],
    "a result for another call": [
      (request) => (request.messages[2]!.content[0]!["tool_use_id"] = "call_2"),
      "which is no call before it",
    ],
    "blank text": [(request) => (request.messages[1]!.content[0]!["text"] = " "), "non-whitespace"],
    "a member it does not know": [(request) => Object.assign(request, { seed: 1 }), "seed is unknown"],
    "a schema without a type": [
      (request) => (request.tools[0]!.input_schema = {} as never),
      "Input should be 'object'",
    ],
    "a name with a dot": [(request) => (request.tools[0]!.name = "a.b"), "tool name a.b"],
  };
  for (const [name, [change, fault]] of Object.entries(cases))
    test(name, () => {
      const request = messagesRequest();
      change(request);
      expect(requestFaults.messages(request, CLAUDE).join("\n")).toContain(fault);
    });
  test("nothing is", () => expect(requestFaults.messages(messagesRequest(), CLAUDE)).toEqual([]));
});

describe.skipIf(!haveDocument)("an image in a tool result", () => {
  const [, user, assistant] = chatRequest.messages;
  const image = { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } };
  const messages = [user, assistant, { role: "tool", tool_call_id: "call_1", content: [image] }];
  test("is a fault where the provider does not accept it", () =>
    expect(requestFaults.chat({ model: "m", messages }, GPT).join("\n")).toContain("image_url"));
  test("is none where the provider accepts it", () =>
    expect(requestFaults.chat({ model: "m", messages }, "llamacpp/some-model")).toEqual([]));
});

describe.skipIf(!haveDocument)("what a chat upstream refuses is seen", () => {
  const [system, user, assistant, result] = chatRequest.messages;
  const cases: Record<string, [unknown[], string]> = {
    "a result without a call": [[user, result], "which is no open call"],
    "a call without a result": [[user, assistant, user], "the call call_1 is not answered"],
    "a role it does not know": [[{ role: "model", content: "x" }], "OpenAI's document"],
  };
  for (const [name, [messages, fault]] of Object.entries(cases))
    test(name, () => expect(requestFaults.chat({ model: "m", messages }, GPT).join("\n")).toContain(fault));
  test("nothing is", () =>
    expect(requestFaults.chat({ model: "m", messages: [system, user, assistant, result] }, GPT)).toEqual([]));
});
if (!haveDocument) console.log(NO_DOCUMENT);

describe("answers are read as they were written", () => {
  const usage = { input: 6, cacheRead: 4, cacheWrite: 0, output: 2 };

  test("chat chunks", () => {
    const chunks = [
      { choices: [{ index: 0, delta: { reasoning: "R", content: "a" } }] },
      {
        choices: [
          {
            index: 0,
            delta: { tool_calls: [{ index: 0, id: "i", function: { name: "f", arguments: "{" } }] },
          },
        ],
      },
      {
        choices: [
          {
            index: 0,
            delta: { tool_calls: [{ index: 0, function: { arguments: "}" } }] },
            finish_reason: "stop",
          },
        ],
      },
      {
        choices: [],
        usage: { prompt_tokens: 10, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 4 } },
      },
    ];
    const calls = [{ id: "i", name: "f", input: "{}" }];
    expect(readStream.chat(chunks)).toMatchObject({
      text: "a",
      reasoning: "R",
      calls,
      finish: "stop",
      usage,
    });
  });

  test("a message", () => {
    const message = {
      content: [
        { type: "thinking", thinking: "R", signature: "S" },
        { type: "text", text: "a" },
      ],
      stop_reason: "end_turn",
      usage: { input_tokens: 6, cache_read_input_tokens: 4, output_tokens: 2 },
    };
    const reading = readAnswer.messages(message);
    expect(reading).toMatchObject({ text: "a", reasoning: "R", signed: "S", finish: "end_turn", usage });
  });
});

test("a refusal needs a value that cannot be carried", () => {
  expect(refusalReason("chat", "n", { n: 2 })).toBe("several choices");
  expect(refusalReason("chat", "n", { n: 1 })).toBeUndefined();
  expect(refusalReason("chat", "messages[0].content[0]", chatRequest)).toBeUndefined();
});

test("a wish that changes on the way is seen, unless a loss tells of it", () => {
  const sent = { max_tokens: 5, temperature: 0.5, stop: "END", tool_choice: "required" };
  const same = { max_tokens: 5, temperature: 0.5, stop_sequences: ["END"], tool_choice: { type: "any" } };
  expect(changedSettings("chat", sent, same, [])).toEqual([]);
  expect(changedSettings("chat", sent, { ...same, tool_choice: { type: "auto" } }, [])).toHaveLength(1);
  expect(changedSettings("chat", sent, { max_tokens: 5 }, ["temperature"])).toHaveLength(2);
});
