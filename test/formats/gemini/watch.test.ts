/** What weir observes of answers that it passes on. */
import { expect, test } from "bun:test";
import type { StreamSummary } from "../../../src/core/format.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { record, upstream } from "./make.ts";
import { makeContext, lossesOf } from "../../helpers/codec-context.ts";

const { watch } = upstream.native;

function observe(records: readonly JsonObject[]): StreamSummary {
  const seen: StreamSummary = { terminated: false, complete: false };
  for (const body of records) {
    const data = JSON.stringify(body);
    if (watch.marks.some((mark) => data.includes(mark))) watch.frame({ data }, seen);
  }
  return seen;
}

const usageMetadata = { promptTokenCount: 9, candidatesTokenCount: 4, totalTokenCount: 13 };

test("a stream is complete with a finish reason, and nothing ends it but its body", () => {
  expect(observe([record([{ text: "Hi" }])])).toEqual({ terminated: false, complete: false });
  expect(
    observe([record([{ text: "Hi" }]), { ...record([{ text: "." }], "STOP"), usageMetadata }]),
  ).toMatchObject({
    complete: true,
    finished: true,
    terminated: false,
    finish: { kind: "stop", raw: "STOP" },
    usage: { input: 9, output: 4, known: "final" },
  });
});

test("where Google runs code, weir does not cut the stream short behind a finish reason", () => {
  const code = { executableCode: { language: "PYTHON", code: "1" } };
  expect(observe([record([code]), record([{ text: "1" }], "STOP")])).toMatchObject({
    complete: true,
    finished: false,
  });
});

test("a blocked prompt completes a stream; an error and a malformed call fail it", () => {
  expect(observe([{ promptFeedback: { blockReason: "SAFETY" } }])).toMatchObject({
    complete: true,
    finish: { kind: "content-filter" },
  });
  const error = { error: { code: 503, message: "overloaded", status: "UNAVAILABLE" } };
  expect(observe([record([{ text: "Hi" }]), error]).error?.kind).toBe("overloaded");
  expect(observe([record([], "MALFORMED_FUNCTION_CALL")]).error?.code).toBe("malformed_tool_call");
});

test("a JSON answer is complete as it is", () => {
  const seen: StreamSummary = { terminated: false, complete: false };
  watch.answer({ ...record([{ text: "Hi" }], "MAX_TOKENS"), usageMetadata }, seen);
  expect(seen).toMatchObject({ complete: true, terminated: true, finish: { kind: "length" } });
});

test("signatures of other vendors do not pass to Google, and parts of nothing else go with them", () => {
  const sealed = Buffer.from("weir1.anthropic.U0lH").toString("base64");
  const body = {
    contents: [
      { role: "user", parts: [{ text: "q" }] },
      { role: "model", parts: [{ text: "", thoughtSignature: sealed }] },
      {
        role: "model",
        parts: [
          { text: "hm", thought: true, thoughtSignature: sealed },
          { functionCall: { name: "f" }, thoughtSignature: sealed },
          { text: "a", thoughtSignature: "b3du" },
        ],
      },
    ],
  };
  const context = makeContext({ sameFormat: true });
  expect(upstream.native.withoutSealed!(body, context)).toEqual({
    contents: [
      { role: "user", parts: [{ text: "q" }] },
      { role: "model", parts: [{ functionCall: { name: "f" } }, { text: "a", thoughtSignature: "b3du" }] },
    ],
  });
  expect(lossesOf(context)).toEqual([
    "dropped:contents[1].parts[0]",
    "dropped:contents[2].parts[0]",
    "dropped:contents[2].parts[1]",
  ]);
  const newer = upstream.native.withoutSealed!(
    body,
    makeContext({ sameFormat: true, model: "gemini-3-flash-preview" }),
  );
  expect(JSON.stringify(newer)).toContain('"thoughtSignature":"skip_thought_signature_validator"');
  const clean = { contents: [{ parts: [{ text: "a", thoughtSignature: "b3du" }] }] };
  expect(upstream.native.withoutSealed!(clean, context)).toBe(clean);
});
