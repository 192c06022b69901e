/** What is worth an alert, who gets it, and how often. */
import { expect, test } from "bun:test";
import { ALERT_EVENTS, type AlertTarget } from "../section.ts";
import type { Alert } from "../alert.ts";
import { Alerts } from "../alerts.ts";
import { callRecord, TestClock } from "../../../../test/helpers/telemetry.ts";

const ALL: AlertTarget = { url: "http://all", events: ALERT_EVENTS, format: "json", errorShare: 0.2 };

function setUp(...targets: AlertTarget[]) {
  const clock = new TestClock();
  const sent: { alert: Alert; url: string }[] = [];
  const alerts = new Alerts(clock, (alert, { url }) => void sent.push({ alert, url }));
  alerts.targets = targets.length > 0 ? targets : [ALL];
  /** `event state subject` of what was sent since the last look. */
  const news = () => sent.splice(0).map(({ alert }) => `${alert.event} ${alert.state} ${alert.subject}`);
  return { clock, sent, alerts, news };
}

const FAILING = { deployment: "host", state: "open", why: "failing", what: "500" } as const;
const REFUSED = { deployment: "host", state: "open", why: "refused", what: "401" } as const;

test("a failing deployment is reported once, over all workers, and again when it has answered for a minute", async () => {
  const { clock, alerts, news } = setUp();
  alerts.breakers(1, [FAILING]);
  alerts.breakers(2, [FAILING]);
  expect(news()).toEqual(["breaker begins host"]);
  alerts.breakers(1, []);
  await clock.pass(1_000);
  alerts.breakers(1, []);
  alerts.breakers(2, []);
  await clock.pass(59_000);
  expect(news()).toEqual([]);
  await clock.pass(1_000);
  expect(news()).toEqual(["breaker ends host"]);
});

test("a deployment that fails again within a minute is no news", async () => {
  const { clock, alerts, news } = setUp();
  for (let turn = 0; turn < 20; turn++) {
    alerts.breakers(1, turn % 2 === 0 ? [FAILING] : []);
    await clock.pass(5_000);
  }
  expect(news()).toEqual(["breaker begins host"]);
});

test("what a dead worker has said is forgotten", async () => {
  const { clock, alerts, news } = setUp();
  alerts.breakers(1, [FAILING]);
  news();
  for (let second = 0; second < 80; second++) {
    await clock.pass(1_000);
    alerts.breakers(2, []);
  }
  expect(news()).toEqual(["breaker ends host"]);
});

test("a refused credential is an event of its own, and a pause that a provider asks for is none", () => {
  const { alerts, news, sent } = setUp();
  alerts.breakers(1, [{ deployment: "busy", state: "open", why: "limited", what: "429" }, REFUSED]);
  expect(sent[0]!.alert.message).toContain("refuses weir's credential");
  expect(news()).toEqual(["credential begins host"]);
});

test("a budget is reported with its amounts", () => {
  const { alerts, sent } = setUp();
  alerts.budget({ name: "team", percent: 80, limit: 50e9, used: 41e9, endsAt: Date.UTC(2027, 1, 1) });
  expect(sent[0]!.alert).toMatchObject({
    event: "budget",
    state: "reached",
    subject: "team",
    message: 'the budget "team" has reached 80 % of $50.00; it resets on 2027-02-01 00:00 UTC',
    facts: { percent: 80, limit: 50, used: 41, endsAt: "2027-02-01T00:00:00.000Z" },
  });
});

test("a store that is away is reported after five seconds, a hiccup is not", async () => {
  const { clock, alerts, news } = setUp();
  alerts.store("the disk is full");
  await clock.pass(4_000);
  alerts.store(undefined);
  await clock.pass(120_000);
  expect(news()).toEqual([]);
  alerts.store("the disk is full");
  await clock.pass(5_000);
  expect(news()).toEqual(["store begins store"]);
  alerts.store(undefined);
  await clock.pass(60_000);
  expect(news()).toEqual(["store ends store"]);
});

test("a share of failed calls is reported from 20 calls on, to each receiver by its own threshold", async () => {
  const strict = { ...ALL, url: "http://strict", errorShare: 0.05 };
  const { clock, alerts, sent } = setUp(ALL, strict);
  const urls = () => sent.splice(0).map(({ alert, url }) => `${url} ${alert.state}`);
  const failed = callRecord({ outcome: "failed", status: 502 });
  alerts.records([...Array.from({ length: 17 }, () => callRecord()), failed, failed]);
  expect(urls()).toEqual([]);
  alerts.records([callRecord()]);
  expect(urls()).toEqual(["http://strict begins"]);
  alerts.records(Array.from({ length: 10 }, () => failed));
  expect(sent[0]!.alert.facts).toMatchObject({ calls: 30, failed: 12, threshold: 0.2 });
  expect(urls()).toEqual(["http://all begins"]);
  // The calls become older than five minutes.
  for (let turn = 0; turn < 40; turn++) {
    await clock.pass(10_000);
    alerts.breakers(1, []);
  }
  expect(urls().sort()).toEqual(["http://all ends", "http://strict ends"]);
});

test("mistakes of clients, refusals by rules of the gateway and calls that clients left do not count as failed", () => {
  const { alerts, news } = setUp();
  for (let call = 0; call < 30; call++)
    alerts.records([
      callRecord({ outcome: "failed", status: 400 }),
      callRecord({ outcome: "failed", status: 429, refused: "budget" }),
      callRecord({ outcome: "cancelled", status: 499 }),
    ]);
  expect(news()).toEqual([]);
});

test("a receiver gets the events that it asks for", () => {
  const { alerts, sent } = setUp(
    { ...ALL, events: ["budget"] },
    { ...ALL, url: "http://b", events: ["breaker"] },
  );
  alerts.breakers(1, [FAILING]);
  expect(sent.map(({ url }) => url)).toEqual(["http://b"]);
});

test("what another part of weir warns of is told once, and is over when it says so", async () => {
  const { clock, alerts, news } = setUp();
  const warning = { event: "guard", condition: "silent", subject: "pii", message: "it is silent", facts: {} };
  alerts.warned({ ...warning, isOver: false });
  alerts.warned({ ...warning, isOver: false });
  alerts.warned({ ...warning, condition: "unavailable", isOver: false });
  alerts.warned({ ...warning, event: "other", isOver: false });
  expect(news()).toEqual(["guard begins pii", "guard begins pii"]);
  alerts.warned({ ...warning, isOver: true });
  await clock.pass(60_000);
  expect(news()).toEqual(["guard ends pii"]);
});
