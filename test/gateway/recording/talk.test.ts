/** Captured bodies of every format of clients are read into one shape. */
import { expect, test } from "bun:test";
import { type Bodies, spokenIn } from "../../../src/gateway/recording/talk.ts";
import { builtInFormats } from "../../../src/run/formats.ts";

const formats = new Map(builtInFormats({ systemTurns: "accept" }).map((format) => [format.id, format]));
const read = (format: string, request: unknown, answer: unknown) => {
  const text = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
  const bodies: Bodies = { id: "req_1", format, request: text(request), answer: text(answer) };
  return spokenIn(bodies, formats);
};

const sse = (...events: readonly object[]) =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("") + "data: [DONE]\n\n";

const ASKED = { role: "user", parts: [{ kind: "text", text: "Hi" }] };

test("S10: a stream of chat-completions is one text, and a call of a tool has its arguments", () => {
  const chunk = (delta: object, finish: string | null = null) => ({
    ...{ id: "c", object: "chat.completion.chunk", created: 1, model: "m" },
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const call = { index: 0, id: "call_1", type: "function", function: { name: "look", arguments: '{"a":' } };
  const answer = sse(
    chunk({ role: "assistant", content: "Hel" }),
    chunk({ content: "lo" }),
    chunk({ tool_calls: [call] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: "1}" } }] }),
    chunk({}, "tool_calls"),
  );
  const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }];
  const request = { model: "m", stream: true, tools, messages: [{ role: "user", content: "Hi" }] };
  expect(read("chat-completions", request, answer)).toEqual({
    turns: [ASKED],
    answer: [
      { kind: "text", text: "Hello" },
      { kind: "call", id: "call_1", name: "look", text: '{"a":1}' },
    ] as never,
    tools: ["look"],
  } as never);
});

test("S10: results of tools, images as their size, and failures of the format messages", () => {
  const data = "sha256:0123456789abcdef (4000 characters)";
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data } };
  const request = {
    ...{ model: "m", max_tokens: 9, system: "Be kind." },
    messages: [
      { role: "user", content: [{ type: "text", text: "Hi" }, image] },
      { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "look", input: { a: 1 } }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "no", is_error: true }] },
    ],
  };
  const said = {
    ...{ id: "m1", type: "message", role: "assistant", model: "m", stop_reason: "end_turn" },
    ...{ stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } },
    content: [{ type: "text", text: "Yes" }],
  };
  const { turns, answer } = read("messages", request, said);
  expect(turns.map(({ role, parts }) => [role, parts.map(({ kind }) => kind)])).toEqual([
    ["system", ["text"]],
    ["user", ["text", "image"]],
    ["assistant", ["call"]],
    ["user", ["result"]],
  ]);
  expect(turns[1]!.parts[1]).toEqual({ kind: "image", media: "image/png", bytes: 3000 });
  expect(turns[3]!.parts[0]).toEqual({ kind: "result", id: "t1", text: "no", failed: true });
  expect(answer).toEqual([{ kind: "text", text: "Yes" }]);
});

test("S10: responses, gemini and ollama", () => {
  const output = [
    {
      ...{ type: "message", id: "msg_1", role: "assistant", status: "completed" },
      content: [{ type: "output_text", text: "Yes", annotations: [] }],
    },
  ];
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  const response = { id: "resp_1", object: "response", model: "m", status: "completed", output, usage };
  expect(read("responses", { model: "m", input: "Hi" }, response)).toEqual({
    turns: [ASKED],
    answer: [{ kind: "text", text: "Yes" }],
    tools: [],
  } as never);
  const candidates = [
    { content: { role: "model", parts: [{ text: "Yes" }] }, finishReason: "STOP", index: 0 },
  ];
  const contents = [{ role: "user", parts: [{ text: "Hi" }] }];
  const gemini = read("gemini", { model: "m", stream: false, contents }, { candidates });
  expect([gemini.turns, gemini.answer]).toEqual([[ASKED], [{ kind: "text", text: "Yes" }]] as never);
  const lines = ["Ye", "s"]
    .map((content) => ({ model: "m", message: { role: "assistant", content }, done: false }))
    .concat([{ model: "m", message: { role: "assistant", content: "" }, done: true }]);
  const body = { model: "m", messages: [{ role: "user", content: "Hi" }] };
  const ollama = read("ollama", body, lines.map((line) => JSON.stringify(line)).join("\n"));
  expect([ollama.turns, ollama.answer]).toEqual([[ASKED], [{ kind: "text", text: "Yes" }]] as never);
});

test("S10: what is cut shows its beginning and is named", () => {
  const chunk = { id: "c", model: "m", choices: [{ index: 0, delta: { content: "Hel" } }] };
  const cut = read("chat-completions", '{"model":"m","mess', `data: ${JSON.stringify(chunk)}\n\n`);
  expect(cut).toMatchObject({ answer: [{ kind: "text", text: "Hel" }], unread: ["request", "answer"] });
  expect(read("unheard-of", "{}", "{}")).toMatchObject({ turns: [], unread: ["request", "answer"] });
});
