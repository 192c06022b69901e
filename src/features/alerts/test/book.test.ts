/** What the store has of alerts: bounded, over when it ended, and honest after a keeper that was killed. */
import { expect, test } from "bun:test";
import { settled, TestClock } from "../../../../test/helpers/telemetry.ts";
import type { Sql } from "../../../keeper/store/sql.ts";
import { openSqlite } from "../../../keeper/store/sqlite.ts";
import { DeliveryBook } from "../book.ts";
import { type Delivery, readLast, readNewest, webhookId } from "../rows.ts";
import { tables } from "../tables.ts";

function setUp() {
  const sql = openSqlite(":memory:", undefined, [{ feature: "alerts", tables }]);
  const clock = new TestClock();
  const away = { now: false };
  const open = () =>
    new DeliveryBook({
      ...{ clock, node: "gw-1" },
      async write(work) {
        if (away.now) throw new Error("away");
        return sql.transaction(work as (sql: Sql) => Promise<never>);
      },
    });
  let number = 0;
  const delivery = (more: Partial<Delivery> = {}): Delivery => ({
    ...{ id: `alert_${++number}`, webhook: "w", place: "https://hooks.example", node: "gw-1" },
    ...{ at: ++clock.now, event: "breaker", subject: "host", state: "begins", message: "host fails" },
    ...{ result: "delivered", tries: 1, triedAt: clock.now },
    ...more,
  });
  return { sql, clock, away, open, delivery };
}

test("what begins is over when its end is sent to the same webhook, and nothing else is", async () => {
  const { sql, open, delivery } = setUp();
  const book = open();
  const [mine, other] = [delivery(), delivery({ subject: "other" })];
  for (const one of [mine, other]) book.note(one);
  const end = delivery({ state: "ends" });
  book.note(end);
  const later = delivery();
  book.note(later);
  book.note({ ...end, tries: 2 });
  await book.close();
  const ended = Object.fromEntries((await readNewest(sql, 9)).map(({ id, endedAt }) => [id, endedAt]));
  expect(ended).toEqual({
    [mine.id]: end.at,
    ...{ [other.id]: undefined, [end.id]: undefined, [later.id]: undefined },
  });
});

test("the next keeper says what the former one left open, and leaves other machines alone", async () => {
  const { sql, clock, open, delivery } = setUp();
  const former = open();
  const waiting = delivery({ result: "waiting", reason: "it answers 503" });
  const foreign = delivery({ result: "waiting", node: "gw-2" });
  for (const one of [waiting, foreign]) former.note(one);
  await former.close();
  clock.now++;
  await open().close();
  const [second, first] = await readNewest(sql, 9);
  expect(first).toMatchObject({
    ...{ id: waiting.id, result: "failed", reason: "weir ended before it was delivered", endedAt: 0 },
  });
  expect(second).toEqual(foreign);
});

test("the newest thousand stay, and a page gets the newest of them with all their webhooks", async () => {
  const { sql, open, delivery } = setUp();
  const book = open();
  for (let n = 0; n < 1_100; n++) {
    book.note(delivery());
    if (n % 100 === 0) await settled();
  }
  const last = delivery();
  book.note(last);
  book.note({ ...last, webhook: "other", result: "failed", reason: "it answers 410" });
  await book.close();
  const [{ rows } = { rows: 0 }] = await sql.all<{ rows: number }>(
    "SELECT count(*) AS rows FROM alert_deliveries",
  );
  expect(rows).toBe(1_000);
  const newest = await readNewest(sql, 2);
  expect(newest.map(({ id, webhook }) => [id, webhook])).toEqual([
    [last.id, "other"],
    [last.id, "w"],
    [expect.any(String), "w"],
  ]);
  expect((await readLast(sql)).map(({ webhook }) => webhook).sort()).toEqual(["other", "w"]);
});

test("while the store is away deliveries wait, and are written when it is back", async () => {
  const { sql, clock, away, open, delivery } = setUp();
  away.now = true;
  const book = open();
  book.note(delivery());
  await settled();
  expect(book.unsaved).toHaveLength(1);
  away.now = false;
  await clock.pass(5_000);
  expect([book.unsaved.length, (await readNewest(sql, 9)).length]).toEqual([0, 1]);
});

test("the id of a webhook is none of its address, and differs for each", () => {
  const [one, other] = ["a", "b"].map((token) => webhookId(`https://hooks.example/${token}`));
  expect(one).toMatch(/^[0-9a-f]{12}$/);
  expect(one).not.toBe(other);
});
