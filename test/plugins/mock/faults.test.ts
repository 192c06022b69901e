import { describe, expect, spyOn, test } from "bun:test";
import { GatewayError } from "../../../src/core/error.ts";
import type { ChatEvent } from "../../../src/core/events.ts";
import { CANARY, mock, mockModels } from "../../../plugins/mock/index.ts";
import { checkBrokenEvents, checkEvents, textOf } from "../../helpers/describe-events.ts";
import { ask, askAll, askFailing, attemptFor, endOf, request } from "./ask.ts";

/** What `error-<status>` throws: kind, status towards the client, code, seconds. */
const ERRORS: Record<number, [string, number, string | undefined, number | undefined]> = {
  400: ["invalid-request", 400, "invalid_value", undefined],
  401: ["upstream-auth", 502, "upstream_auth", undefined],
  402: ["upstream-auth", 502, "upstream_auth", undefined],
  403: ["upstream-auth", 502, "upstream_auth", undefined],
  404: ["not-found", 404, "model_not_found", undefined],
  408: ["timeout", 504, "timeout", undefined],
  409: ["conflict", 409, undefined, undefined],
  413: ["too-large", 413, "request_too_large", undefined],
  422: ["invalid-request", 422, "invalid_value", undefined],
  429: ["rate-limited", 429, "rate_limit_exceeded", 1],
  500: ["upstream", 502, "upstream_error", undefined],
  502: ["upstream", 502, "upstream_error", undefined],
  503: ["overloaded", 503, "server_is_overloaded", 1],
  504: ["timeout", 504, "timeout", undefined],
  529: ["overloaded", 503, "server_is_overloaded", 1],
};

describe("mock/error-<status>", () => {
  for (const [status, [kind, seen, code, retryAfter]] of Object.entries(ERRORS))
    test(status, async () => {
      const { events, thrown } = await askFailing(request(`error-${status}`, "Go"));
      expect(events).toEqual([]);
      expect(thrown).toBeInstanceOf(GatewayError);
      expect(thrown).toMatchObject({ kind, status: seen, code, retryAfter });
    });
});

describe("what else providers do", () => {
  const cases: [string, object][] = [
    ["html-500", { kind: "upstream", status: 502 }],
    ["html-529", { kind: "overloaded", status: 503 }],
    ["rate-limited-7", { kind: "rate-limited", status: 429, retryAfter: 7 }],
    ["context-length", { kind: "invalid-request", status: 400, code: "context_length_exceeded" }],
  ];
  for (const [name, wanted] of cases)
    test(name, async () => {
      const { events, thrown } = await askFailing(request(name, "Go"));
      expect(events).toEqual([]);
      expect(thrown).toMatchObject(wanted);
    });

  test("garbled-after-2", async () => {
    const { events, thrown } = await askFailing(request("garbled-after-2", "Go"));
    expect(events.filter((event) => event.type === "block-delta").length).toBe(2);
    expect(thrown).toMatchObject({ code: "upstream_invalid_answer" });
  });

  test("content-filter", async () => {
    const events = await askAll(request("content-filter", "Go"));
    checkEvents(events);
    expect(events.at(-1)).toMatchObject({ type: "message-end", reason: { kind: "content-filter" } });
  });
});

describe("names", () => {
  for (const name of [
    "nothing",
    "error-418",
    "error-",
    "error-429x",
    "flaky-101",
    "pace-9999999",
    "toString",
  ])
    test(`${name} is unknown, and the sentence says what there is`, async () => {
      const { thrown } = await askFailing(request(name, "Go"));
      expect(thrown).toMatchObject({ kind: "not-found", code: "model_not_found", param: "model" });
      for (const model of mockModels) expect((thrown as Error).message).toContain(model.name);
    });

  test("every model is described, and every name in the catalog is one", async () => {
    expect(mockModels.every((model) => model.description.endsWith("."))).toBe(true);
    const names = mock.providers![0]!.catalog!;
    expect(names).toHaveLength(mockModels.length);
    for (const name of names) {
      const attempt = attemptFor(name);
      const thrown = await firstOf(ask(request(name, "Go"), attempt), attempt).catch(
        (error: unknown) => error,
      );
      expect(thrown).not.toMatchObject({ message: expect.stringContaining("has no model") });
    }
  });
});

/** The first event, or nothing when there is none within 5 ms. */
async function firstOf(events: AsyncIterable<ChatEvent>, attempt: ReturnType<typeof attemptFor>) {
  const timer = setTimeout(() => attempt.call.abort(new GatewayError("cancelled", "Enough.")), 5);
  try {
    for await (const event of events) return event;
  } finally {
    clearTimeout(timer);
  }
}

describe("breaks", () => {
  const cuts: [string, string, string][] = [
    ["cut", "upstream", "stream_incomplete"],
    ["cut-after-3", "upstream", "stream_incomplete"],
    ["overloaded-mid-stream", "overloaded", "server_is_overloaded"],
  ];
  for (const [model, kind, code] of cuts)
    test(`${model} gives a part of the answer and throws`, async () => {
      const { events, thrown } = await askFailing(request(model, "Go"));
      checkBrokenEvents(events);
      expect(events.some((event) => event.type === "block-delta")).toBe(true);
      expect(thrown).toMatchObject({ kind, code });
    });

  test("the number says after how many tokens", async () => {
    for (const count of [0, 1, 5]) {
      const { events } = await askFailing(request(`cut-after-${count}`, "Go"));
      expect(events.filter((event) => event.type === "block-delta")).toHaveLength(count);
    }
  });

  test("an answer that is shorter than the number breaks off before its end", async () => {
    const { events } = await askFailing(request("cut-after-9999", "Go", { maxTokens: 5 }));
    checkBrokenEvents(events);
    expect(events.filter((event) => event.type === "block-delta")).toHaveLength(5);
  });

  test("throw throws what no gateway knows", async () => {
    const { events, thrown } = await askFailing(request("throw", "Go"));
    expect(events).toEqual([]);
    expect(thrown).not.toBeInstanceOf(GatewayError);
    expect((thrown as Error).message).toContain(CANARY);
    expect(GatewayError.from(thrown).message).not.toContain(CANARY);
  });

  test("flaky fails in its share of calls, evenly spread", async () => {
    const outcomes: string[] = [];
    for (let call = 0; call < 8; call++)
      outcomes.push(
        await askAll(request("flaky-25", "Go")).then(
          () => "ok",
          (error: GatewayError) => error.kind,
        ),
      );
    expect(outcomes.filter((outcome) => outcome === "overloaded")).toHaveLength(2);
    expect(outcomes.filter((outcome) => outcome === "ok")).toHaveLength(6);
    for (const share of [0, 100]) {
      const failed = await askAll(request(`flaky-${share}`, "Go")).then(
        () => false,
        () => true,
      );
      expect(failed).toBe(share === 100);
    }
  });
});

describe("time", () => {
  test("pace-<ms> lets so much time pass before each token", async () => {
    const before = performance.now();
    const events = await askAll(request("pace-10", "Go", { maxTokens: 5 }));
    checkEvents(events);
    expect(performance.now() - before).toBeGreaterThanOrEqual(45);
  });

  test("slow takes its time as well", async () => {
    const before = performance.now();
    await askAll(request("slow", "Go", { maxTokens: 1 }));
    expect(performance.now() - before).toBeGreaterThanOrEqual(95);
  });

  test("slow-start-<ms> is silent first, and then whole", async () => {
    const before = performance.now();
    const events = await askAll(request("slow-start-40", "Go"));
    expect(performance.now() - before).toBeGreaterThanOrEqual(35);
    expect(textOf(events)).toContain("weir's mock");
  });

  test("an answer at full speed lets others have their turn", async () => {
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    await askAll(request("long-20000", "Go"));
    clearInterval(timer);
    expect(turns).toBeGreaterThan(1);
  });
});

describe("an aborted call ends long before its answer would", () => {
  const gone = new GatewayError("cancelled", "The client left.");
  for (const model of ["stall", "stall-after-2", "slow", "pace-500", "slow-start-5000", "long-100000"])
    test(model, async () => {
      const attempt = attemptFor(model);
      let abortedAt = 0;
      setTimeout(() => {
        abortedAt = performance.now();
        attempt.call.abort(gone);
      }, 20);
      const thrown = await slowly(ask(request(model, "Go"), attempt)).catch((error: unknown) => error);
      expect(thrown).toBe(gone);
      // A bound for a busy machine; how quick it is, the wire tests print.
      expect(performance.now() - abortedAt).toBeLessThan(1000);
    });

  test("one that was aborted before gets nothing", async () => {
    for (const model of ["chat", "stall", "slow", "slow-start-50"]) {
      const attempt = attemptFor(model);
      attempt.call.abort(gone);
      const thrown = await askAll(request(model, "Go"), attempt).catch((error: unknown) => error);
      expect(thrown).toBe(gone);
    }
  });

  test("a stalled answer gives what it has first", async () => {
    const attempt = attemptFor("stall-after-2");
    const events: ChatEvent[] = [];
    setTimeout(() => attempt.call.abort(gone), 10);
    const reading = (async () => {
      for await (const event of ask(request("stall-after-2", "Go"), attempt)) events.push(event);
    })();
    expect(await reading.catch((error: unknown) => error)).toBe(gone);
    checkBrokenEvents(events);
    expect(events.filter((event) => event.type === "block-delta")).toHaveLength(2);
  });

  test("waiting leaves nothing behind on the signal", async () => {
    const attempt = attemptFor("pace-1");
    const added = spyOn(attempt.stop.signal, "addEventListener");
    const removed = spyOn(attempt.stop.signal, "removeEventListener");
    expect(endOf(await askAll(request("pace-1", "Go", { maxTokens: 3 }), attempt)).usage.output).toBe(3);
    expect(added).toHaveBeenCalledTimes(3);
    expect(removed.mock.calls.map(([, listener]) => listener)).toEqual(
      added.mock.calls.map(([, listener]) => listener),
    );
  });
});

/** Reads with a turn of the event loop after each event, as a socket does. */
async function slowly(events: AsyncIterable<ChatEvent>): Promise<void> {
  for await (const _event of events) await new Promise((resolve) => setImmediate(resolve));
}
