/** How requests of Ollama's clients are decoded. What providers get is in test/fixtures/requests/ollama. */
import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../src/core/json.ts";
import { ollamaFormat, ollamaGenerateFormat } from "../../../src/formats/ollama/index.ts";
import { makeContext } from "../../helpers/codec-context.ts";

const decode = (body: JsonObject) =>
  ollamaFormat.client.codec.decodeRequest({ model: "m", messages: [], ...body }, makeContext());

const faultOf = (body: JsonObject) => () => ollamaFormat.client.request.checkRequest({ model: "m", ...body });

const call = (name: string, more: object = {}) => ({ function: { name, arguments: {} }, ...more });
const result = (content: string, more: object = {}) => ({ role: "tool", content, ...more });

describe("a result", () => {
  /** The contents of the results by the place of the call that they answer. */
  function answered(calls: JsonObject[], results: JsonObject[]): string[] {
    const { turns } = decode({
      messages: [{ role: "assistant", content: "", tool_calls: calls }, ...results],
    });
    const ids = turns[0]!.blocks.map((block) => (block.type === "tool-call" ? block.id : ""));
    expect(new Set(ids).size).toBe(calls.length);
    const byId = new Map(
      turns[1]!.blocks.map((block) =>
        block.type === "tool-result" ? [block.id, JSON.stringify(block.blocks)] : ["", ""],
      ),
    );
    return ids.map((id) => /"text":"(\w+)"/.exec(byId.get(id) ?? "")?.[1] ?? "none");
  }

  test("belongs to the call with its id", () => {
    const calls = [call("f", { id: "a" }), call("f", { id: "b" })];
    expect(answered(calls, [result("B", { tool_call_id: "b" }), result("A", { tool_call_id: "a" })])).toEqual(
      ["A", "B"],
    );
  });

  test("without an id belongs to the first open call of its name, in either spelling", () => {
    const calls = [call("f"), call("g"), call("f")];
    const results = [
      result("G", { tool_name: "g" }),
      result("F1", { name: "f" }),
      result("F2", { tool_name: "f" }),
    ];
    expect(answered(calls, results)).toEqual(["F1", "G", "F2"]);
  });

  test("without id and name belongs to the first open call", () => {
    expect(answered([call("f"), call("g")], [result("one"), result("two")])).toEqual(["one", "two"]);
  });

  test("with an id that no call has is matched by its name", () => {
    expect(answered([call("f")], [result("F", { tool_call_id: "lost", tool_name: "f" })])).toEqual(["F"]);
  });
});

test("ids that weir makes for calls are the same in every turn", () => {
  const messages = [
    { role: "user", content: "x" },
    { role: "assistant", tool_calls: [call("f"), call("f")] },
  ];
  const idsOf = (more: JsonObject[]) =>
    decode({ messages: [...messages, ...more] }).turns[1]!.blocks.map((block) => "id" in block && block.id);
  expect(idsOf([])).toEqual(idsOf([result("a"), { role: "user", content: "y" }]));
});

test("limits below 1 and an empty format mean none", () => {
  expect(decode({ options: { num_predict: -1, top_k: 0 }, format: "" })).toMatchObject({
    ...{ maxTokens: undefined, topK: undefined, stop: [] },
  });
  expect(decode({ format: "" }).answerFormat).toBeUndefined();
  expect(decode({}).stream).toBe(true);
  expect(decode({ stream: false }).stream).toBe(false);
});

test("a prompt is a turn of the user behind the system turn", () => {
  const { turns } = ollamaGenerateFormat.client.codec.decodeRequest(
    { model: "m", prompt: "Why?", system: "Be brief." },
    makeContext(),
  );
  expect(turns.map(({ role, path }) => [role, path])).toEqual([
    ["system", "system"],
    ["user", "prompt"],
  ]);
});

test.each([
  [{ messages: [{ role: "narrator", content: "x" }] }, "messages[0].role"],
  [{ messages: [{ role: "user", content: 1 }] }, "messages[0].content"],
  [{ messages: [{ role: "user", images: "x" }] }, "messages[0].images"],
  [{ options: { temperature: 3 } }, "options.temperature"],
  [{ options: { num_predict: "many" } }, "options.num_predict"],
  [{ think: 1 }, "think"],
  [{ Options: {} }, "Options"],
  [{ messages: [{ role: "assistant", tool_calls: [{ function: {} }] }] }, "function.name"],
])("a fault is named with its path: %j", (body, path) => {
  expect(faultOf(body as JsonObject)).toThrow(path);
});
