/** The live stream: what a reader gets, how it is thinned, and what a reader that sleeps costs. */
import { expect, test } from "bun:test";
import { LiveReader, type LiveSource } from "../../src/admin/live.ts";
import type { LiveEvents } from "../../src/operator/live.ts";
import type { CallRecord } from "../../src/ledger/record.ts";
import { call } from "../keeper/books/make.ts";
import { ADMIN_HOST, fakeAdmin, RUN_CREDENTIAL } from "../helpers/admin.ts";
import { until } from "../helpers/serving.ts";

type Event = { [Name in keyof LiveEvents]: { name: Name; data: LiveEvents[Name] } }[keyof LiveEvents];

function start(more: Partial<LiveSource> = {}) {
  let send: (calls: readonly CallRecord[]) => void = () => {};
  const left: string[] = [];
  const stream = new LiveReader({
    watch(receive) {
      send = receive;
      return () => left.push("left");
    },
    matches: ({ outcome }) => outcome === "failed",
    show: (calls) => calls,
    running: () => ({ at: 0, total: 3, held: 7, calls: [] }),
    isFaulty: () => false,
    isAllowed: () => true,
    now: Date.now,
    ...more,
  }).stream();
  const reader = stream.getReader();
  return {
    left,
    reader,
    end: (...calls: readonly CallRecord[]) => send(calls),
    async next(): Promise<Event> {
      const { value } = await reader.read();
      const [, name, data] = /^event: (\w+)\ndata: (.*)\n\n$/.exec(new TextDecoder().decode(value))!;
      return { name, data: JSON.parse(data!) as unknown } as Event;
    },
  };
}

const failed = (startedAt: number) => call({ startedAt, outcome: "failed" });

test("a reader learns at once what runs, then of the calls that match, the oldest first", async () => {
  const { next, end, reader, left } = start();
  expect(await next()).toMatchObject({ name: "running" });
  expect(await next()).toMatchObject({
    name: "pulse",
    data: { running: 3, held: 7, skipped: 0, behind: false },
  });
  end(call(), failed(2), failed(1));
  const { name, data } = await next();
  expect([name, (data as LiveEvents["calls"]).calls.map(({ startedAt }) => startedAt)]).toEqual([
    "calls",
    [1, 2],
  ]);
  await reader.cancel();
  expect(left).toEqual(["left"]);
});

test("a thousand calls at once are one event of eight, which says how many there were", async () => {
  const { next, end, reader } = start();
  await next();
  await next();
  end(...Array.from({ length: 1_000 }, (_, at) => failed(at)));
  const { data } = (await next()) as Event & { name: "calls" };
  expect([data.matched, data.calls.length, data.calls.at(-1)!.startedAt]).toEqual([1_000, 8, 999]);
  let pulse = await next();
  while (pulse.name !== "pulse") pulse = await next();
  expect([pulse.data.perSecond, pulse.data.failedPerSecond]).toEqual([200, 200]);
  await reader.cancel();
});

test("a reader that sleeps gets the newest of what it missed, and learns how much that was", async () => {
  let now = 1_000_000;
  let faulty = false;
  const { next, end, reader } = start({ now: () => now, isFaulty: () => faulty });
  await next();
  // Nothing is kept for it but the last eight calls and the last states.
  for (let round = 0; round < 200; round++) {
    now += 1_000;
    end(...Array.from({ length: 1_000 }, (_, at) => failed(round * 1_000 + at)));
    if (round % 100 === 0) await Bun.sleep(260);
  }
  faulty = true;
  now += 1_000;
  await Bun.sleep(600);
  const events: Event[] = [await next(), await next()];
  const calls = events.find((event) => event.name === "calls")!.data as LiveEvents["calls"];
  expect([calls.matched, calls.calls.length, calls.calls.at(-1)!.startedAt]).toEqual([200_000, 8, 199_999]);
  const pulse = events.find((event) => event.name === "pulse")!.data as LiveEvents["pulse"];
  expect(pulse.behind).toBe(true);
  expect(pulse.skipped).toBeGreaterThan(0);
  await reader.cancel();
});

test("a stream over the admin API is left when its client goes", async () => {
  const { server, books } = fakeAdmin();
  const request = new Request(`http://${ADMIN_HOST}/admin/v1/calls/live?outcome=failed`, {
    headers: { host: ADMIN_HOST, authorization: `Bearer ${RUN_CREDENTIAL}` },
  });
  const response = await server.handle(request, "127.0.0.1");
  expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  const reader = response.body!.getReader();
  books.end(call(), failed(5));
  let text = "";
  await until(async () => {
    text += new TextDecoder().decode((await reader.read()).value as Uint8Array);
    return text.includes("event: calls");
  });
  expect(text.split("event: calls")[1]).toContain('"matched":1');
  await reader.cancel();
});
