/** What Google's clients get: records, JSON answers and errors. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ChatRequest } from "../../../src/core/chat.ts";
import { type ErrorKind, GatewayError, STATUS } from "../../../src/core/error.ts";
import type { BlockStart, ChatEvent, FinishReason, Usage } from "../../../src/core/events.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { geminiFormat } from "../../../src/formats/gemini/index.ts";
import { writeAll } from "../../helpers/answer-codecs.ts";
import { lossesOf, makeContext } from "../../helpers/codec-context.ts";
import { withinBudget } from "../../helpers/within-budget.ts";

const { client } = geminiFormat;

const USAGE: Usage = { input: 9, cacheRead: 317, cacheWrite: 25, output: 16, reasoning: 4 };

/** Thoughts are shown, unless the request hides them. */
const request = (hideReasoning = false) =>
  ({ tools: [], style: { hideReasoning } }) as unknown as ChatRequest;

const context = (hideReasoning = false) =>
  makeContext({
    provider: "deepseek",
    model: "deepseek-chat",
    askedFor: "asked",
    request: request(hideReasoning),
  });

interface Part {
  start: BlockStart;
  pieces?: string[];
  signature?: string;
}

const text = (...pieces: string[]): Part => ({ start: { type: "text" }, pieces });
const call = (name: string, ...pieces: string[]): Part => ({
  start: { type: "tool-call", id: `id_${name}`, name, kind: "function" },
  pieces,
});
const reasoning = (pieces: string[], signature?: string, more: object = {}): Part => ({
  start: { type: "reasoning", ...more },
  pieces,
  signature,
});

function answer(parts: readonly Part[], reason: FinishReason = { kind: "stop" }): ChatEvent[] {
  return [
    { type: "message-start", id: "r-1", model: "deepseek-chat" },
    ...parts.flatMap(({ start, pieces = [], signature }, index): ChatEvent[] => [
      { type: "block-start", index, block: start },
      ...pieces.map((delta): ChatEvent => ({ type: "block-delta", index, delta })),
      { type: "block-end", index, ...(signature !== undefined && { signature }) },
    ]),
    { type: "message-end", reason, usage: USAGE },
  ];
}

interface Record_ {
  candidates: [
    { content: { parts: JsonObject[]; role: string }; finishReason?: string; finishMessage?: string },
  ];
  usageMetadata?: JsonObject;
  modelVersion: string;
  responseId: string;
}

const records = (events: readonly ChatEvent[], of = context()): Record_[] =>
  writeAll(client.codec.writeStream(of), events).map(({ data }) => JSON.parse(data) as Record_);
const partsOf = (list: readonly Record_[]) => list.flatMap(({ candidates }) => candidates[0].content.parts);
const whole = (events: readonly ChatEvent[], of = context()) =>
  client.codec.writeAnswer(events, of) as unknown as Record_;
const sealed = (origin: string, payload: string) =>
  Buffer.from(`weir1.${origin}.${Buffer.from(payload).toString("base64url")}`).toString("base64");

describe("a stream", () => {
  test("has a record for each piece of text, and the reason and the counts in the last one alone", () => {
    const list = records(answer([text("Hel", "lo")]));
    expect(partsOf(list)).toEqual([{ text: "Hel" }, { text: "lo" }, { text: "" }]);
    expect(list.map(({ candidates }) => candidates[0].finishReason)).toEqual([undefined, undefined, "STOP"]);
    expect(list.at(-1)!.usageMetadata).toEqual({
      promptTokenCount: 351,
      candidatesTokenCount: 12,
      totalTokenCount: 367,
      cachedContentTokenCount: 317,
      thoughtsTokenCount: 4,
    });
    for (const { modelVersion, responseId, candidates } of list)
      expect([modelVersion, responseId, candidates[0].content.role]).toEqual(["asked", "r-1", "model"]);
  });

  test("has events without names and no terminator", () => {
    for (const frame of writeAll(client.codec.writeStream(context()), answer([text("a")]))) {
      expect(frame.event).toBeUndefined();
      expect(frame.data).toStartWith("{");
    }
  });

  test("has each call as one part, in the order of the starts, also if calls overlap", () => {
    const [start, end] = [answer([])[0]!, answer([], { kind: "tool-calls" })[1]!];
    const overlapping: ChatEvent[] = [
      start,
      { type: "block-start", index: 0, block: call("f").start },
      { type: "block-start", index: 1, block: call("g").start },
      { type: "block-delta", index: 1, delta: '{"b":' },
      { type: "block-delta", index: 0, delta: '{"a"' },
      { type: "block-delta", index: 1, delta: "2}" },
      { type: "block-end", index: 1 },
      { type: "block-delta", index: 0, delta: ":1}" },
      { type: "block-end", index: 0 },
      end,
    ];
    expect(partsOf(records(overlapping))).toEqual([
      { functionCall: { id: "id_f", name: "f", args: { a: 1 } } },
      { functionCall: { id: "id_g", name: "g", args: { b: 2 } } },
      { text: "" },
    ]);
  });

  test("without a message-end never ends as if it were whole", () => {
    const cut = answer([text("a")]).slice(0, -1);
    expect(() => records(cut)).toThrow(GatewayError);
    expect(() => whole(cut)).toThrow(GatewayError);
  });
});

describe("reasoning", () => {
  test("is text marked as thought, and its text is wrapped for the next part if the vendor has no signature", () => {
    const thoughts = [reasoning(["I ", "see."]), call("f", "{}")];
    const written = {
      functionCall: { id: "id_f", name: "f", args: {} },
      thoughtSignature: sealed("deepseek", "weir:text:I see."),
    };
    expect(partsOf(records(answer(thoughts)))).toEqual([
      { text: "I ", thought: true },
      { text: "see.", thought: true },
      written,
      { text: "" },
    ]);
    expect(partsOf([whole(answer(thoughts))])).toEqual([{ text: "I see.", thought: true }, written]);
  });

  test("that the client does not want has no text, but comes back", () => {
    expect(partsOf([whole(answer([reasoning(["Hm."], "SIG"), text("a")]), context(true))])).toEqual([
      { text: "a", thoughtSignature: sealed("deepseek", "SIG") },
    ]);
  });

  test("of Google keeps its signature at its part", () => {
    const google = { origin: "google" };
    expect(
      partsOf([whole(answer([reasoning([], "c2ln", google), text("a"), reasoning([], "ZW5k", google)]))]),
    ).toEqual([
      { text: "a", thoughtSignature: "c2ln" },
      { text: "", thoughtSignature: "ZW5k" },
    ]);
  });

  test("of two blocks without a part between them loses no signature", () => {
    const two = [reasoning(["A"], "S1"), reasoning(["B"], "S2"), text("c")];
    const signatures = partsOf(records(answer(two))).flatMap(
      ({ thoughtSignature }) => thoughtSignature ?? [],
    );
    expect(signatures).toEqual([sealed("deepseek", "S1"), sealed("deepseek", "S2")]);
  });

  test("that is encrypted stands on an empty part, as base64 that a client can decode", () => {
    const [part] = partsOf([whole(answer([reasoning([], undefined, { redacted: "RED" }), text("a")]))]);
    expect(part).toEqual({ text: "", thoughtSignature: sealed("deepseek", "weir:redacted:RED") });
    expect(part!.thoughtSignature).toMatch(/^[A-Za-z0-9+/]+={0,2}$/);
  });

  test("comes back as it went, whoever made it", () => {
    const signed = fc.record({
      text: fc.string(),
      signature: fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
      origin: fc.constantFrom("deepseek", "anthropic", "openrouter"),
    });
    withinBudget(
      fc.property(signed, ({ text: thought, signature, origin }) => {
        const { content } = whole(answer([reasoning([thought], signature, { origin }), call("f", "{}")]))
          .candidates[0];
        const body = { model: "m", stream: false, contents: [content] } as unknown as JsonObject;
        const [block] = client.codec.decodeRequest(body, makeContext()).turns[0]!.blocks;
        const isKept = signature !== undefined || thought !== "";
        if (isKept)
          expect(block).toMatchObject({
            type: "reasoning",
            text: thought,
            origin,
            ...(signature !== undefined && { signature }),
          });
        else expect(block!.type).toBe("tool-call");
      }),
    );
  });
});

describe("arguments", () => {
  test("that are no object are wrapped, those that are empty are none", () => {
    const of = context();
    const parts = partsOf([whole(answer([call("f", "[1]"), call("g")]), of)]);
    expect(parts.map(({ functionCall }) => (functionCall as JsonObject).args)).toEqual([{ value: [1] }, {}]);
    expect(lossesOf(of)).toHaveLength(1);
  });

  test("that the output limit cut off are left out, streamed and whole", () => {
    const cut = answer([text("a"), call("f", '{"x":')], { kind: "length" });
    expect(partsOf(records(cut))).toEqual([{ text: "a" }, { text: "" }]);
    expect(partsOf([whole(cut)])).toEqual([{ text: "a" }]);
    expect(whole(cut).candidates[0].finishReason).toBe("MAX_TOKENS");
  });

  test("that are broken otherwise fail a stream, and are repaired in a JSON answer with a report", () => {
    const broken = answer([call("f", '{"x":1')], { kind: "tool-calls" });
    expect(() => records(broken)).toThrow(/arguments for the tool f/);
    const of = context();
    expect(partsOf([whole(broken, of)])[0]).toMatchObject({ functionCall: { args: { x: 1 } } });
    expect(lossesOf(of)).toEqual(["repaired:candidates[0].content"]);
  });
});

test("a streamed answer, put together, is the JSON answer", () => {
  const parts = fc.array(
    fc.oneof(
      fc.array(fc.string({ maxLength: 5 }), { maxLength: 3 }).map((pieces) => text(...pieces)),
      fc.constantFrom("f", "g").map((name) => call(name, '{"a":', "1}")),
      fc
        .tuple(
          fc.array(fc.string({ maxLength: 4 }), { maxLength: 2 }),
          fc.option(fc.constant("SIG"), { nil: undefined }),
        )
        .map(([pieces, signature]) => reasoning(pieces, signature)),
    ),
    { maxLength: 5 },
  );
  withinBudget(
    fc.property(parts, (list) => {
      const streamed = partsOf(records(answer(list)));
      const joined = partsOf([whole(answer(list))]);
      const sum = (all: JsonObject[], thought: boolean) =>
        all
          .filter((part) => (part.thought === true) === thought)
          .map((part) => part.text ?? "")
          .join("");
      for (const thought of [true, false]) expect(sum(joined, thought)).toBe(sum(streamed, thought));
      const others = (all: JsonObject[]) =>
        all
          .flatMap(({ functionCall, thoughtSignature }) => [functionCall, thoughtSignature])
          .filter((one) => one !== undefined);
      expect(others(joined)).toEqual(others(streamed));
    }),
  );
});

describe("the end", () => {
  const REASONS: [FinishReason, string][] = [
    [{ kind: "stop" }, "STOP"],
    [{ kind: "stop-sequence", stopSequence: "END" }, "STOP"],
    [{ kind: "tool-calls" }, "STOP"],
    [{ kind: "pause" }, "STOP"],
    [{ kind: "length" }, "MAX_TOKENS"],
    [{ kind: "content-filter", raw: "refusal" }, "SAFETY"],
    [{ kind: "content-filter", raw: "RECITATION" }, "RECITATION"],
  ];
  for (const [reason, word] of REASONS)
    test(`${reason.kind} ${reason.raw ?? ""} is ${word}`, () => {
      expect(whole(answer([text("a")], reason)).candidates[0].finishReason).toBe(word);
    });

  test("a refusal has its text and is no regular end", () => {
    const refused = whole(answer([{ start: { type: "refusal" }, pieces: ["I cannot."] }]));
    expect(refused.candidates[0]).toMatchObject({
      finishReason: "SAFETY",
      finishMessage: "I cannot.",
      content: { parts: [{ text: "I cannot." }] },
    });
  });

  test("sources are grounding, with the end of the text in bytes", () => {
    const events = answer([text("Grüße")]);
    events.splice(3, 0, { type: "citation", index: 0, citation: { url: "https://example.com", title: "T" } });
    expect(records(events).at(-1)!.candidates[0]).toMatchObject({
      groundingMetadata: {
        groundingChunks: [{ web: { uri: "https://example.com", title: "T" } }],
        groundingSupports: [{ segment: { endIndex: 7 }, groundingChunkIndices: [0] }],
      },
    });
  });

  test("an image is inline data", () => {
    expect(
      partsOf([whole(answer([{ start: { type: "image", mediaType: "image/png", data: "AAAA" } }]))]),
    ).toEqual([{ inlineData: { mimeType: "image/png", data: "AAAA" } }]);
  });
});

describe("an error", () => {
  const error = (kind: ErrorKind, facts: ConstructorParameters<typeof GatewayError>[2] = {}) =>
    client.codec.encodeError(new GatewayError(kind, "What happened.", facts), "req_1");
  const detailOf = (body: JsonObject, type: string) =>
    ((body.error as JsonObject).details as JsonObject[]).find((detail) =>
      String(detail["@type"]).endsWith(type),
    );

  test("has the status as a number and a word of google.rpc.Code", () => {
    for (const kind of Object.keys(STATUS) as ErrorKind[]) {
      const { status, body } = error(kind);
      const { code, status: word } = body.error as JsonObject;
      expect(code).toBe(status);
      expect(word).toMatch(/^[A-Z_]+$/);
    }
  });

  test("names the code of weir, the field and the time to wait, at most a minute", () => {
    const { body, headers } = error("rate-limited", {
      code: "too_many_calls",
      param: "contents",
      retryAfter: 90.2,
    });
    expect(detailOf(body, "ErrorInfo")).toMatchObject({ reason: "too_many_calls" });
    expect(detailOf(body, "BadRequest")).toMatchObject({ fieldViolations: [{ field: "contents" }] });
    expect(detailOf(body, "RetryInfo")).toMatchObject({ retryDelay: "60s" });
    expect(headers["retry-after"]).toBe("60");
  });

  test("of a prompt that is too long has Google's words, with the figures", () => {
    const message = "prompt is too long: 210000 tokens > 200000 maximum";
    const { body } = client.codec.encodeError(
      new GatewayError("invalid-request", message, { code: "context_length_exceeded" }),
      "",
    );
    expect((body.error as JsonObject).message).toBe(
      "The input token count (210000) exceeds the maximum number of tokens allowed (200000).",
    );
  });

  test("within a stream is one record with the same body", () => {
    const fault = new GatewayError("overloaded", "What happened.");
    const frames = client.codec.encodeStreamError(fault, "req_1");
    expect(frames).toEqual([{ data: JSON.stringify(client.codec.encodeError(fault, "req_1").body) }]);
  });
});
