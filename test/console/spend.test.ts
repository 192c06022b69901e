/** The arithmetic of the page Spend. */
import { describe, expect, test } from "bun:test";
import { coloursOf } from "../../src/console/parts/series.ts";
import {
  areDrawn,
  type Bar,
  dimensionOf,
  barsOf,
  forecastOf,
  groups,
  paidPerMillion,
  type Row,
  rulesOf,
  seriesOf,
  sum,
} from "../../src/console/pages/spend/figures.ts";
import {
  before,
  beforeTitle,
  bucketsOf,
  counterpart,
  DAY,
  HOUR,
  nameOf,
  neighbour,
  periodOf,
  titleOf,
} from "../../src/console/pages/spend/period.ts";

const NOW = Date.UTC(2026, 10, 20, 12, 41, 7);
const MONTH = { from: Date.UTC(2026, 10), name: "month" };

function row(group: Record<string, string>, cost: number, more: Partial<Row> = {}): Row {
  return {
    group,
    calls: 1,
    input: 100,
    cacheRead: 0,
    cacheWrite: 0,
    output: 10,
    cost,
    estimated: 0,
    assumed: 0,
    unpriced: 0,
    ...more,
  };
}

describe("the period of a range", () => {
  test("a month has a bar for each of its days, also for those to come", () => {
    const period = periodOf(MONTH, NOW);
    expect(bucketsOf(period).length).toBe(30);
    expect(nameOf(bucketsOf(period)[29]!, period.step)).toBe("2026-11-30");
    expect(titleOf(MONTH, period)).toBe("November so far");
    expect(beforeTitle(MONTH, period)).toBe("October");
  });

  test.each([
    ["1h", "5min", 12],
    ["3h", "5min", 36],
    ["24h", "hour", 24],
    ["7d", "day", 7],
  ] as const)("%s has bars by %s, %d of them", (name, step, bars) => {
    const period = periodOf({ from: 0, name }, NOW);
    expect([period.step, bucketsOf(period).length]).toEqual([step, bars]);
    expect(period.end).toBeGreaterThan(NOW);
  });

  test("S13: two times widen to 5 minutes up to 3 hours, to whole hours, or to whole days from two days on", () => {
    const hours = periodOf({ from: NOW - 6 * HOUR, to: NOW - 2 * HOUR }, NOW);
    expect([nameOf(hours.from, "hour"), hours.step, hours.open]).toEqual(["2026-11-20T06", "hour", false]);
    const short = periodOf({ from: NOW - 3 * HOUR, to: NOW }, NOW);
    expect([nameOf(short.from, "5min"), short.step]).toEqual(["2026-11-20T09:40", "5min"]);
    const days = periodOf({ from: NOW - 5 * DAY, to: NOW - 2 * DAY }, NOW);
    expect([nameOf(days.from, "day"), bucketsOf(days).length]).toEqual(["2026-11-15", 4]);
  });

  test("a month is compared with as much of the month before", () => {
    expect(before(periodOf(MONTH, NOW))).toEqual({
      from: Date.UTC(2026, 9),
      to: Date.UTC(2026, 9, 20, 12, 41, 7),
    });
  });

  test("February is compared with no more than all of January", () => {
    const period = periodOf({ from: Date.UTC(2027, 2), name: "month" }, Date.UTC(2027, 2, 31, 12));
    expect(before(period)).toEqual({ from: Date.UTC(2027, 1), to: Date.UTC(2027, 2) });
  });

  test("the period before a month is the whole month before, which is compared with the one before it", () => {
    const range = neighbour(periodOf(MONTH, NOW), -1);
    expect(range).toEqual({ from: Date.UTC(2026, 9), to: Date.UTC(2026, 10) });
    const october = periodOf(range, NOW);
    expect([titleOf(range, october), beforeTitle(range, october)]).toEqual(["October", "September"]);
    expect(before(october)).toEqual({ from: Date.UTC(2026, 8), to: Date.UTC(2026, 9) });
    expect(forecastOf([], october)).toBeUndefined();
    expect(neighbour(october, 1)).toEqual({ from: Date.UTC(2026, 10), to: Date.UTC(2026, 11) });
  });

  test("the period before seven days is the seven days before", () => {
    const period = periodOf({ from: 0, name: "7d" }, NOW);
    expect(neighbour(period, -1)).toEqual({ from: period.from - 7 * DAY, to: period.from });
  });

  test("the tick of a day stands for the same weekday before the period", () => {
    const period = periodOf(MONTH, NOW);
    for (const at of bucketsOf(period)) {
      const other = counterpart(at, period);
      expect(new Date(other).getUTCDay()).toBe(new Date(at).getUTCDay());
      expect(other).toBeLessThan(period.from);
      expect(other).toBeGreaterThanOrEqual(period.from - 7 * DAY);
    }
  });
});

describe("groups", () => {
  const rows = [
    row({ provider: "openai", model: "gpt-5.4" }, 119, { assumed: 2 }),
    row({ provider: "anthropic", model: "claude-sonnet-5" }, 275),
    row({ provider: "ollama", model: "qwen3-32b" }, 0, { unpriced: 7 }),
    row({ provider: "", model: "" }, 0),
  ];

  test("stand by what they cost, and a model is named with its provider", () => {
    const all = groups(rows, [], "model");
    expect(all.map(({ name }) => name).slice(0, 2)).toEqual(["anthropic/claude-sonnet-5", "openai/gpt-5.4"]);
    expect(all[0]!.selects).toEqual({ provider: "anthropic", model: "claude-sonnet-5" });
  });

  test("calls that reached no model are named so, and no filter pretends to select them", () => {
    const nothing = groups(rows, [], "model").find(({ id }) => id === "/");
    expect(nothing).toMatchObject({ name: "no model" });
    expect(nothing).not.toHaveProperty("selects");
  });

  test("of the time before they have what they cost, or nothing if they had no calls", () => {
    const all = groups(rows, [row({ provider: "openai", model: "gpt-5.4" }, 85)], "model");
    expect(all.map(({ before: cost }) => cost)).toEqual([undefined, 85, undefined, undefined]);
  });

  test("a key has its name, and the id where it is gone", () => {
    const keys = [row({ key: "key_a" }, 2, { keyName: "ci-bot" }), row({ key: "key_b" }, 1)];
    expect(groups(keys, [], "key").map(({ name, selects }) => [name, selects?.["key"]])).toEqual([
      ["ci-bot", "ci-bot"],
      ["key_b", "key_b"],
    ]);
  });

  test("days stand from the newest on, and select their calls by time", () => {
    const days = groups([row({ day: "2026-11-01" }, 9), row({ day: "2026-11-02" }, 1)], [], "day");
    expect(days.map(({ name }) => name)).toEqual(["2 November", "1 November"]);
    expect(days[1]!.selects).toMatchObject({ from: Date.UTC(2026, 10, 1), to: Date.UTC(2026, 10, 2) });
  });

  test("are drawn apart only if they add up: calls with several tags are in the row of each", () => {
    const tags = groups([row({ tag: "ci" }, 5), row({ tag: "prod" }, 5)], [], "tag");
    expect(areDrawn(tags, row({}, 10), "tag")).toBe(true);
    expect(areDrawn(tags, row({}, 7), "tag")).toBe(false);
    expect(areDrawn(groups([row({ day: "2026-11-01" }, 9)], [], "day"), row({}, 9), "day")).toBe(false);
  });

  test("are those of the report that is shown, also while another is read", () => {
    const models = [row({ provider: "openai", model: "gpt-5.4" }, 9)];
    expect(dimensionOf(models, "key")).toBe("model");
    expect(dimensionOf(models, "model")).toBe("model");
    expect(dimensionOf([], "key")).toBe("key");
  });

  test("a million tokens cost what was paid for them; without tokens or cost nothing is claimed", () => {
    expect(paidPerMillion(row({}, 1_262_000, { input: 900, output: 100 }))).toBeCloseTo(1.262);
    expect(paidPerMillion(row({}, 0))).toBeUndefined();
    expect(paidPerMillion(row({}, 5, { input: 0, output: 0 }))).toBeUndefined();
  });
});

describe("bars", () => {
  const period = periodOf(MONTH, NOW);
  const names = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
  const totals = names.map((name, index) => row({ provider: name }, 900 - index * 100));
  const series = seriesOf(groups(totals, [], "provider"), coloursOf);
  const rows = [
    row({ day: "2026-11-11", provider: "a" }, 500, { estimated: 30, assumed: 20 }),
    row({ day: "2026-11-11", provider: "h" }, 7),
    row({ day: "2026-11-11", provider: "i" }, 5),
    row({ day: "2026-11-20", provider: "b" }, 3),
  ];
  const past = [row({ day: "2026-10-28" }, 400)];
  const bars = barsOf({ rows, past }, series, { period, dimension: "provider", now: NOW });

  test("the biggest six have a series each, all others one in grey", () => {
    expect(series.length).toBe(7);
    expect(series[6]).toMatchObject({ name: "3 others", colour: 7 });
  });

  test("the certain parts and the uncertain part of a bar add up to its cost", () => {
    for (const bar of bars) expect(sum(bar.parts, (part) => part) + bar.uncertain).toBe(bar.cost);
    expect(bars[10]).toMatchObject({ cost: 512, uncertain: 50, before: 400 });
    expect(bars[10]!.parts.at(-1)).toBe(12);
  });

  test("today is marked, and days to come have no cost", () => {
    expect(bars.findIndex(({ current }) => current)).toBe(19);
    expect(bars.filter(({ future }) => future).map(({ cost }) => cost)).toEqual(Array(10).fill(0));
  });

  test("without a report of the time before there is no tick, which is not a tick at zero", () => {
    expect(bars[0]).not.toHaveProperty("before");
  });
});

describe("the forecast", () => {
  const bars = (costs: readonly number[], at: number): Bar[] =>
    bucketsOf(periodOf(MONTH, at)).map((day, index) => ({
      at: day,
      cost: costs[index] ?? 0,
      uncertain: 0,
      parts: [],
      future: day > at,
      current: day <= at && at < day + DAY,
    }));

  test("is not given before the third day of a month", () => {
    const second = Date.UTC(2026, 10, 2, 12);
    expect(forecastOf(bars([5, 5], second), periodOf(MONTH, second))).toBeUndefined();
  });

  test("repeats the weekdays of the month", () => {
    const at = Date.UTC(2026, 10, 15);
    // Sundays (1, 8) cost 1, all other days 10; the 15th is a Sunday and has cost nothing.
    const costs = Array.from({ length: 14 }, (_, index) => (index % 7 === 0 ? 1 : 10));
    expect(forecastOf(bars(costs, at), periodOf(MONTH, at))).toBe(5 * 1 + 25 * 10);
  });

  test("is never below what was spent", () => {
    const at = Date.UTC(2026, 10, 3, 12);
    expect(forecastOf(bars([4_000, 3_000, 5_000], at), periodOf(MONTH, at))).toBeGreaterThanOrEqual(12_000);
  });

  test("S17: is not given while one day holds most of the month", () => {
    const at = Date.UTC(2026, 10, 12, 12);
    const costs = Array.from({ length: 11 }, () => 10);
    expect(forecastOf(bars([...costs, 100], at), periodOf(MONTH, at))).toBeDefined();
    expect(forecastOf(bars([...costs, 111], at), periodOf(MONTH, at))).toBeUndefined();
    expect(forecastOf(bars([500, ...costs], at), periodOf(MONTH, at))).toBeUndefined();
  });

  test("is not given for another range", () => {
    const week = periodOf({ from: 0, name: "7d" }, NOW);
    expect(forecastOf(bars([1, 2, 3], NOW), week)).toBeUndefined();
  });
});

test("grid lines are round and three to five", () => {
  for (const top of [1, 7, 36, 41.3, 99, 512, 0.0021].map((dollars) => dollars * 1e9)) {
    const rules = rulesOf(top);
    expect(rules.length).toBeGreaterThanOrEqual(3);
    expect(rules.length).toBeLessThanOrEqual(5);
    expect(rules.at(-1)!).toBeLessThanOrEqual(top);
  }
  expect(rulesOf(0)).toEqual([]);
});

test("a series has one colour, and two of the biggest never share one", () => {
  const names = ["openai/gpt-5.4", "anthropic/claude-sonnet-5", "groq/llama", "x", "y", "z"];
  expect(new Set(coloursOf(names)).size).toBe(6);
  expect(coloursOf(["openai/gpt-5.4"])[0]).toBe(coloursOf(names)[0]!);
});
