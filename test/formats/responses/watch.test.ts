/** What weir observes of answers that pass through the native lane. */
import { expect, test } from "bun:test";
import type { StreamSummary } from "../../../src/core/format.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { Tap } from "../../../src/stream/tap.ts";
import { upstream } from "./upstream.ts";

const usage = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 4 },
  output_tokens: 3,
  output_tokens_details: { reasoning_tokens: 1 },
};
const response = (more: JsonObject = {}): JsonObject => ({
  id: "resp_1",
  object: "response",
  store: true,
  output: [],
  error: null,
  ...more,
});
const created = { type: "response.created", response: response({ status: "in_progress" }) };

function observe(...events: JsonObject[]): StreamSummary {
  const tap = new Tap(upstream.native.watch);
  for (const event of events)
    tap.push(Buffer.from(`event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`));
  return tap.seen;
}

test("the id of the first event counts, and whether the provider stores the answer", () => {
  const end = {
    type: "response.completed",
    response: response({ id: "resp_2", status: "completed", usage }),
  };
  const seen = observe(created, end);
  expect(seen).toMatchObject({ answerId: "resp_1", isStored: true, terminated: true, complete: true });
  expect(seen.usage).toMatchObject({ input: 6, cacheRead: 4, output: 3, reasoning: 1, known: "final" });
  expect(seen.finish).toEqual({ kind: "stop", raw: "completed" });
});

test("an answer is not complete before its terminal event", () => {
  const delta = { type: "response.output_text.delta", delta: 'so "error"' };
  expect(observe(created, delta)).toMatchObject({ terminated: false, complete: false });
});

test("an incomplete answer is complete on the wire and says why it ended", () => {
  const details = { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } };
  const seen = observe(created, { type: "response.incomplete", response: response(details) });
  expect([seen.complete, seen.finish]).toEqual([true, { kind: "length", raw: "max_output_tokens" }]);
});

test("an error is seen, flat, nested, and as a failed response", () => {
  const error = { code: "server_error", message: "Broken." };
  for (const event of [
    { type: "error", ...error },
    { type: "error", error },
    { type: "response.failed", response: response({ status: "failed", error, usage }) },
  ])
    expect(observe(created, event).error?.message).toBe("Broken.");
});

test("a JSON answer says the same", () => {
  const seen: StreamSummary = { terminated: false, complete: false };
  upstream.native.watch.answer(response({ status: "completed", usage, store: false }), seen);
  expect(seen).toMatchObject({
    answerId: "resp_1",
    isStored: false,
    terminated: true,
    finish: { kind: "stop" },
  });
});

test("an answer in the background is no failure", () => {
  const seen: StreamSummary = { terminated: false, complete: false };
  upstream.native.watch.answer(response({ status: "queued" }), seen);
  expect([seen.error, seen.terminated]).toEqual([undefined, true]);
});
