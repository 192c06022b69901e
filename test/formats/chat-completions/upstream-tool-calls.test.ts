import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../src/core/json.ts";
import { checkEvents } from "../../helpers/describe-events.ts";
import { chunk, failure, read, upstream } from "./make.ts";
import { calls, begin, more, finish, lines } from "./fragments.ts";

describe("calls in every shape", () => {
  /** Names and arguments of the calls of an answer. */
  async function callsIn(bodies: readonly JsonObject[], reason = "tool_calls"): Promise<string[]> {
    const events = read([...bodies, finish(reason)]);
    checkEvents(events);
    const found = new Map<number, string>();
    for (const event of events) {
      if (event.type === "block-start" && event.block.type === "tool-call")
        found.set(event.index, `${event.block.name} `);
      if (event.type === "block-delta" && found.has(event.index))
        found.set(event.index, found.get(event.index)! + event.delta);
    }
    return [...found.values()];
  }

  const shapes: [what: string, bodies: JsonObject[], expected: string[]][] = [
    [
      "interleaved fragments of two indexes",
      [
        calls(begin(0, "a", "f", '{"a":')),
        calls(begin(1, "b", "g", '{"b":')),
        calls(more(0, "1}")),
        calls(more(1, "2}")),
      ],
      ['f {"a":1}', 'g {"b":2}'],
    ],
    [
      "both calls begun in one chunk",
      [calls(begin(0, "a", "f"), begin(1, "b", "g")), calls(more(0, "{}"), more(1, "{}"))],
      ["f {}", "g {}"],
    ],
    [
      "two whole calls without an index in one delta",
      [calls(begin(undefined, "a", "f", '{"a":1}'), begin(undefined, "b", "g", "{}"))],
      ['f {"a":1}', "g {}"],
    ],
    [
      "without index and id, one after the other",
      [
        calls(begin(undefined, undefined, "f", '{"a":1}')),
        calls(begin(undefined, undefined, "f", '{"a":2}')),
      ],
      ['f {"a":1}', 'f {"a":2}'],
    ],
    [
      "without index, fragments by id",
      [
        calls(begin(undefined, "a", "f", "{")),
        calls(begin(undefined, "b", "g", "{")),
        calls({ id: "a", function: { arguments: "}" } }),
        calls({ id: "b", function: { arguments: "}" } }),
      ],
      ["f {}", "g {}"],
    ],
    [
      "without index, fragments by nothing",
      [calls(begin(undefined, "a", "f", "{")), calls({ function: { arguments: "}" } })],
      ["f {}"],
    ],
    [
      "index 0 for all, new ids and names",
      [calls(begin(0, "a", "f", "{}")), calls(begin(0, "b", "g", "{}"))],
      ["f {}", "g {}"],
    ],
    [
      "index 0 for all, the same name twice",
      [calls(begin(0, "a", "f", '{"a":1}')), calls(begin(0, "b", "f", '{"a":2}'))],
      ['f {"a":1}', 'f {"a":2}'],
    ],
    [
      "id and name repeated on every fragment",
      [calls(begin(0, "a", "f", '{"a"')), calls(begin(0, "a", "f", ":1}"))],
      ['f {"a":1}'],
    ],
    [
      "a blank name on later fragments",
      [calls(begin(0, "a", "f", '{"a"')), calls(begin(0, "", "", ":1}"))],
      ['f {"a":1}'],
    ],
    [
      "arguments before the name",
      [
        calls(begin(0, "a", undefined, '{"a"')),
        calls(begin(0, undefined, "", ":")),
        calls(begin(0, undefined, "f", "1}")),
      ],
      ['f {"a":1}'],
    ],
    [
      "a call that never gets a name",
      [calls(begin(0, "a", " ", "{}")), calls(begin(1, "b", "g", "{}"))],
      ["g {}"],
    ],
    [
      "arguments as an object",
      [calls({ index: 0, id: "a", function: { name: "f", arguments: { a: 1 } } })],
      ['f {"a":1}'],
    ],
    [
      "an empty object in front of fragments",
      [calls({ index: 0, id: "a", function: { name: "f", arguments: {} } }), calls(more(0, '{"a":1}'))],
      ['f {"a":1}'],
    ],
    [
      "no arguments at all",
      [
        calls({ index: 0, id: "a", function: { name: "f" } }),
        calls({ index: 0, function: { arguments: null } }),
      ],
      ["f "],
    ],
    ["sparse indexes", [calls(begin(3, "a", "f", "{}")), calls(begin(7, "b", "g", "{}"))], ["f {}", "g {}"]],
    [
      "the legacy form",
      [chunk({ function_call: { name: "f", arguments: "{" } }), chunk({ function_call: { arguments: "}" } })],
      ["f {}"],
    ],
    [
      "both forms of one call (llama-cpp-python)",
      [
        chunk({ tool_calls: null, function_call: null }),
        chunk({ tool_calls: [begin(0, "a", "f", "{")], function_call: { name: "f", arguments: "{" } }),
        chunk({ tool_calls: [begin(0, "a", "f", "}")], function_call: { name: "f", arguments: "}" } }),
      ],
      ["f {}"],
    ],
    [
      "fragments behind whole arguments",
      [calls(begin(0, "a", "f", "{}")), calls(begin(1, "b", "g", "{}")), calls(more(0, "{}"))],
      ["f {}", "g {}"],
    ],
    [
      "Copilot's two choices of one answer",
      [{ choices: [{ delta: { content: "x" } }, { delta: { tool_calls: [begin(0, "a", "f", "{}")] } }] }],
      ["f {}"],
    ],
  ];
  test.each(shapes)("%s", async (_what, bodies, expected) => expect(await callsIn(bodies)).toEqual(expected));

  test("ids the client cannot take, missing and repeated ones are replaced", () => {
    const events = read([
      calls(
        begin(0, "functions.f:0", "f", "{}"),
        begin(1, undefined, "g", "{}"),
        begin(2, "same", "h", "{}"),
        begin(3, "same", "i", "{}"),
      ),
      finish("tool_calls"),
    ]);
    checkEvents(events);
    const ids = events.flatMap((event) =>
      event.type === "block-start" && event.block.type === "tool-call" ? [event.block.id] : [],
    );
    expect(ids[2]).toBe("same");
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  });

  test("a call is ended when the next one begins and it is whole", () => {
    expect(
      lines([calls(begin(0, "a", "f", "{}")), calls(begin(1, "b", "g", "{}")), finish("tool_calls")]),
    ).toEqual([
      "start 0 tool-call f",
      "delta 0 {}",
      "end 0",
      "start 1 tool-call g",
      "delta 1 {}",
      "end 1",
      "message-end tool-calls",
    ]);
  });

  test("Gemini's signature comes before its call", () => {
    const extra_content = { google: { thought_signature: "sig" } };
    const events = read([calls({ ...begin(0, "a", "f", "{}"), extra_content }), finish("tool_calls")]);
    checkEvents(events);
    expect(events[1]).toMatchObject({ block: { type: "reasoning", origin: "google" } });
    expect(events[2]).toMatchObject({ type: "block-end", signature: "sig" });
    expect(events[3]).toMatchObject({ block: { type: "tool-call", name: "f" } });
  });

  test("arguments that are broken at the end are a failure, unless the tokens ran out", async () => {
    const cut = [calls(begin(0, "a", "f", '{"command":"rm -rf /tm'))];
    expect(await failure(() => read([...cut, finish("tool_calls")]))).toMatchObject({
      kind: "upstream",
      code: "invalid_tool_arguments",
    });
    expect(lines([...cut, finish("length")]).at(-1)).toBe("message-end length");
    const native = chunk({}, "tool_calls", { choice: { native_finish_reason: "length" } });
    expect(lines([...cut, native]).at(-1)).toBe("message-end length");
  });
});
