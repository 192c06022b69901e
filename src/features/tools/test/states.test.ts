/** What clients keep for weir between two requests, and calls that wait for them: each is good for what it was made for. */
import { afterEach, describe, expect, setSystemTime, test } from "bun:test";
import type { JsonObject } from "../../../core/json.ts";
import type { Exchange } from "../bridge/exchange.ts";
import { Forwarder } from "../bridge/forward.ts";
import { ParkedCalls } from "../bridge/parked.ts";
import { Seal } from "../bridge/seal.ts";
import type { Connection, Outgoing } from "../servers/connection.ts";
import type { Era } from "../wire/revisions.ts";
import { text } from "./support/servers.ts";

const ABLE = { elicitation: { form: {} } };
const CALL = {
  server: "one",
  method: "tools/call",
  params: { name: "greet", arguments: { a: 1 } },
  samples: 0,
};
const ANSWER = { action: "accept", content: { name: "Anna" } };
/** Longest wait for the client in these tests. Milliseconds. */
const WAIT_MS = 40;

const exchange = (caller = "alice"): Exchange => ({
  ...{ caller: { id: caller, servers: ["one"], pin: "off" as const }, era: "modern" as const },
  client: { capabilities: ABLE, info: {} },
  ...{ stop: new AbortController().signal, notify: () => {}, params: {} },
  ask: () => Promise.reject(new Error("modern clients are not asked during a request")),
});

/** Asks for a name, in the way of its era. */
function server(era: Era) {
  const seen: JsonObject[] = [];
  const stopped: unknown[] = [];
  const wish = { method: "elicitation/create", params: { message: "?" } };
  const request = async ({ params, ask, stop }: Outgoing) => {
    seen.push(params);
    if (era === "modern")
      return params["inputResponses"] === undefined
        ? {
            result: {
              resultType: "input_required",
              inputRequests: { who: wish },
              requestState: "inner state",
            },
          }
        : { result: { ...text(String(params["requestState"])), resultType: "complete" } };
    stop.addEventListener("abort", () => stopped.push(stop.reason));
    const ended = new Promise<never>((_, reject) =>
      stop.addEventListener("abort", () => reject(stop.reason)),
    );
    const answered = await Promise.race([ask(wish.method, wish.params), ended]);
    return { result: text(JSON.stringify(answered)) };
  };
  const connection: Connection = {
    ...{ era, facts: { version: "1", capabilities: {}, info: {} }, request },
    ...{ notify: () => {}, close: async () => {} },
  };
  return { connection, seen, stopped };
}

function stage(era: Era, waitMs?: number) {
  const parked = new ParkedCalls(waitMs);
  const forwarder = new Forwarder(new Seal(), parked);
  const one = server(era);
  const send = (params: JsonObject = CALL.params, caller = "alice", more: Partial<typeof CALL> = {}) =>
    forwarder.forward(exchange(caller), one.connection, { ...CALL, ...more, params });
  const begin = async (caller = "alice") => {
    const answered = await send(CALL.params, caller);
    const { requestState, inputRequests } = (answered as { result: JsonObject }).result;
    const inputResponses = Object.fromEntries(
      Object.keys(inputRequests as JsonObject).map((key) => [key, ANSWER]),
    );
    return { ...CALL.params, requestState: requestState as string, inputResponses };
  };
  return { ...one, parked, send, begin };
}

const REFUSED = expect.objectContaining({ code: -32602, status: 400 });

afterEach(() => void setSystemTime());

describe.each(["modern", "legacy"] as const)("a state for a %s server", (era) => {
  test("is refused with any bit changed, for another caller, tool, argument, method or server", async () => {
    const { send, begin, seen } = stage(era);
    const again = await begin();
    const before = seen.length;
    const bytes = Buffer.from(again.requestState, "base64url");
    for (let at = 0; at < bytes.length; at++)
      for (let bit = 0; bit < 8; bit++) {
        const changed = Buffer.from(bytes);
        changed[at]! ^= 1 << bit;
        await expect(send({ ...again, requestState: changed.toString("base64url") })).rejects.toEqual(
          REFUSED,
        );
      }
    for (const wrong of [
      send(again, "bob"),
      send({ ...again, name: "other" }),
      send({ ...again, arguments: { a: 2 } }),
      send(again, "alice", { method: "prompts/get" }),
      send(again, "alice", { server: "two" }),
      send({ ...again, requestState: again.requestState.slice(1) }),
      send({ ...again, requestState: `${again.requestState}A` }),
      send({ ...again, requestState: "" }),
    ])
      await expect(wrong).rejects.toEqual(REFUSED);
    expect(seen.length).toBe(before);
    expect(JSON.stringify(await send(again))).toContain(era === "modern" ? "inner state" : "Anna");
  });

  test("is refused after ten minutes", async () => {
    const { send, begin } = stage(era);
    const again = await begin();
    setSystemTime(new Date(Date.now() + 601_000));
    await expect(send(again)).rejects.toEqual(REFUSED);
    setSystemTime(new Date(Date.now() - 2_000));
    expect(JSON.stringify(await send(again))).toContain(era === "modern" ? "inner state" : "Anna");
  });

  test("of another process is refused", async () => {
    const again = await stage(era).begin();
    await expect(stage(era).send(again)).rejects.toEqual(REFUSED);
  });
});

test("a call whose client does not come back is cancelled at its server, and is gone", async () => {
  const { send, begin, stopped, parked } = stage("legacy", WAIT_MS);
  const again = await begin();
  expect([parked.size, stopped]).toEqual([1, []]);
  await Bun.sleep(5 * WAIT_MS);
  expect([parked.size, stopped.map(String)]).toEqual([0, ["Error: the client did not answer within 0.04 s"]]);
  await expect(send(again)).rejects.toMatchObject({
    code: -32603,
    message: expect.stringContaining("the waiting call ended"),
  });
});

test("a call whose client comes back in time is not cancelled later", async () => {
  const { send, begin, stopped } = stage("legacy", WAIT_MS);
  expect(JSON.stringify(await send(await begin()))).toContain("Anna");
  await Bun.sleep(5 * WAIT_MS);
  expect(stopped).toEqual([]);
});

test("the 17th call of a caller that waits is refused and cancelled, and the 257th of all", async () => {
  const { begin, parked, stopped } = stage("legacy");
  for (let at = 0; at < 16; at++) await begin();
  const tooMany = { code: 1001, status: 429, data: { code: "too_many_waiting_calls", retryAfter: 60 } };
  await expect(begin()).rejects.toMatchObject(tooMany);
  expect([parked.size, stopped.length]).toEqual([16, 1]);
  for (let at = 16; at < 256; at++) await begin(`caller ${at % 15}`);
  await expect(begin("new")).rejects.toMatchObject(tooMany);
  expect([parked.size, stopped.length]).toEqual([256, 2]);
  parked.close(new Error("over"));
  expect(stopped.length).toBe(258);
});
