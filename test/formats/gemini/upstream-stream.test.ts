/** Streams of the format, which has no terminator. */
import { describe, expect, test } from "bun:test";
import { usageState } from "../../../src/core/events.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { checkEvents } from "../../helpers/describe-events.ts";
import { answerContext, contentOf, PLAIN, readRecords, record, upstream } from "./make.ts";

const text = (value: string): JsonObject => ({ text: value });
const endOf = (records: readonly JsonObject[], request = PLAIN) =>
  contentOf(readRecords(records, answerContext({ request }))).end;

describe("the end of an answer", () => {
  test("a stream without a finish reason is incomplete", () => {
    expect(() => readRecords([record([text("Hi")])])).toThrow(
      expect.objectContaining({ kind: "upstream", code: "stream_incomplete" }),
    );
    expect(() => readRecords([])).toThrow(expect.objectContaining({ code: "stream_incomplete" }));
  });

  test("synthetic: parts behind a finish reason belong to the answer", () => {
    const code = { executableCode: { language: "PYTHON", code: "1" } };
    const events = readRecords([
      record([code]),
      record([text("One.")], "STOP"),
      record([code]),
      record([text(" Two.")], "STOP"),
    ]);
    checkEvents(events);
    expect(
      contentOf(events)
        .blocks.map(({ text: said }) => said)
        .join(""),
    ).toBe("One. Two.");
  });

  const reasons: [string | number, string][] = [
    ["STOP", "stop"],
    [1, "stop"],
    ["MAX_TOKENS", "length"],
    [2, "length"],
    ["CONTINUATION", "length"],
    ["SAFETY", "content-filter"],
    [3, "content-filter"],
    ["RECITATION", "content-filter"],
    ["PROHIBITED_CONTENT", "content-filter"],
    ["SPII", "content-filter"],
    ["NO_IMAGE", "content-filter"],
    ["MODEL_ARMOR", "content-filter"],
    ["OTHER", "length"],
    [99, "length"],
    ["A_NEW_WORD", "length"],
  ];
  test.each(reasons)("%p is %s", (word, kind) => {
    expect(endOf([record([text("Hi")], word)]).reason.kind as string).toBe(kind);
  });

  test("a filter or the output limit without content ends an empty answer; other words are errors then", () => {
    for (const word of ["SAFETY", "MAX_TOKENS", "STOP"]) {
      const { blocks } = contentOf(readRecords([{ candidates: [{ content: {}, finishReason: word }] }]));
      expect(blocks).toEqual([]);
    }
    expect(() => endOf([{ candidates: [{ finishReason: "OTHER" }] }])).toThrow(
      expect.objectContaining({ code: "empty_answer" }),
    );
  });

  test.each(["MODEL_ARMOR", "A_NEW_WORD"])("%s keeps Google's sentence, with and without content", (word) => {
    const finishMessage = "The response violated the safety settings.";
    const blocked = { kind: "content-filter", raw: word, explanation: finishMessage };
    expect(endOf([{ candidates: [{ finishReason: word, finishMessage }] }]).reason as object).toEqual(
      blocked,
    );
    const partly = record([text("Hi")], word);
    const [candidate] = partly.candidates as JsonObject[];
    candidate!.finishMessage = finishMessage;
    expect(endOf([partly]).reason as object).toEqual(blocked);
  });

  test("counts of the output alone are kept, and are not all counts", () => {
    const usageMetadata = { candidatesTokenCount: 18, thoughtsTokenCount: 58 };
    const { usage } = endOf([{ ...record([text("Hi")], "STOP"), usageMetadata }]);
    expect(usage).toMatchObject({ output: 76, reasoning: 58, input: 0 });
    expect(usageState(usage)).toBe("partial");
  });

  test("a blocked prompt is an empty, filtered answer with Google's explanation", () => {
    const feedback = { blockReason: "MODEL_ARMOR", blockReasonMessage: "Blocked by a template." };
    expect(endOf([{ promptFeedback: feedback }]).reason).toEqual({
      kind: "content-filter",
      raw: "MODEL_ARMOR",
      explanation: "Blocked by a template.",
    });
  });

  test("STOP behind calls means that the model wants their results", () => {
    expect(endOf([record([{ functionCall: { name: "f" } }]), record([text("")], "STOP")]).reason).toEqual({
      kind: "tool-calls",
      raw: "STOP",
    });
  });

  test("a stream that ends within the pieces of a call is incomplete", () => {
    const pieces = {
      functionCall: {
        partialArgs: [{ jsonPath: "$.a", stringValue: "x", willContinue: true }],
        willContinue: true,
      },
    };
    expect(() =>
      readRecords([record([{ functionCall: { name: "f", willContinue: true } }]), record([pieces])]),
    ).toThrow(expect.objectContaining({ code: "stream_incomplete" }));
  });
});

describe("token counts", () => {
  test("are disjoint, and add up to Google's total", () => {
    const usageMetadata = {
      promptTokenCount: 500,
      candidatesTokenCount: 120,
      toolUsePromptTokenCount: 300,
      thoughtsTokenCount: 10,
      cachedContentTokenCount: 100,
      totalTokenCount: 930,
    };
    const { usage } = endOf([{ ...record([text("Hi")], "STOP"), usageMetadata }]);
    expect(usage).toMatchObject({ input: 700, cacheRead: 100, cacheWrite: 0, output: 130, reasoning: 10 });
    expect(usage.input + usage.cacheRead + usage.output).toBe(930);
  });

  test("audio that was read from a cache is counted apart from audio that was not", () => {
    const of = (modality: string, tokenCount: number) => ({ modality, tokenCount });
    const usageMetadata = {
      ...{ promptTokenCount: 1_000, cachedContentTokenCount: 600, candidatesTokenCount: 5 },
      promptTokensDetails: [of("TEXT", 300), of("AUDIO", 700)],
      cacheTokensDetails: [of("TEXT", 200), of("AUDIO", 400)],
    };
    const { usage } = endOf([{ ...record([text("Hi")], "STOP"), usageMetadata }]);
    expect(usage).toMatchObject({ input: 400, audioIn: 300, cacheRead: 600, cacheReadAudio: 400 });
  });

  test("a record without a count does not reset it", () => {
    const { usage } = endOf([
      { ...record([text("a")]), usageMetadata: { promptTokenCount: 9, thoughtsTokenCount: 3 } },
      { ...record([text("b")]), usageMetadata: { trafficType: "ON_DEMAND" } },
      { ...record([text("c")], "STOP"), usageMetadata: { candidatesTokenCount: 4 } },
    ]);
    expect(usage).toMatchObject({ input: 9, output: 7, reasoning: 3, known: "final" });
  });
});

test("stop sequences beyond the fifth end the answer, also across records, with the text before them", () => {
  const request = { ...PLAIN, stop: ["a", "b", "c", "d", "e", "<END>", "</s>"] };
  const events = readRecords(
    [record([text("One <E")]), record([text("ND> two")]), record([text(" three")], "STOP")],
    answerContext({ request }),
  );
  const { blocks, end } = contentOf(events);
  expect(blocks[0]?.text).toBe("One ");
  expect(end.reason).toMatchObject({ kind: "stop-sequence", stopSequence: "<END>" });
});

describe("calls", () => {
  test("Google's own ids are marked, missing and repeated ones are made", () => {
    const called = (id?: string) => ({ functionCall: { name: "f", ...(id && { id }) } });
    const { blocks } = contentOf(readRecords([record([called("x1"), called("x1"), called()], "STOP")]));
    const ids = blocks.map(({ block }) => (block.type === "tool-call" ? block.id : ""));
    expect(ids[0]).toBe("call_g_x1");
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  });

  test("synthetic: arguments in pieces become one JSON object, without touching prototypes", () => {
    const piece = (jsonPath: string, value: JsonObject) => ({
      functionCall: { partialArgs: [{ jsonPath, ...value }], willContinue: true },
    });
    const { blocks } = contentOf(
      readRecords([
        record([{ functionCall: { name: "f", willContinue: true }, thoughtSignature: "UyE=" }]),
        record([piece("$.a.b[1].c", { stringValue: "x", willContinue: true })]),
        record([piece("$.a.b[1].c", { stringValue: '"1, 2"' })]),
        record([piece("$.a.b[0]", { boolValue: true })]),
        record([piece("$.__proto__.polluted", { numberValue: 1 })]),
        record([{ functionCall: {} }], "STOP"),
      ]),
    );
    expect(blocks[1]!.text).toBe('{"a":{"b":[true,{"c":"x\\"1, 2\\""}]},"__proto__":{"polluted":1}}');
    expect(({} as JsonObject)["polluted"]).toBeUndefined();
    expect(blocks[0]).toMatchObject({ signature: "UyE=" });
  });
});

test("sources of a web search become citations; a segment without text is cut by bytes", () => {
  const groundingMetadata = {
    groundingChunks: [
      { web: { uri: "https://a.example", title: "A" } },
      { web: { uri: "https://b.example" } },
    ],
    groundingSupports: [
      { segment: { startIndex: 7, endIndex: 12 }, groundingChunkIndices: [0] },
      { segment: { endIndex: 5, text: "Köln" }, groundingChunkIndices: [1, 9] },
    ],
  };
  const body = {
    candidates: [{ content: { parts: [text("Köln, Paris.")] }, finishReason: "STOP", groundingMetadata }],
  };
  const events = upstream.codec.readAnswer(body, answerContext());
  checkEvents(events);
  expect(events.flatMap((event) => (event.type === "citation" ? [event.citation] : []))).toEqual([
    { url: "https://a.example", title: "A", text: "Paris" },
    { url: "https://b.example", text: "Köln" },
  ]);
});
