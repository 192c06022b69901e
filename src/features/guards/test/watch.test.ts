/** A guard that has stopped, or cannot judge, is told of, although it says nothing itself. */
import { afterEach, expect, setDefaultTimeout, setSystemTime, test } from "bun:test";
import { startGateway } from "../../../../test/helpers/gateway.ts";
import { ask, until } from "../../../../test/helpers/serving.ts";
import { attemptRecord, callRecord, startReceiver } from "../../../../test/helpers/telemetry.ts";
import type { Warning } from "../../../core/warning.ts";
import type { CallRecord } from "../../../ledger/record.ts";
import { Guards } from "../around.ts";
import type { GuardFacts } from "../columns.ts";
import type { Verdict } from "../declarations.ts";
import { GuardWatch, type Watched } from "../watch/watch.ts";

setDefaultTimeout(60_000);

const MINUTE = 60_000;

function setUp(guard: Partial<Watched> = {}) {
  const warnings: Warning[] = [];
  const log: string[] = [];
  const watch = new GuardWatch({
    warn: (warning) => void warnings.push(warning),
    report: (sentence) => void log.push(sentence),
    keyName: (id) => id.replace("key_", ""),
  });
  watch.guards = [{ name: "pii", does: "replace", finds: ["email"], judgesAll: true, ...guard }];
  /** `condition begins` of what was said since the last look. */
  const news = () =>
    warnings.splice(0).map(({ condition, isOver }) => `${condition} ${isOver ? "ends" : "begins"}`);
  return { watch, warnings, log, news };
}

/** @param verdict undefined: the guard is not in the record */
function call(minute: number, verdict: Verdict | undefined, more: Partial<CallRecord> = {}): CallRecord {
  const facts: GuardFacts | undefined = verdict && {
    ...{ name: "pii", verdict, mode: "window", count: 0, kinds: {}, ms: 0 },
    phases: verdict === "not-inspected" ? {} : { input: verdict },
  };
  return {
    ...callRecord({ startedAt: minute * MINUTE, ms: 0, attempts: [attemptRecord()], ...more }),
    ...(facts && { guards: [facts] }),
  };
}

test("a guard that is in no record for an hour has stopped; its next verdict ends that", () => {
  const { watch, news, log } = setUp();
  watch.records([call(0, "passed")]);
  for (let minute = 1; minute < 61; minute++) watch.records([call(minute, undefined)]);
  expect(news()).toEqual([]);
  watch.records([call(61, undefined)]);
  watch.records([call(62, undefined)]);
  expect(news()).toEqual(["silent begins", "silent begins"]);
  expect(log).toEqual(['the guard "pii" has judged nothing for an hour: 61 calls went past it']);
  watch.records([call(63, "replaced")]);
  expect(news()).toEqual(["silent ends"]);
});

test("a guard that has read nothing for an hour has stopped, too", () => {
  const { watch, news } = setUp();
  watch.records([call(0, "not-inspected"), call(59, "not-inspected")]);
  expect(news()).toEqual([]);
  watch.records([call(60, "not-inspected")]);
  expect(news()).toEqual(["silent begins"]);
});

test("an hour without calls is no silence", () => {
  const { watch, news } = setUp();
  watch.records([call(0, "passed"), call(300, undefined), call(301, "passed"), call(600, undefined)]);
  expect(news()).toEqual([]);
});

const NOT_ITS: [string, Partial<Watched>, Partial<CallRecord>][] = [
  ["another key", { keys: ["bob"] }, { key: "key_anna", path: "/eng" }],
  ["another path", { keys: ["/ops"] }, { key: "key_anna", path: "/operations" }],
  ["another model", { models: ["openai/*"] }, {}],
  ["a model that may see everything", { unless: ["host/*"] }, {}],
  ["results of tools only", { judgesAll: false }, {}],
  ["no provider was asked", {}, { attempts: [] }],
  ["no answer", {}, { attempts: [attemptRecord({ class: "status" })] }],
  ["the client left", {}, { outcome: "cancelled" }],
];
for (const [name, guard, record] of NOT_ITS)
  test(`calls of others do not count: ${name}`, () => {
    const { watch, news } = setUp(guard);
    const target = { provider: "host", model: "m" };
    for (const minute of [0, 30, 60, 90])
      watch.records([call(minute, undefined, { attempts: [attemptRecord(target)], ...record })]);
    expect(news()).toEqual([]);
  });

const ITS: [string, Partial<Watched>, Partial<CallRecord>][] = [
  ["its key", { keys: ["bob"] }, { key: "key_bob", path: "/eng" }],
  ["below its path", { keys: ["/eng"] }, { key: "key_bob", path: "/eng/search" }],
  ["its model", { models: ["host/*"] }, {}],
];
for (const [name, guard, record] of ITS)
  test(`calls of the guard count: ${name}`, () => {
    const { watch, news } = setUp(guard);
    const target = { provider: "host", model: "m" };
    for (const minute of [0, 60])
      watch.records([call(minute, undefined, { attempts: [attemptRecord(target)], ...record })]);
    expect(news()).toEqual(["silent begins"]);
  });

test("a guard that cannot judge is told of at once, and is over after five minutes without", () => {
  const { watch, news } = setUp();
  watch.records([call(0, "unavailable"), call(1, "unavailable")]);
  expect(news()).toEqual(["unavailable begins", "unavailable begins"]);
  watch.tick(5.9 * MINUTE);
  expect(news()).toEqual(["unavailable begins"]);
  watch.tick(6 * MINUTE);
  watch.tick(7 * MINUTE);
  expect(news()).toEqual(["unavailable ends"]);
});

test("a guard that the config no longer has is over", () => {
  const { watch, news } = setUp();
  watch.records([call(0, "unavailable")]);
  watch.guards = [];
  watch.records([call(1, "unavailable")]);
  expect(news()).toEqual(["unavailable begins", "unavailable ends"]);
});

const run = Guards.prototype.run;
afterEach(() => {
  Guards.prototype.run = run;
  setSystemTime();
});

test("a gateway whose guard stops alerts after an hour of calls", async () => {
  const receiver = startReceiver();
  const running = await startGateway({
    target: "source",
    config: {
      ...{ state: "none", workers: 1 },
      alerts: [{ to: receiver.url, events: ["guard"] }],
      guards: { pii: { find: ["email"], do: "replace" } },
    },
  });
  try {
    await running.opened();
    await ask(running.url, "mock/chat");
    // The plant: calls go past the guard.
    Guards.prototype.run = (_, next) => next();
    await ask(running.url, "mock/chat");
    await Bun.sleep(1_500);
    expect(receiver.received).toEqual([]);
    setSystemTime(Date.now() + 61 * MINUTE);
    await ask(running.url, "mock/chat");
    expect(await until(() => receiver.received.length > 0, 10_000)).toBe(true);
    expect(JSON.parse(receiver.received[0]!.body)).toMatchObject({
      ...{ event: "guard", state: "begins", subject: "pii" },
      facts: { guard: "pii", calls: 2 },
    });
    const logged = () =>
      running.log.join("\n").includes("has judged nothing for an hour: 2 calls went past it");
    expect(await until(logged, 10_000)).toBe(true);
  } finally {
    setSystemTime();
    await running.stop();
    await receiver.stop();
  }
});
