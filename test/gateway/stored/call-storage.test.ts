/** Stored answers when the store fails: the client learns the truth, and no call fails that need not. */
import { describe, expect, test } from "bun:test";
import type { AnswerStore } from "../../../src/core/answer-store.ts";
import { Attempt, Call } from "../../../src/core/call.ts";
import { GatewayError } from "../../../src/core/error.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import type { Target } from "../../../src/core/provider.ts";
import { responsesFormat } from "../../../src/formats/responses/index.ts";
import { CallStorage } from "../../../src/gateway/stored/call-storage.ts";
import type { Incoming } from "../../../src/gateway/types.ts";
import { scanBody } from "../../../src/stream/scan.ts";

const broken = () => Promise.reject(new Error("the keeper is gone"));

const BROKEN: AnswerStore = {
  put: broken,
  get: broken,
  chain: broken,
  items: broken,
  inputItems: broken,
  amend: broken,
  list: broken,
  delete: broken,
};

const answerOptions = {
  commitMs: 1000,
  keepMs: 1000,
  foreignIds: "refuse" as const,
  hasSeveralKeys: () => true,
};

function incomingOf(body: JsonObject): Incoming {
  const bytes = Buffer.from(JSON.stringify(body));
  const { members } = scanBody(bytes, 99);
  const call = new Call("req_1", "responses", new Headers());
  return { call, format: responsesFormat, bytes, body, spanOf: (name) => members.get(name) };
}

const target = {
  provider: { name: "p" },
  deployment: { name: "p" },
  lane: "translated",
  format: "messages",
} as unknown as Target;

const ANSWER = { id: "resp_1", status: "completed", store: true, output: [] };

describe("a store that fails", () => {
  test("fails no call that continues nothing, and its answer is not called stored", async () => {
    const incoming = incomingOf({ model: "m", input: "hi" });
    const stored = CallStorage.open(incoming, { answers: BROKEN, answerOptions });
    // No promise: such a call waits for nothing.
    expect(stored).toBeInstanceOf(CallStorage);
    const attempt = new Attempt(incoming.call, target);
    expect(await (stored as CallStorage).keep(ANSWER, attempt)).toBe(false);
    expect(attempt.losses.map(({ code, path }) => `${code}:${path}`)).toEqual(["dropped:store"]);
  });

  test("makes a continuation fail with an error that the client may retry", async () => {
    for (const body of [
      { model: "m", input: "hi", previous_response_id: "resp_1" },
      { model: "m", input: [{ type: "item_reference", id: "msg_1" }] },
    ]) {
      const failed = await Promise.resolve(
        CallStorage.open(incomingOf(body), { answers: BROKEN, answerOptions }),
      ).catch((error: unknown) => error);
      expect(failed).toBeInstanceOf(GatewayError);
      expect((failed as GatewayError).code).toBe("store_unavailable");
      expect((failed as GatewayError).status).toBe(503);
    }
  });
});

test("an answer that is stored too late is not called stored", async () => {
  const incoming = incomingOf({ model: "m", input: "hi" });
  const answers: AnswerStore = { ...BROKEN, put: async () => "late" };
  const stored = (await CallStorage.open(incoming, { answers, answerOptions })) as CallStorage;
  const attempt = new Attempt(incoming.call, target);
  expect(await stored.keep(ANSWER, attempt)).toBe(false);
  expect(attempt.losses[0]!.note).toContain("in time");
});

test("a failed answer is not given to the store", async () => {
  const incoming = incomingOf({ model: "m", input: "hi" });
  let puts = 0;
  const answers: AnswerStore = { ...BROKEN, put: async () => (puts++, "stored") };
  const stored = (await CallStorage.open(incoming, { answers, answerOptions })) as CallStorage;
  const attempt = new Attempt(incoming.call, target);
  for (const status of ["failed", "cancelled", "in_progress"])
    expect(await stored.keep({ ...ANSWER, status }, attempt)).toBe(false);
  expect(await stored.keep({ ...ANSWER, status: "incomplete" }, attempt)).toBe(true);
  expect(puts).toBe(1);
});

test("a conversation of more answers than the limit is refused", async () => {
  const answers: AnswerStore = { ...BROKEN, chain: async () => "too-long" };
  const body = { model: "m", input: "hi", previous_response_id: "resp_1" };
  const failed = await Promise.resolve(CallStorage.open(incomingOf(body), { answers, answerOptions })).catch(
    (error: unknown) => error,
  );
  expect([(failed as GatewayError).status, (failed as GatewayError).param]).toEqual([
    400,
    "previous_response_id",
  ]);
});
