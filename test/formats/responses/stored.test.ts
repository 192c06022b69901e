/** What weir stores of an answer, and what it makes of that later. */
import { afterEach, describe, expect, setSystemTime, test } from "bun:test";
import type { JsonObject } from "../../../src/core/json.ts";
import type { StoredAnswer } from "../../../src/core/stored-answer.ts";
import { NO_USAGE } from "../../../src/core/events.ts";
import { writeStream } from "../../../src/formats/responses/client/answer.ts";
import { stored } from "../../../src/formats/responses/client/stored.ts";
import { makeContext } from "../../helpers/codec-context.ts";

afterEach(() => setSystemTime());

test("the last event of a stream is the stored answer, also if it comes seconds after it", () => {
  const writer = writeStream({ ...makeContext(), storesAnswer: true });
  setSystemTime(new Date("2026-01-01T00:00:00Z"));
  writer.push({ type: "message-start", id: "a", model: "m" });
  writer.push({ type: "message-end", reason: { kind: "stop" }, usage: NO_USAGE });
  const answer = writer.answer!();
  setSystemTime(new Date("2026-01-01T00:00:09Z"));
  const [last] = writer.end({ isStored: true });
  expect((JSON.parse(last!.data) as { response: JsonObject }).response).toEqual(answer);
});

describe("an answer", () => {
  const answer = {
    ...{ id: "resp_1", status: "completed", store: true, metadata: { a: "b" } },
    output: [
      { id: "msg_1", type: "message" },
      { type: "function_call", call_id: "c" },
    ],
  };

  test("comes back as it was, with items that have no id", () => {
    const parts = stored.split(answer)!;
    expect(parts.output.map(({ id }) => id)).toEqual(["msg_1", expect.stringMatching(/^fc_w1[a-z2-7]{24}$/)]);
    expect(stored.join({ ...parts, input: [] } as unknown as StoredAnswer)).toEqual(answer);
  });

  test("that failed or has not ended is not stored", () => {
    for (const status of ["failed", "cancelled", "queued", "in_progress"])
      expect(stored.split({ ...answer, status })).toBeUndefined();
  });
});

describe("input items", () => {
  test("have ids of their own that depend on the answer and their place, and no control signals among them", () => {
    const body = {
      input: [{ role: "user", content: "a" }, { role: "user", content: "a" }, { type: "compaction_trigger" }],
    };
    const ids = (answer: string) => stored.inputItems(body, answer).map(({ id }) => id);
    expect(ids("resp_1")).toEqual(ids("resp_1"));
    expect(new Set([...ids("resp_1"), ...ids("resp_2")]).size).toBe(4);
  });

  test("are stored as the client wrote them: a repeated prompt keeps its bytes", () => {
    const item = { role: "user", content: [{ type: "input_text", text: "a" }], custom: null };
    expect(stored.inputItems({ input: [item] }, "resp_1")[0]!.value).toBe(item);
    expect(stored.inputItems({ input: "hi" }, "resp_1")[0]!.value).toEqual({
      ...{ type: "message", role: "user", content: "hi" },
    });
    expect(stored.inputItems({ input: "" }, "resp_1")).toEqual([]);
  });
});

test("a provider that does not know weir's ids gets none of them, and no reasoning that is only an id", () => {
  const own = (prefix: string) => `${prefix}_w1${"a".repeat(24)}`;
  const input = [
    { id: own("rs"), type: "reasoning", summary: [] },
    { id: own("rs"), type: "reasoning", summary: [], encrypted_content: "e" },
    { id: own("msg"), type: "message", role: "assistant", content: [] },
    { id: "msg_0a1b", type: "message", role: "assistant", content: [] },
  ];
  const body = { model: "m", previous_response_id: "resp_1", store: true, input };
  expect(stored.detached(body, false)).toEqual({
    ...{ model: "m", store: false },
    input: [
      { type: "reasoning", summary: [], encrypted_content: "e" },
      { type: "message", role: "assistant", content: [] },
      { id: "msg_0a1b", type: "message", role: "assistant", content: [] },
    ],
  });
  expect(stored.detached(body, true).store).toBe(true);
});
