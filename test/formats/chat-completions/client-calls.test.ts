import { describe, expect, test } from "bun:test";
import type { ChatEvent } from "../../../src/core/events.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { answer, choiceOf, chunks, clientCall, deltasOf, messageOf, run, tool, writeAnswer } from "./make.ts";

const encode = (events: readonly ChatEvent[], call = clientCall()) => writeAnswer(events, call);
const finishes = (bodies: readonly JsonObject[]) =>
  bodies
    .flatMap((body) => (body.choices as JsonObject[]).map((choice) => choice.finish_reason))
    .filter((reason) => reason !== null);

describe("legacy functions", () => {
  const call = () => clientCall({ style: { legacyFunctions: true } });

  test("the answer has a function_call, streamed and whole", () => {
    const events = answer(tool(0, "f", ['{"a":', "1}"]), { kind: "tool-calls" });
    const body = encode(events, call());
    expect(messageOf(body)).toMatchObject({
      content: null,
      function_call: { name: "f", arguments: '{"a":1}' },
    });
    expect(messageOf(body)).not.toHaveProperty("tool_calls");
    expect(choiceOf(body).finish_reason).toBe("function_call");
    const bodies = chunks(events, call());
    expect(deltasOf(bodies).slice(1, -1)).toEqual([
      { function_call: { name: "f", arguments: "" } },
      { function_call: { arguments: '{"a":' } },
      { function_call: { arguments: "1}" } },
    ]);
    expect(finishes(bodies)).toEqual(["function_call"]);
  });

  test("a second call has no place and is told as a loss", () => {
    const calling = call();
    const events = answer([...tool(0, "f", []), ...tool(1, "g", ["{}"])], { kind: "tool-calls" });
    expect(messageOf(encode(events, calling)).function_call).toEqual({ name: "f", arguments: "{}" });
    expect(calling.losses).toMatchObject([{ code: "dropped", path: "functions" }]);
  });
});

describe("custom tools", () => {
  const call = () => clientCall({ tools: [{ kind: "custom", name: "patch" }] });

  test("input of a custom call is passed on as it is", () => {
    const events = answer(
      run(0, { type: "tool-call", id: "c", name: "patch", kind: "custom" }, ["*** ", '"x"']),
    );
    expect(messageOf(encode(events, call())).tool_calls).toEqual([
      { id: "c", type: "custom", custom: { name: "patch", input: '*** "x"' } },
    ]);
  });

  const input = 'line "1"\n\tä\\ \u{1F600} end';
  const wrapped: [what: string, json: string][] = [
    ["plain", JSON.stringify({ input })],
    ["spaced", ` {  "input" : ${JSON.stringify(input)} } `],
    [
      "escaped to ASCII",
      JSON.stringify({ input }).replace(
        /[\u0080-\uffff]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
      ),
    ],
    ["with another key in front", JSON.stringify({ why: "x", input })],
  ];
  test.each(wrapped)("an input that came wrapped is unwrapped, wherever it was cut: %s", (_what, json) => {
    for (const size of [1, 2, 3, 7, json.length]) {
      const pieces = json.match(new RegExp(`[\\s\\S]{1,${size}}`, "g"))!;
      const message = messageOf(encode(answer(tool(0, "patch", pieces)), call()));
      expect(message.tool_calls).toEqual([
        { id: "call_0", type: "custom", custom: { name: "patch", input } },
      ]);
    }
  });

  test("what was not wrapped as expected is passed on whole", () => {
    const message = messageOf(encode(answer(tool(0, "patch", ["not ", "json"])), call()));
    expect(message.tool_calls).toMatchObject([{ custom: { input: "not json" } }]);
  });
});
