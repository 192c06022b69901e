/** The judges of translated requests of responses clients: a right translation has no fault, and each planted one is found. */
import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../src/core/json.ts";
import type { Recording } from "../helpers/recordings.ts";
import { lostBetween } from "./lost.ts";
import { piecesOf } from "./pieces.ts";
import { piecesOfResponses, replayResponsesRequests } from "./responses-requests.ts";

const BODY: JsonObject = {
  model: "m",
  instructions: "Be short.",
  input: [
    { role: "user", content: [{ type: "input_text", text: "What is in a.txt?" }] },
    { type: "function_call", call_id: "call_1", name: "read", arguments: '{"path":"a.txt"}' },
    { type: "function_call_output", call_id: "call_1", output: "Nothing." },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "Nothing is in it." }] },
    { role: "user", content: "Thank you." },
  ],
  tools: [
    { type: "function", name: "read", description: "Reads.", parameters: { type: "object", properties: {} } },
  ],
  max_output_tokens: 100,
  stream: true,
};

const recording = (body: JsonObject): Recording => ({
  ...{
    id: "made",
    vendor: "openai",
    api: "responses",
    model: "m",
    stream: true,
    framing: "sse",
    fidelity: "made",
  },
  ...{ tags: [], source: { repo: "", path: "", index: 1, of: 1 } },
  request: { method: "POST", path: "/v1/responses", headers: {}, body },
  response: { status: 200, headers: {} },
});

test("a right request reaches both formats without a fault", async () => {
  for (const api of ["chat", "messages"] as const)
    expect((await replayResponsesRequests([recording(BODY)], api)).map(({ faults }) => faults)).toEqual([[]]);
});

test("a request that cannot be carried is refused, for a reason that is known", async () => {
  const background = recording({ ...BODY, background: true });
  const [replay] = await replayResponsesRequests([background], "chat");
  expect(replay).toMatchObject({ refused: "an answer in the background", faults: [] });
});

describe("what is lost is found", () => {
  const arrived = (edit: (messages: JsonObject[]) => JsonObject[]): JsonObject => ({
    messages: edit([
      { role: "system", content: "Be short." },
      { role: "user", content: "What is in a.txt?" },
      {
        role: "assistant",
        tool_calls: [
          { id: "call_1", type: "function", function: { name: "read", arguments: '{"path":"a.txt"}' } },
        ],
      },
      { role: "tool", tool_call_id: "call_1", content: "Nothing." },
      { role: "assistant", content: "Nothing is in it." },
      { role: "user", content: "Thank you." },
    ]),
    tools: [
      {
        type: "function",
        function: { name: "read", description: "Reads.", parameters: { type: "object", properties: {} } },
      },
    ],
  });
  const faultsOf = (reached: JsonObject) =>
    lostBetween(piecesOfResponses(BODY), piecesOf.chat(reached), BODY, []).join("\n");

  test("nothing", () => expect(faultsOf(arrived((messages) => messages))).toBe(""));

  const cases: [string, number, string][] = [
    ["instructions", 0, "text lost"],
    ["a text of the user", 1, "text lost"],
    ["a call", 2, "call lost"],
    ["a result", 3, "result lost"],
    ["a text of the assistant", 4, "text lost"],
  ];
  for (const [name, index, fault] of cases)
    test(name, () => expect(faultsOf(arrived((messages) => messages.toSpliced(index, 1)))).toContain(fault));

  test("a tool", () =>
    expect(faultsOf({ ...arrived((messages) => messages), tools: [] })).toContain("tool lost"));
});
