/** Windows of budgets: days, weeks, months and blocks of hours, in zones whose clocks change. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Window } from "../../src/ledger/policy.ts";
import { isZone, windowAt } from "../../src/ledger/windows.ts";

const at = (text: string) => Date.parse(text);
const spanOf = (window: Window, zone: string, moment: string) => {
  const { startsAt, endsAt } = windowAt({ window, zone }, at(moment));
  return [startsAt, endsAt].map(
    (ms) => ms !== undefined && new Date(ms).toISOString().replace(":00.000Z", "Z"),
  );
};

test("months in Europe/Berlin begin at local midnight, also where the clock changes within them", () => {
  expect(spanOf("month", "Europe/Berlin", "2026-03-31T21:59:59Z")).toEqual([
    "2026-02-28T23:00Z",
    "2026-03-31T22:00Z",
  ]);
  expect(spanOf("month", "Europe/Berlin", "2026-03-31T22:00:00Z")).toEqual([
    "2026-03-31T22:00Z",
    "2026-04-30T22:00Z",
  ]);
  expect(spanOf("month", "Europe/Berlin", "2026-10-31T22:59:59Z")).toEqual([
    "2026-09-30T22:00Z",
    "2026-10-31T23:00Z",
  ]);
  expect(spanOf("month", "Europe/Berlin", "2026-01-31T12:00:00Z")).toEqual([
    "2025-12-31T23:00Z",
    "2026-01-31T23:00Z",
  ]);
});

test("the days of both clock changes have 23 and 25 hours", () => {
  expect(spanOf("day", "Europe/Berlin", "2026-03-29T12:00:00Z")).toEqual([
    "2026-03-28T23:00Z",
    "2026-03-29T22:00Z",
  ]);
  expect(spanOf("day", "Europe/Berlin", "2026-10-25T12:00:00Z")).toEqual([
    "2026-10-24T22:00Z",
    "2026-10-25T23:00Z",
  ]);
});

test("a day whose midnight the clock skips begins with the change", () => {
  expect(spanOf("day", "America/Sao_Paulo", "2018-11-04T12:00:00Z")).toEqual([
    "2018-11-04T03:00Z",
    "2018-11-05T02:00Z",
  ]);
});

test("weeks begin on Monday", () => {
  expect(spanOf("week", "UTC", "2026-11-22T23:59:59Z")).toEqual(["2026-11-16T00:00Z", "2026-11-23T00:00Z"]);
  expect(spanOf("week", "UTC", "2026-11-23T00:00:00Z")).toEqual(["2026-11-23T00:00Z", "2026-11-30T00:00Z"]);
  expect(spanOf("week", "Europe/Berlin", "2026-03-29T12:00:00Z")).toEqual([
    "2026-03-22T23:00Z",
    "2026-03-29T22:00Z",
  ]);
});

test("blocks of hours are counted from the first moment of 1970, and a total has no end", () => {
  expect(spanOf({ hours: 5 }, "UTC", "1970-01-01T07:00:00Z")).toEqual([
    "1970-01-01T05:00Z",
    "1970-01-01T10:00Z",
  ]);
  expect(windowAt({ window: "total", zone: "UTC" }, 5)).toEqual({ startsAt: 0 });
});

test("every moment lies in its window, and windows follow each other without a gap", () => {
  const zones = [
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "America/St_Johns",
    "America/Sao_Paulo",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Africa/Casablanca",
  ];
  const moments = fc.integer({ min: at("2000-01-01"), max: at("2040-01-01") });
  const windows = fc.constantFrom<Window>("day", "week", "month", { hours: 5 });
  fc.assert(
    fc.property(moments, windows, fc.constantFrom(...zones), (ms, window, zone) => {
      const budget = { window, zone };
      const { startsAt, endsAt = 0 } = windowAt(budget, ms);
      expect(startsAt <= ms && ms < endsAt).toBe(true);
      expect(windowAt(budget, startsAt)).toEqual({ startsAt, endsAt });
      expect(windowAt(budget, endsAt - 1)).toEqual({ startsAt, endsAt });
      expect(windowAt(budget, endsAt).startsAt).toBe(endsAt);
    }),
    { numRuns: 500 },
  );
});

test("a zone that does not exist is known to be none", () => {
  expect([isZone("Europe/Berlin"), isZone("UTC"), isZone("Europe/Atlantis")]).toEqual([true, true, false]);
});
