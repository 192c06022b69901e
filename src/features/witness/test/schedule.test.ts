/** The schedule: one look a slot, within the budget of the day, and an alert for what it finds. */
import { expect, test } from "bun:test";
import type { Warning } from "../../../core/warning.ts";
import type { Sql } from "../../../keeper/store/sql.ts";
import { openSqlite } from "../../../keeper/store/sqlite.ts";
import { append, type Change, newestChanges, scheduledSince, settle } from "../rows.ts";
import { tables } from "../tables.ts";
import { Schedule, type ScheduleParts } from "../schedule.ts";
import { BEGIN_MS, HOUR_MS, observe, type Simulated } from "./simulated.ts";
import { seeded } from "./host.ts";

const SETTINGS = { models: ["one/m"], everyMs: HOUR_MS, budget: 1_000, outputTokens: 64 };

/** Nodes that share a store. */
async function nodes(count: number, cost: number) {
  const sql = openSqlite(":memory:", undefined, [{ feature: "witness", tables }]);
  const random = seeded(9);
  const seen = { hour: 0, looks: 0, nature: {} as Simulated, warned: [] as Warning[], said: [] as string[] };
  const counts: string[] = [];
  const host = {
    read: <Value>(work: (sql: Sql) => Promise<Value>) => work(sql),
    write: <Value>(work: (sql: Sql) => Promise<Value>) => sql.transaction(work),
    warn: (warning: Warning) => void seen.warned.push(warning),
    count: (metric: { name: string }, labels: readonly string[]) =>
      void counts.push([metric.name, ...labels].join(" ")),
    report: (sentence: string) => void seen.said.push(sentence),
  };
  const parts: ScheduleParts = {
    host,
    bound: async () => ({ calls: 12, cost, unpriced: [] }),
    async look(models, slot) {
      seen.looks++;
      const drafts = models.map((model) => observe(model, seen.nature, { hour: seen.hour, random }));
      await settle(sql, slot, cost / 2);
      return append(
        sql,
        drafts.map(({ id, number, before, hash, ...draft }) => draft),
      );
    },
    now: () => BEGIN_MS + seen.hour * HOUR_MS,
  };
  const made = Array.from({ length: count }, () => new Schedule(parts));
  for (const schedule of made) schedule.to(SETTINGS);
  const tick = async (schedule: Schedule) => {
    schedule.tick();
    await schedule.settled();
  };
  for (const schedule of made) await tick(schedule);
  const hours = async (many: number) => {
    for (let hour = 0; hour < many; hour++) {
      seen.hour++;
      for (const schedule of made) await tick(schedule);
    }
  };
  return { sql, seen, counts, made, hours, parts, close: () => Promise.all(made.map((one) => one.close())) };
}

test("of two nodes one makes each look", async () => {
  const { seen, hours, close, sql } = await nodes(2, 10);
  await hours(5);
  expect(seen.looks).toBe(6);
  expect(await scheduledSince(sql, 0)).toHaveLength(6);
  await close();
});

test("a look that does not fit into the budget of the day is left out, and said once", async () => {
  // The first costs 200 of 1,000; a later one needs 400 more than all before have cost.
  const { seen, hours, counts, close } = await nodes(1, 400);
  await hours(23);
  expect(seen.looks).toBe(4);
  expect(seen.said).toEqual([
    "witness: the budget of the day has no room for a look; the next one is on the next day",
  ]);
  expect(counts.filter((line) => line.endsWith("left_out")).length).toBeGreaterThan(0);
  await hours(1);
  expect(seen.looks).toBe(5);
  await close();
});

test("a change is written, counted and told once; a restart in between loses nothing", async () => {
  const { sql, seen, counts, hours, close, parts, made } = await nodes(1, 2);
  await hours(100);
  expect([seen.warned, await newestChanges(sql, 9)]).toEqual([[], []]);
  seen.nature = { hidden: 30 };
  await hours(3);
  // A new keeper reads what the former one saw.
  await made[0]!.close();
  made[0] = new Schedule(parts);
  made[0].to(SETTINGS);
  await made[0].settled();
  await hours(9);
  const changes: Change[] = await newestChanges(sql, 9);
  expect(changes.map(({ kind, model }) => [kind, model])).toEqual([["prompt", "one/m"]]);
  expect(changes[0]!.words).toBe(
    "each request counts 30 tokens more: the provider puts a text in front, or no longer does",
  );
  expect(seen.warned.map(({ event, subject }) => [event, subject])).toEqual([["witness", "one/m"]]);
  expect(counts.filter((line) => line.startsWith("weir_witness_changes_total"))).toEqual([
    "weir_witness_changes_total one m prompt",
  ]);
  await close();
});
