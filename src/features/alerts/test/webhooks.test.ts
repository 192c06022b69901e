/** How alerts reach their receivers. */
import { expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import type { AlertTarget } from "../section.ts";
import type { Alert } from "../alert.ts";
import { post } from "../../../http/post.ts";
import { Webhooks } from "../webhooks.ts";
import { fakePost, settled, startReceiver, TestClock } from "../../../../test/helpers/telemetry.ts";

const ALERT: Alert = {
  id: "alert_1",
  event: "breaker",
  state: "begins",
  at: Date.UTC(2027, 0, 15),
  subject: "host",
  message: "host fails <now> & then",
  facts: { failure: "500" },
};
const TARGET: AlertTarget = {
  url: "https://hooks.example/token-canary",
  events: ["breaker"],
  format: "json",
  errorShare: 0.2,
};

function setUp() {
  const clock = new TestClock();
  const receiver = fakePost();
  const reported: string[] = [];
  const counts = { delivered: 0, lost: 0 };
  const webhooks = new Webhooks({
    sender: { host: "gw-1", version: "1.2.3" },
    clock,
    report: (text) => void reported.push(text),
    count: (result) => void counts[result]++,
    post: receiver.post,
  });
  return { clock, receiver, reported, counts, webhooks };
}

test("an alert is JSON with what happened, where and when", async () => {
  const { receiver, webhooks } = setUp();
  webhooks.send(ALERT, TARGET);
  await settled();
  expect(JSON.parse(receiver.posted[0]!.body)).toEqual({
    ...ALERT,
    at: "2027-01-15T00:00:00.000Z",
    gateway: { host: "gw-1", version: "1.2.3" },
  });
});

test("Slack gets a text that it does not take for markup", async () => {
  const { receiver, webhooks } = setUp();
  webhooks.send(ALERT, { ...TARGET, format: "slack" });
  await settled();
  expect(JSON.parse(receiver.posted[0]!.body)).toEqual({
    text: "weir on gw-1: host fails &lt;now&gt; &amp; then",
  });
});

test("a library of Standard Webhooks accepts the signature, and no other body or secret", async () => {
  const encoded = `whsec_${Buffer.from("a secret of 24 bytes or so").toString("base64")}`;
  for (const [secret, verifier] of [
    [encoded, new Webhook(encoded)],
    ["any text", new Webhook("any text", { format: "raw" })],
  ] as const) {
    const { clock, receiver, webhooks } = setUp();
    // The library refuses old timestamps.
    clock.now = Date.now();
    webhooks.send(ALERT, { ...TARGET, secret });
    await settled();
    const [{ body, headers } = { body: "", headers: {} }] = receiver.posted;
    expect(headers).toMatchObject({ "webhook-id": "alert_1" });
    expect(verifier.verify(body, headers)).toMatchObject({ id: "alert_1" });
    expect(() => verifier.verify(`${body} `, headers)).toThrow();
    expect(() => new Webhook("other", { format: "raw" }).verify(body, headers)).toThrow();
  }
});

test("a request that fails is repeated with growing pauses, under the same id, until it succeeds", async () => {
  const { clock, receiver, reported, counts, webhooks } = setUp();
  receiver.answer(() => ({ kind: "retry", why: "it answers 503", text: "" }));
  webhooks.send(ALERT, { ...TARGET, secret: "s" });
  await settled();
  const times = [receiver.posted.length];
  for (const pause of [2_000, 10_000, 60_000]) {
    await clock.pass(pause - 1);
    times.push(receiver.posted.length);
    await clock.pass(1);
    times.push(receiver.posted.length);
  }
  expect(times).toEqual([1, 1, 2, 2, 3, 3, 4]);
  receiver.answer(() => ({ kind: "ok", text: "" }));
  await clock.pass(300_000);
  expect(counts).toEqual({ delivered: 1, lost: 0 });
  expect(new Set(receiver.posted.map(({ headers }) => headers["webhook-id"]))).toEqual(new Set(["alert_1"]));
  expect(new Set(receiver.posted.map(({ headers }) => headers["webhook-signature"])).size).toBe(5);
  expect(reported).toHaveLength(1);
  expect(reported[0]).not.toContain("token-canary");
});

test("what a receiver refuses, and what it did not take within half an hour, is lost: the log has it", async () => {
  const { clock, receiver, reported, counts, webhooks } = setUp();
  receiver.answer(() => ({ kind: "refused", why: "it answers 410", text: "" }));
  webhooks.send(ALERT, TARGET);
  await clock.pass(0);
  expect([counts.lost, reported.at(-1)]).toEqual([
    1,
    "an alert was not delivered to https://hooks.example (it answers 410): host fails <now> & then",
  ]);
  receiver.answer(() => ({ kind: "retry", why: "it cannot be reached", text: "" }));
  webhooks.send(ALERT, TARGET);
  await clock.pass(3_600_000);
  expect([counts.lost, receiver.posted.length]).toEqual([2, 1 + 6]);
});

test("at the end an alert that waits gets a last attempt", async () => {
  const { receiver, counts, webhooks } = setUp();
  receiver.answer(() => ({ kind: "retry", why: "it cannot be reached", text: "" }));
  webhooks.send(ALERT, TARGET);
  await settled();
  receiver.answer(() => ({ kind: "ok", text: "" }));
  await webhooks.close();
  expect(counts).toEqual({ delivered: 1, lost: 0 });
});

test("requests follow no redirect, and failures never name the address", async () => {
  const receiver = startReceiver(() => 307);
  try {
    expect((await post(`${receiver.url}/hook`, {}, "{}")).kind).toBe("refused");
    expect(receiver.received).toHaveLength(1);
  } finally {
    await receiver.stop();
  }
  const away = await post(`${receiver.url}/token-canary`, {}, "{}");
  expect([away.kind, JSON.stringify(away).includes("canary")]).toEqual(["retry", false]);
});
