/** The sums of the page of guards. */
import { expect, test } from "bun:test";
import { rowsOf, unreadOf } from "../console/sums.ts";
import type { GuardsView } from "../watch/contracts.ts";

const HOUR = 3_600_000;
const NOW = 1_000 * HOUR;
const guard = (name: string) => ({ name, does: "replace", finds: ["email"], narrowed: false });
const view = (more: Partial<GuardsView>): GuardsView => ({ hours: [], unread: [], blocked: [], ...more });
const row = (hour: number, name: string, verdict: GuardsView["hours"][number]["verdict"], calls: number) => ({
  ...{ hour: hour * HOUR, guard: name, phase: "input" as const, verdict, calls },
});

test("verdicts are summed by guard, in the order of the config, then those that it lost", () => {
  const hours = [
    ...[row(977, "pii", "passed", 5), row(990, "pii", "replaced", 2), row(999, "pii", "blocked", 1)],
    ...[row(980, "old", "masked", 3), row(981, "hook", "unavailable", 4)],
  ];
  const rows = rowsOf(
    view({ guards: [guard("quiet"), guard("hook"), guard("pii")], hours }),
    NOW - 24 * HOUR,
    NOW,
  );
  expect(
    rows.map(({ name, word, state, all, found, blocked, unavailable }) => [
      ...[name, word, state, all, found, blocked, unavailable],
    ]),
  ).toEqual([
    ["quiet", "no verdict", "warn", 0, 0, 0, 0],
    ["hook", "could not judge", "bad", 4, 0, 0, 4],
    ["pii", "judges", "ok", 8, 3, 1, 0],
    ["old", "removed", "off", 3, 3, 0, 0],
  ]);
  const { slots } = rows[2]!;
  expect([slots.length, slots[14], slots[23], slots.reduce((sum, one) => sum + one, 0)]).toEqual([
    ...[24, 2, 1, 3],
  ]);
});

test("a time of any length has its points, and loses no hour", () => {
  for (const span of [1, 3, 24, 168, 720, 731]) {
    const from = NOW - span * HOUR + 17 * 60_000;
    const hours = Array.from({ length: span + 1 }, (_, at) => row(1_000 - span + at, "pii", "masked", 1));
    const [only] = rowsOf(view({ guards: [guard("pii")], hours }), from, NOW + 1);
    expect(only!.slots.length).toBeLessThanOrEqual(25);
    expect(only!.slots.reduce((sum, one) => sum + one, 0)).toBe(span + 1);
  }
});

test("a text that two guards could not read is one text", () => {
  const unread = [
    ...[
      { guard: "a", kind: "media", texts: 2 },
      { guard: "b", kind: "media", texts: 3 },
    ],
    { guard: "a", kind: "encrypted", texts: 9 },
  ];
  expect(unreadOf(view({ unread }))).toEqual([
    { kind: "encrypted", texts: 9, guards: ["a"] },
    { kind: "media", texts: 3, guards: ["a", "b"] },
  ]);
});
