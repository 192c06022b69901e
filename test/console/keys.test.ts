/** Keys and budgets in words. */
import { describe, expect, test } from "bun:test";
import {
  type Budget,
  budgetsOver,
  type BudgetWindow,
  filterOf,
  levelOf,
  limitDollars,
  openWindow,
  prospectOf,
  readAmount,
  subjectWords,
  windowWords,
} from "../../src/console/pages/keys/budget-words.ts";
import {
  type Key,
  limitsOf,
  maskOf,
  nameFault,
  rateWords,
  readCount,
  readEnd,
  readList,
  readOption,
  scopeWords,
  spentBelow,
  tagsOf,
  treeOf,
} from "../../src/console/pages/keys/key-words.ts";
import { momentWords } from "../../src/console/pages/keys/moments.ts";

const NOW = Date.UTC(2026, 10, 20, 12, 41);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe("an amount that a person writes", () => {
  test.each([
    ["$50 a month, hard", { limit: 50e9, window: "month", mode: "hard" }],
    ["50/month", { limit: 50e9, window: "month", mode: "hard" }],
    ["$0.50 every 5 h, watch", { limit: 0.5e9, window: { hours: 5 }, mode: "watch" }],
    ["$1,200.50 per week soft", { limit: 1200.5e9, window: "week", mode: "soft" }],
    ["100 in all", { limit: 100e9, window: "total", mode: "hard" }],
    ["$5", { limit: 5e9, window: "month", mode: "hard" }],
    ["20 daily", { limit: 20e9, window: "day", mode: "hard" }],
  ] as const)("%s", (text, amount) => {
    expect(readAmount(text)).toEqual(amount);
  });

  test.each(["", "much", "$50 a fortnight", "-5/day", "50 hard soft", "99999999999/month", "0x10/day"])(
    "%p is no amount",
    (text) => {
      expect(readAmount(text)).toBeUndefined();
    },
  );

  test("windows read back as they were written", () => {
    expect([
      windowWords("month"),
      windowWords("total"),
      windowWords({ hours: 5 }),
      windowWords({ hours: 1 }),
    ]).toEqual(["a month", "in all", "every 5 h", "an hour"]);
  });
});

function window(more: Partial<BudgetWindow>): BudgetWindow {
  return {
    startsAt: NOW - 10 * DAY,
    endsAt: NOW + 10 * DAY,
    spent: 0,
    assumed: 0,
    held: 0,
    overrun: 0,
    left: 100e9,
    ...more,
  };
}

describe("the state of a budget", () => {
  const budget = { limit: 100e9, alerts: [80, 100], mode: "hard" } as const;

  test("is quiet below its first alert, loud from it on, and empty when less is left than a call costs", () => {
    expect(levelOf(budget, window({ spent: 70e9, left: 30e9 }))).toBe("");
    expect(levelOf(budget, window({ spent: 60e9, assumed: 20e9, left: 20e9 }))).toBe("hot");
    expect(levelOf(budget, window({ spent: 100e9, left: 0 }))).toBe("full");
    expect(levelOf(budget, window({ spent: 50e9, left: 0.1e9 }), 0.4e9)).toBe("full");
  });

  test("tells when it runs out at its pace, if that is before the window ends", () => {
    const half = window({ spent: 80e9, left: 20e9 });
    expect(prospectOf(budget, half, NOW)).toEqual({
      kind: "runs-out",
      at: NOW + 2.5 * DAY,
      next: NOW + 10 * DAY,
    });
    expect(prospectOf(budget, window({ spent: 10e9, left: 90e9 }), NOW)).toEqual({
      kind: "lasts",
      next: NOW + 10 * DAY,
    });
  });

  test("a runaway of the last hour empties it, however slow the month was", () => {
    const month = { startsAt: NOW - 19 * DAY, endsAt: NOW + 11 * DAY, spent: 31e9, left: 19e9 };
    expect(prospectOf(budget, window(month), NOW).kind).toBe("lasts");
    expect(prospectOf({ ...budget, pace: 93e9 }, window(month), NOW)).toEqual({
      kind: "runs-out",
      at: NOW + (19 / 93) * HOUR,
      next: NOW + 11 * DAY,
    });
  });

  test("one that refuses calls while something is left says so, also if nothing was spent", () => {
    const untouched = window({ spent: 0, left: 100e9 });
    const refusing = { ...budget, limit: 100e9, alerts: [], refused: 78 };
    expect(levelOf(refusing, untouched)).toBe("full");
    expect(prospectOf(refusing, untouched, NOW)).toEqual({
      kind: "refuses",
      calls: 78,
      next: NOW + 10 * DAY,
    });
  });

  test("one with less than a usual call costs is not called empty, nor said to refuse", () => {
    const little = window({ spent: 99e9, left: 1e9 });
    expect(levelOf({ limit: 100e9, alerts: [] }, little, 2e9)).toBe("full");
    expect(prospectOf(budget, little, NOW).kind).toBe("runs-out");
  });

  test("a watched budget that is empty refuses nothing", () => {
    const empty = window({ spent: 120e9, left: -20e9 });
    expect(prospectOf({ mode: "watch" }, empty, NOW)).toMatchObject({
      kind: "empty",
      refuses: false,
    });
    expect(prospectOf(budget, empty, NOW)).toMatchObject({ kind: "empty", refuses: true });
  });

  test("a budget without an end has no next window, and an unused one no pace", () => {
    expect(prospectOf(budget, window({ spent: 1e9, endsAt: undefined }), NOW)).toEqual({
      kind: "endless",
    });
    expect(prospectOf(budget, window({}), NOW)).toEqual({ kind: "unused", next: NOW + 10 * DAY });
  });

  test("a budget that no call has touched has its whole limit", () => {
    const fresh = { limit: 7, windows: [] } as unknown as Budget;
    expect(openWindow(fresh, NOW)).toMatchObject({ left: 7, spent: 0 });
  });
});

describe("what a budget counts", () => {
  const name = (id: string) => (id === "key_a" ? "ci-bot" : id);

  test("is named, and selects its calls", () => {
    expect(subjectWords({ kind: "key", what: "key_a" }, name)).toBe("on key ci-bot");
    expect(filterOf({ kind: "key", what: "key_a" }, name)).toEqual({ key: "ci-bot" });
    expect(subjectWords({ kind: "path", what: "/eng" }, name)).toBe("on /eng");
    expect(filterOf({ kind: "session", what: "" }, name)).toEqual({});
    expect(subjectWords({ kind: "all", what: "" }, name)).toBe("");
  });

  test("a key falls under its own budget, those up its path, and the one on everything", () => {
    const on = (kind: Budget["on"]["kind"], what: string) => ({ on: { kind, what } });
    const budgets = [
      on("all", ""),
      on("path", "/eng"),
      on("path", "/eng/agents"),
      on("key", "key_a"),
      on("path", "/engine"),
    ];
    expect(budgetsOver(budgets, { id: "key_a", path: "/eng/agents" }).map((one) => one.on.what)).toEqual([
      "key_a",
      "/eng/agents",
      "/eng",
      "",
    ]);
  });
});

function key(name: string, path: string, more: Partial<Key> = {}): Key {
  return {
    id: `key_${name}`,
    name,
    kind: "call",
    path,
    scopes: {},
    state: "active",
    source: "store",
    ...more,
  };
}

describe("the tree of keys", () => {
  test("has each path with those above it, then its keys by name", () => {
    const keys = [key("b", "/eng/agents"), key("a", "/eng/agents"), key("root", "/"), key("s", "/support")];
    const rows = treeOf(keys, [{ on: { kind: "path", what: "/data" } }]);
    expect(rows.map((row) => `${row.depth} ${row.kind === "path" ? row.path : row.key.name}`)).toEqual([
      "0 /",
      "1 root",
      "0 /data",
      "0 /eng",
      "1 /eng/agents",
      "2 a",
      "2 b",
      "0 /support",
      "1 s",
    ]);
  });

  test("a path stands before what is below it, whatever its name begins with", () => {
    const rows = treeOf([key("a", "/eng-x"), key("b", "/eng/y")], []);
    const paths = rows.flatMap((row) => (row.kind === "path" ? [row.path] : []));
    expect(paths).toEqual(["/eng", "/eng/y", "/eng-x"]);
  });

  test("a path has spent what the calls below it cost", () => {
    const spent = new Map([
      ["/eng", 1],
      ["/eng/agents", 10],
      ["/engine", 100],
      ["", 1000],
    ]);
    expect([spentBelow(spent, "/eng"), spentBelow(spent, "/")]).toEqual([11, 111]);
  });
});

describe("a key in words", () => {
  test("its tags say what is unusual about it", () => {
    expect(tagsOf(key("a", "/"), NOW)).toEqual([]);
    const words = (more: Partial<Key>) => tagsOf(key("a", "/", more), NOW).map(({ word }) => word);
    expect(words({ rotatingUntil: NOW + HOUR })).toEqual(["rotating"]);
    expect(words({ expiresAt: NOW + 3 * DAY })).toEqual(["expires in 3 d"]);
    expect(words({ state: "revoked", source: "config" })).toEqual(["revoked", "declared"]);
    expect(words({ kind: "admin" })).toEqual(["admin"]);
  });

  test("its scopes are clauses", () => {
    const restrictions = ["at most $0.5 a call", "no tools that run at the provider"];
    expect(scopeWords({ scopes: { models: ["claude-*"] }, restrictions })).toEqual([
      "may use claude-*",
      ...restrictions,
    ]);
    expect(scopeWords({ scopes: {} })).toEqual(["may use all models"]);
  });

  test("the field of an option is read by its type", () => {
    expect(readOption("array", "a, b")).toEqual(["a", "b"]);
    expect(readOption("integer", "12")).toBe(12);
    expect(readOption("number", "0.5")).toBe(0.5);
    expect(["no", "yes", "none"].map((text) => readOption("boolean", text))).toEqual([false, true, "none"]);
    expect(readOption("string", "12")).toBe("12");
  });

  test("its rates name the unit", () => {
    expect(rateWords({ rpm: 120, concurrency: 4 }, String)).toBe("120 a minute, 4 at once");
  });

  test("its end is read as a span or a date", () => {
    expect(readEnd("never", NOW)).toEqual({});
    expect(readEnd("30 d", NOW)).toEqual({ expiresAt: NOW + 30 * DAY });
    expect(readEnd("in 12 hours", NOW)).toEqual({ expiresAt: NOW + 12 * HOUR });
    expect(readEnd("2026-12-31", NOW)).toEqual({ expiresAt: Date.UTC(2027, 0, 1) });
    for (const text of ["soon", "2026-11-01", "0 d", "2026-13-45"])
      expect(readEnd(text, NOW)).toBeUndefined();
  });

  test("a list has commas or spaces, and an empty one permits everything", () => {
    expect(readList("claude-*, fast")).toEqual(["claude-*", "fast"]);
    expect(readList("  ")).toBeUndefined();
  });

  test("its mask never has more than both ends", () => {
    expect(maskOf("weir_sk_J7mVx2QpR9tLc4WnZ8yKb1HdF6sGa3TeU0oXi5Nq2Mr7P")).toBe("weir_sk_J7mV…Mr7P");
    expect(maskOf("short")).toBe("…");
  });
});

describe("what a person writes into the fields of a key", () => {
  test("a name has no spaces and signs, but a budget may have spaces", () => {
    for (const name of ["", "ci-bot", "a.b_c@d", "naïve", "研究", "x".repeat(64)])
      expect(nameFault(name)).toBeUndefined();
    for (const name of ["all, week", "a/b!", "x".repeat(65), "a/b"])
      expect(nameFault(name, true)).toBeString();
    expect([nameFault("two words"), nameFault("two words", true)]).toEqual([expect.any(String), undefined]);
  });

  test("a limit is a whole number above 0", () => {
    expect([readCount("120"), readCount("1,000")]).toEqual([120, 1_000]);
    for (const text of ["", "0", "-1", "1.5", "many"]) expect(readCount(text)).toBeUndefined();
  });

  test("limits of other keys are not its own", () => {
    const on = (what: string, limits: Record<string, number>) => ({ on: { kind: "key", what }, limits });
    const rates = [on("key_a", { rpm: 60 }), on("key_b", { rpm: 1 }), on("key_a", { concurrency: 4 })];
    expect(limitsOf(rates, "key_a")).toEqual({ rpm: 60, concurrency: 4 });
    expect(limitsOf(rates, "key_c")).toBeUndefined();
  });
});

test.each([
  [5_000_000_000, "$5.00"],
  [1_234_500_000_000, "$1,234.50"],
  [4_989_160_000, "$4.989"],
  [1_000_000, "$0.001000"],
  [0, "$0"],
])("a limit of %d nano-dollars is %s", (nano, words) => {
  expect(limitDollars(nano)).toBe(words);
});

describe("moments of budgets", () => {
  test.each([
    [NOW + 5 * HOUR, "UTC", "17:41 UTC"],
    [Date.UTC(2026, 10, 21), "UTC", "tomorrow 00:00 UTC"],
    [Date.UTC(2026, 11, 1), "UTC", "1 Dec 00:00 UTC"],
    [NOW + 5 * DAY, "UTC", "25 Nov"],
    [Date.UTC(2026, 10, 30, 23), "Europe/Berlin", "1 Dec 00:00 Berlin"],
  ] as const)("%d in %s is %s", (at, zone, words) => {
    expect(momentWords(at, zone, NOW)).toBe(words);
  });
});
