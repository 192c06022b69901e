/** Proofs of the books: pages share those of new rows, and one of all rows runs once a night. */
import { expect, setSystemTime, test } from "bun:test";
import { Proofs } from "../../src/admin/proofs.ts";
import type { Proving } from "../../src/admin/proving.ts";
import type { Proven } from "../../src/keeper/proof/prover.ts";
import type { Since } from "../../src/keeper/proof/since.ts";

const MINUTE = 60_000;
const NOON = new Date(2027, 0, 15, 12).getTime();

/** A keeper whose proofs are counted. */
function keeper({ since = { proven: 5 } as Since, holds = true, ms = 0 } = {}) {
  const made = { full: 0, since: 0 };
  const state = { since, holds };
  let kept: Proven | undefined;
  const days = new Set<number>();
  const reported: string[] = [];
  const proving: Proving = {
    async full() {
      made.full++;
      if (ms > 0) await Bun.sleep(ms);
      const report = { holds: state.holds, checks: [{ name: "a", holds: state.holds, detail: "b" }] };
      kept = { report, at: Date.now(), ms, calls: 0, full: { at: Date.now(), ms } };
      if (!state.holds) kept = undefined;
      return report;
    },
    async since() {
      if (!kept) return "none";
      made.since++;
      if (typeof state.since !== "string" && "proven" in state.since)
        kept = { ...kept, at: Date.now(), calls: kept.calls + state.since.proven };
      return state.since;
    },
    last: async () => kept,
    take: async (day) => !days.has(day) && !!days.add(day),
    report: (...why) => void reported.push(why.join(": ")),
  };
  return { proving, made, state, reported, proofs: new Proofs(proving) };
}

async function at<Value>(time: number, work: () => Promise<Value>): Promise<Value> {
  setSystemTime(time);
  try {
    return await work();
  } finally {
    setSystemTime();
  }
}

test("S16: five tabs that ask once a minute, together and again, get one proof of new rows a minute", async () => {
  const { proofs, made } = keeper();
  await at(NOON, () => proofs.get());
  for (let minute = 1; minute <= 10; minute++) {
    const time = NOON + minute * MINUTE;
    const given = await at(time, () => Promise.all(Array.from({ length: 5 }, () => proofs.get(MINUTE))));
    expect(new Set(given.map((report) => report.at))).toEqual(new Set([time]));
    expect(given[0]).toMatchObject({ calls: 5 * minute, full: { at: NOON } });
    await at(time + MINUTE / 2, () => proofs.get(MINUTE));
    expect(made).toEqual({ full: 1, since: minute });
  }
});

test("S16: a page proves no rows that another node, or the keeper before, has proven", async () => {
  const { proving, made } = keeper();
  await at(NOON, () => new Proofs(proving).get());
  expect(await at(NOON + 1_000, () => new Proofs(proving).get(MINUTE))).toMatchObject({ at: NOON });
  expect(made).toEqual({ full: 1, since: 0 });
});

test("S16: while nothing is kept to build on, proofs of all rows rest a hundred times their duration", async () => {
  const { proofs, made } = keeper({ holds: false, ms: 30 });
  const { full } = await at(NOON, () => proofs.get(1));
  const rest = 100 * full.ms;
  expect(rest).toBeGreaterThanOrEqual(2_800);
  expect((await at(NOON + rest - 1, () => proofs.get(1))).holds).toBe(false);
  expect(made.full).toBe(1);
  await at(full.at + rest + 1, () => proofs.get(1));
  expect(made.full).toBe(2);
});

test("S16: new rows that do not agree lead to one proof of all rows; if they go on, the page is red", async () => {
  const { proofs, made, state } = keeper({ ms: 30 });
  await at(NOON, () => proofs.get());
  state.since = { fault: "the cost is wrong" };
  expect((await at(NOON + MINUTE, () => proofs.get(MINUTE))).holds).toBe(true);
  expect(made).toEqual({ full: 2, since: 1 });
  const red = await at(NOON + MINUTE + 2_000, () => proofs.get(1));
  expect(red).toMatchObject({ holds: false });
  expect(red.checks[0]!.detail).toBe("the cost is wrong");
  expect(made).toEqual({ full: 2, since: 2 });
});

test("who wants a proof now gets one that begins now, also beside a running one", async () => {
  const { proofs, made } = keeper({ ms: 20 });
  await Promise.all([proofs.get(MINUTE), proofs.get(), proofs.get()]);
  expect(made.full).toBe(3);
});

test("S16: two nodes prove all rows once a night, from three o'clock on, and log what does not hold", async () => {
  const { proving, made, reported } = keeper({ holds: false });
  const nodes = [new Proofs(proving), new Proofs(proving)];
  const night = (day: number, hour: number) => new Date(2027, 0, day, hour).getTime();
  for (const time of [night(15, 4), night(15, 23), night(16, 2), night(16, 3), night(16, 4), night(17, 3)])
    for (const node of nodes) await node.night(time);
  expect(made.full).toBe(3);
  expect(reported[0]).toBe("the books do not hold: a: b");
});
