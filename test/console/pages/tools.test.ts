/** Words and figures of the pages Prices, Config and Store. */
import { expect, test } from "bun:test";
import {
  changeLines,
  lineOf,
  matchingOptions,
  showSource,
  showValue,
  valueLines,
} from "../../../src/console/pages/config/options.ts";
import {
  bookDate,
  compare,
  monthBefore,
  monthRange,
  priceYaml,
} from "../../../src/console/pages/prices/arithmetic.ts";
import { actorName, sayEntry, sidesOf } from "../../../src/console/pages/store/entry-words.ts";
import { bytes } from "../../../src/console/numbers/bytes.ts";
import type { ConfigOption } from "../../../src/console/data/types.ts";

const entry = (action: string, subject: string, before?: unknown, after?: unknown) => ({
  id: "1",
  at: 0,
  actor: "cli",
  action,
  subject,
  before,
  after,
});

test("sizes have three significant digits", () => {
  const cases: [number, string][] = [
    [0, "0 B"],
    [999, "999 B"],
    [1_000, "1.00 KB"],
    [142_000_000, "142 MB"],
    [999_600, "1.00 MB"],
    [10_737_418_240, "10.7 GB"],
  ];
  for (const [number, text] of cases) expect(bytes(number)).toBe(text);
});

test("an entry of the audit log is a sentence about its subject", () => {
  const cases: [string, ReturnType<typeof entry>][] = [
    ["made the key “ci-bot”", entry("create", "keys/key_1", undefined, { name: "ci-bot" })],
    ["deleted the budget “all”", entry("delete", "budgets/b", { name: "all" })],
    [
      "raised the limit of the budget “ci-bot, day” from $4.000 to $6.000",
      entry(
        "change",
        "budgets/b",
        { name: "ci-bot, day", limit_nano: 4e9, version: 1 },
        { name: "ci-bot, day", limit_nano: 6e9, version: 2 },
      ),
    ],
    [
      "revoked the key “old”",
      entry(
        "change",
        "keys/k",
        { name: "old", revoked_at: null, version: 1 },
        { name: "old", revoked_at: 5, version: 2 },
      ),
    ],
    [
      "rotated the key “macros”",
      entry("change", "keys/k", { name: "macros", version: 1 }, { name: "macros", version: 2 }),
    ],
    ["renamed the key “a” to “b”", entry("change", "keys/k", { name: "a" }, { name: "b" })],
    [
      "changed path, ends of the key “a”",
      entry("change", "keys/k", { name: "a", path: "/" }, { name: "a", path: "/x", expires_at: 3 }),
    ],
    [
      "copied the store to /tmp/a.db, 142 MB",
      entry("backup", "store", null, { path: "/tmp/a.db", bytes: 142e6 }),
    ],
    ["deleted 1,204 rows that were older than kept", entry("prune", "store", null, { rows: 1204 })],
    [
      "compared the invoice of openai for 2026-10, $412.33, with the books",
      entry("reconcile", "invoices/openai/2026-10", null, { amount: 412_330_000_000 }),
    ],
    ["adopt lamps/3", entry("adopt", "lamps/3")],
  ];
  for (const [text, given] of cases) expect(sayEntry(given)).toBe(text);
});

test("a diff of an entry has dollars and no technical members", () => {
  const [before, after] = sidesOf(
    entry("change", "budgets/b", null, {
      name: "a",
      limit_nano: 5e9,
      alerts: "[80]",
      version: 3,
      deleted_at: null,
    }),
  );
  expect(before).toBeUndefined();
  expect(after).toEqual({ name: "a", limit: "$5.000", alerts: [80] });
});

test("an actor has the name of its key", () => {
  const names = new Map([["key_1", "mara"]]);
  expect(actorName("key_1", names)).toBe("mara");
  expect(actorName("run-file", names)).toBe("the command line");
  expect(actorName("key_2", names)).toBe("key_2");
});

test("the difference of what-if is that of the printed amounts", () => {
  for (const [now, then] of [
    [412_334_999_999, 467_325_000_001],
    [1_004_999_999, 1_005_000_001],
    [3_141_592, 2_718_281],
    [1, 2],
    [0, 0],
  ] as const) {
    const { now: left, then: right, difference, places } = compare(now, then);
    const unit = 10 ** (9 - places);
    expect((left % unit) + (right % unit)).toBe(0);
    expect(difference).toBe(right - left);
    expect(Math.abs(left - now)).toBeLessThanOrEqual(unit / 2);
  }
  expect(compare(412_334_999_999, 0).places).toBe(2);
  expect(compare(3_141_592, 0).places).toBe(9);
});

test("many models of one provider without a price get one pattern", () => {
  const models = (provider: string, count: number) =>
    Array.from({ length: count }, (_, at) => ({ provider, model: `m${at}`, calls: 1 }));
  expect(priceYaml([...models("ollama", 4), ...models("azure", 1)])).toBe(
    ["prices:", '  "ollama/*": {input: ?, output: ?}', '  "azure/m0": {input: ?, output: ?}'].join("\n"),
  );
});

test("months are those of UTC", () => {
  expect(monthBefore(Date.UTC(2026, 0, 1))).toBe("2025-12");
  expect(monthRange("2026-11")).toEqual({ from: Date.UTC(2026, 10), to: Date.UTC(2026, 11) });
  expect(monthRange("2026-13")).toBeUndefined();
  expect(bookDate(["config", "litellm 2026-11-20"])).toBe("2026-11-20");
  expect(bookDate(["config"])).toBeUndefined();
});

const OPTION: ConfigOption = { path: "port", value: 9347, isDefault: true, source: "default" };

test("values of the config are written as in the file", () => {
  expect(showValue("groq/llama")).toBe("groq/llama");
  expect(showValue("64")).toBe('"64"');
  expect(showValue("true")).toBe('"true"');
  expect(showValue("127.0.0.1")).toBe("127.0.0.1");
  expect(showValue([{ model: "a", weight: 3 }, "b"])).toBe("[{model: a, weight: 3}, b]");
  expect(showValue(undefined)).toBe("");
});

test("the source of an option is a line, a variable or a flag", () => {
  expect(showSource(OPTION)).toBe("default");
  expect(showSource({ ...OPTION, source: "file", where: "weir.yaml:31" })).toBe("weir.yaml, line 31");
  expect(showSource({ ...OPTION, source: "environment", where: "OPENAI_API_KEY" })).toBe(
    "environment, OPENAI_API_KEY",
  );
  expect(lineOf("weir.yaml:31")).toBe(31);
  expect(lineOf("OPENAI_API_KEY")).toBeUndefined();
});

test("options are found by path, value and source", () => {
  const options = [
    OPTION,
    { ...OPTION, path: "host", value: "::1", source: "flag" as const, where: "--host" },
  ];
  expect(matchingOptions(options, "93").map(({ path }) => path)).toEqual(["port"]);
  expect(matchingOptions(options, "--H").map(({ path }) => path)).toEqual(["host"]);
  expect(matchingOptions(options, "")).toHaveLength(2);
});

test("what a reload would change stands as removed and added", () => {
  expect(
    changeLines([
      { path: "aliases.fast", running: "a", onDisk: "b", needsRestart: false },
      { path: "limits.calls", onDisk: 400, needsRestart: false },
    ]),
  ).toEqual([
    { sign: "-", text: "aliases.fast: a" },
    { sign: "+", text: "aliases.fast: b" },
    { sign: "+", text: "limits.calls: 400" },
  ]);
});

test("M24: a long section has a line for each member, and a change shows the members that differ", () => {
  const provider = (n: number) => ({ baseUrl: `https://host-${n}.example/v1`, speaks: "chat-completions" });
  const providers = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`host-${n}`, provider(n)]));
  expect(valueLines(providers).slice(0, 3)).toEqual([
    ...["host-0:", "  baseUrl: https://host-0.example/v1", "  speaks: chat-completions"],
  ]);
  expect(valueLines([{ model: "a", weight: 3 }])).toEqual(["[{model: a, weight: 3}]"]);
  const onDisk = { ...providers, "host-7": { ...provider(7), speaks: "messages" } };
  expect(changeLines([{ path: "providers", running: providers, onDisk, needsRestart: false }])).toEqual([
    { sign: " ", text: "providers:" },
    { sign: " ", text: "  host-7:" },
    { sign: "-", text: "    speaks: chat-completions" },
    { sign: "+", text: "    speaks: messages" },
    { sign: " ", text: "    … 1 unchanged" },
    { sign: " ", text: "  … 29 unchanged" },
  ]);
});
