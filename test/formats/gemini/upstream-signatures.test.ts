/** Thought signatures: from the part of an answer that they stand on, and back to it. */
import { describe, expect, test } from "bun:test";
import type { Block } from "../../../src/core/chat.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { SENTINEL } from "../../../src/formats/gemini/reasoning.ts";
import {
  answerContext,
  assistant,
  call,
  encode,
  readRecords,
  record,
  replayed,
  result,
  signed,
  text,
  user,
} from "./make.ts";

const A = "c2lnbmF0dXJlLUE=";
const B = "c2lnbmF0dXJlLUI=";

const textPart = (value: string, thoughtSignature?: string): JsonObject => ({
  text: value,
  ...(thoughtSignature && { thoughtSignature }),
});
const callPart = (name: string, thoughtSignature?: string): JsonObject => ({
  functionCall: { name, args: { of: name } },
  ...(thoughtSignature && { thoughtSignature }),
});
const thought = (value: string): JsonObject => ({ text: value, thought: true });
const code = (thoughtSignature?: string): JsonObject => ({
  executableCode: { language: "PYTHON", code: "print(1)" },
  ...(thoughtSignature && { thoughtSignature }),
});
const search = (thoughtSignature: string): JsonObject => ({
  toolCall: { toolType: "FILE_SEARCH", id: "t" },
  thoughtSignature,
});
const found = (thoughtSignature: string): JsonObject => ({
  toolResponse: { toolType: "FILE_SEARCH", id: "t", response: {} },
  thoughtSignature,
});

/** The parts of the model in the next request, if the client sends the blocks back as they came; without ids. */
function again(blocks: readonly Block[], model = "gemini-3-flash-preview"): JsonObject[] {
  const results = blocks.flatMap((block) => (block.type === "tool-call" ? [result(block.id)] : []));
  const { contents } = encode(
    { turns: [user("q"), assistant(...blocks), user(...results, "Next.")] },
    { model },
  );
  return contents[1]!.parts.map((part) => {
    if (!part["functionCall"]) return part;
    const { id: _id, ...rest } = part["functionCall"] as JsonObject;
    return { ...part, functionCall: rest };
  });
}

describe("an answer goes back as it came", () => {
  const answers: [string, JsonObject[]][] = [
    ["a signed call", [callPart("f", A)]],
    ["thoughts and a signed call", [thought("I ask."), callPart("f", A)]],
    ["parallel calls, the first one signed", [callPart("f", A), callPart("g"), callPart("h")]],
    ["parallel calls, two of three signed", [callPart("f", A), callPart("g"), callPart("h", B)]],
    ["a text in front of a signed call", [textPart("I ask."), callPart("f", A)]],
    ["signed text and a signed call", [textPart("I ask.", A), callPart("f", B)]],
    ["a signed text", [textPart("Hi.", A)]],
    ["thoughts and a signed text", [thought("Greet."), textPart("Hi.", A)]],
    ["a text whose last part is signed", [textPart("Hi"), textPart(" there.", A)]],
    ["a signature on a last, empty part", [textPart("Hi."), textPart("", A)]],
    ["a signature on an empty part behind calls", [callPart("f", A), textPart("", B)]],
    ["a signature between parts", [callPart("f", A), textPart("", B), callPart("g")]],
    [
      "signed code and its output",
      [code(A), { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1" } }, textPart("1.")],
    ],
    ["unsigned code", [code(), textPart("1.")]],
    ["calls of Google's own tools", [search(A), found(B), textPart("Found.")]],
    ["calls of Google's own tools and a function", [search(A), found(B), callPart("f", A + B)]],
  ];
  for (const [name, parts] of answers)
    for (const sameFormat of [false, true])
      test(`${name}${sameFormat ? ", to a client of the format" : ""}`, () => {
        const context = () => answerContext({ sameFormat });
        const whole = replayed(readRecords([record(parts, "STOP")], context()));
        expect(again(whole)).toEqual(parts);
        const records = parts.map((part, at) => record([part], at === parts.length - 1 ? "STOP" : undefined));
        expect(replayed(readRecords(records, context()))).toEqual(whole);
      });
});

test("a signature on a later, empty part belongs to the block before it", () => {
  const events = readRecords([
    record([thought("Greet.")]),
    record([textPart("Hi.")]),
    record([textPart("", A)], "STOP"),
  ]);
  expect(replayed(events)).toEqual([
    { type: "reasoning", text: "Greet.", origin: "google" },
    text("Hi."),
    { type: "reasoning", text: "", signature: A, origin: "google" },
  ]);
});

describe("a first call without a signature", () => {
  test("gets the placeholder from Gemini 3 on, with a loss; its siblings get none", () => {
    const turns = [user("q"), assistant(call("a"), call("b")), user(result("a"), result("b"))];
    const { contents, losses } = encode({ turns });
    expect(contents[1]!.parts.map((part) => part["thoughtSignature"])).toEqual([SENTINEL, undefined]);
    expect(losses).toEqual(["synthesized:turns"]);
    const older = encode({ turns }, { model: "gemini-2.5-flash" });
    expect(older.contents[1]!.parts.map((part) => part["thoughtSignature"])).toEqual([undefined, undefined]);
    expect(older.losses).toEqual([]);
  });

  test("takes the signature of the text in front of it, where a client has put all reasoning first", () => {
    expect(again([signed(A, "I ask."), text("One moment."), call("a", "f", '{"of":"f"}')])).toEqual([
      thought("I ask."),
      textPart("One moment."),
      callPart("f", A),
    ]);
  });

  test("takes its signature from its last place, where a client sends it twice", () => {
    const blocks = [signed(A, "I ask."), text("One moment."), signed(A), call("a", "f", '{"of":"f"}')];
    expect(again(blocks)).toEqual([thought("I ask."), textPart("One moment."), callPart("f", A)]);
  });
});

describe("reasoning of others", () => {
  test("is dropped with its text, with a loss", () => {
    const foreign: Block[] = [
      { type: "reasoning", text: "hm", signature: "X", origin: "anthropic" },
      { type: "reasoning", text: "", redacted: "Y", origin: "openai" },
      { type: "reasoning", text: "plain" },
    ];
    const { body, losses } = encode({ turns: [user("q"), assistant(...foreign, "a"), user("r")] });
    expect(body["contents"]).toEqual([
      { role: "user", parts: [{ text: "q" }] },
      { role: "model", parts: [{ text: "a" }] },
      { role: "user", parts: [{ text: "r" }] },
    ]);
    expect(losses).toEqual(["dropped:turns"]);
  });
});
